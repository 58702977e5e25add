// What travels: the frame of an active message, the datagrams that make connections, endpoint
// addresses, rkeys. Both sides are little-endian processes of one job.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <causeway/conduit.h>

#include <cstddef>
#include <cstdint>

namespace causeway::verbs {

inline constexpr uint32_t wire_magic = 0x42564643;  // "CFVB"
inline constexpr uint16_t wire_version = 1;

enum Lane : uint32_t { request_lane, reply_lane, lane_count };

// A frame is this header, the arguments padded to 8 bytes, for longs the target's address, then, at
// the next multiple of 16, the payload. Receive buffers begin at cache lines, so payloads are
// aligned for any type: clients may count on that, although the plugin interface asks for 8 bytes.
enum class FrameKind : uint8_t {
  am_short = CWYC_AM_SHORT,
  am_medium = CWYC_AM_MEDIUM,
  am_long = CWYC_AM_LONG,  // the payload was written before, on the same queue pair
  am_long_inline,          // the payload stands in the frame
  credit,                  // nothing but the credit fields
  ready,                   // the first frame of the side that asked for the connection
  bye,                     // nothing more comes from this side
  gone,                    // and nothing is received any more: its endpoint closes
};

struct FrameHeader {
  uint64_t word;
  uint32_t link;                // index and generation of the link at the receiver
  uint16_t credit[lane_count];  // room given back to the receiver of this frame
  uint32_t length;              // of the payload
  FrameKind kind;
  uint8_t nargs;
  uint8_t lane;
  uint8_t reserved;
};
static_assert(sizeof(FrameHeader) == 24);

inline constexpr uint32_t no_link = UINT32_MAX;

inline constexpr size_t padded(size_t bytes) {
  return (bytes + 7) & ~size_t{7};
}
inline constexpr size_t aligned(size_t bytes) {
  return (bytes + 15) & ~size_t{15};
}
// Where the parts of a frame with `nargs` arguments begin.
inline constexpr size_t address_offset(uint32_t nargs) {
  return sizeof(FrameHeader) + padded(nargs * sizeof(int32_t));
}
inline constexpr bool has_address(FrameKind kind) {
  return kind == FrameKind::am_long || kind == FrameKind::am_long_inline;
}
inline constexpr size_t payload_offset(FrameKind kind, uint32_t nargs, bool payload) {
  const size_t end = address_offset(nargs) + (has_address(kind) ? 8 : 0);
  return payload ? aligned(end) : end;
}
// Largest part of a frame before its payload: 16 arguments and a long's address.
inline constexpr size_t frame_overhead = aligned(sizeof(FrameHeader) + 64 + 8);

// How packets are addressed; both ends must speak the same one.
enum class Network : uint8_t { infiniband, roce_v1, roce_v2_ipv4, roce_v2_ipv6, roce_v2_local };

// What ep_address writes: where the datagram queue pair listens.
struct Address {
  uint32_t magic;
  uint16_t version;
  uint16_t lid;
  uint8_t gid[16];
  uint64_t nonce;  // of the endpoint
  uint32_t qpn;
  uint32_t pid_namespace;  // a process of the same one can be watched
  Network network;
  uint8_t mtu;        // ibv_mtu
  uint8_t rd_atomic;  // reads and atomics that one queue pair here serves at once
  uint8_t reserved[5];
};
static_assert(sizeof(Address) == 48);

enum class Step : uint16_t { hello, welcome, refuse };

// A datagram. A hello asks for a connection and says everything the other side needs to make its
// queue pair; the welcome says the same in return. Hellos are repeated until something answers;
// a repeated one is answered again and does nothing else.
struct Hello {
  uint32_t magic;
  uint16_t version;
  Step step;
  uint32_t job;  // hash of the job's name
  uint32_t rank;
  uint32_t epoch;
  uint32_t link;     // how the sender names this link
  uint32_t to_link;  // how the receiver does; no_link in a hello
  uint32_t qpn;      // the queue pair of the sender's for this link
  uint32_t psn;
  uint16_t window[lane_count];  // what the receiver may have under way to the sender of this
  uint64_t to;                  // nonce of the endpoint that is meant
  Address from;
};
static_assert(sizeof(Hello) == 96);

struct RkeyBlob {
  uint64_t base;  // the owner's address
  uint64_t length;
  uint32_t rkey;
  uint32_t host;  // 1: a processor can write there
};

}  // namespace causeway::verbs
