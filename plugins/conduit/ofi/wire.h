// What travels: the frame of an active message, control messages, endpoint addresses, rkeys.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <causeway/conduit.h>

#include <cstddef>
#include <cstdint>

namespace causeway::ofi {

inline constexpr uint32_t wire_magic = 0x4f574643;  // "CFWO"
inline constexpr uint16_t wire_version = 1;

enum Lane : uint32_t { request_lane, reply_lane, lane_count };

// A frame is this header, the arguments padded to 8 bytes, for longs the target's address, then, at
// the next multiple of 16, the payload; where several frames share a receive buffer, padding to 16
// bytes. Receive buffers begin at cache lines, so payloads are aligned for any type: clients may
// count on that, although the plugin interface asks for 8 bytes only.
enum class FrameKind : uint8_t {
  am_short = CWYC_AM_SHORT,
  am_medium = CWYC_AM_MEDIUM,
  am_long = CWYC_AM_LONG,  // the payload was written before
  am_long_inline,          // the payload stands in the frame
  credit,                  // nothing but the credit fields
  hello,                   // datagrams: who speaks and how to answer; payload is a Hello
  welcome,                 // datagrams: the answer to it; payload is a Hello
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

// Bytes that a credit stands for where many frames share a receive buffer; elsewhere it is a frame.
inline constexpr size_t credit_unit = 1024;

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
inline constexpr size_t frame_overhead = sizeof(FrameHeader) + 64 + 8;

// How two endpoints introduce themselves: in a hello, a welcome, or the private data of a
// connection request (at most 56 bytes there).
struct Hello {
  uint32_t magic;
  uint16_t version;
  uint16_t window[lane_count];  // what the receiver may have under way to the sender of this
  uint16_t reserved;
  uint32_t job;  // hash of the job's name
  uint32_t rank;
  uint32_t epoch;
  uint32_t link;   // how the sender names this link
  uint64_t nonce;  // of the sender's endpoint
  uint64_t to;     // nonce of the endpoint that is meant
};
static_assert(sizeof(Hello) == 48);

inline constexpr size_t longest_address = 128;

// What ep_address writes; `length` bytes of `bytes` are the provider's.
struct Address {
  uint32_t magic;
  uint16_t version;
  uint8_t msg;
  uint8_t loopback;
  uint64_t nonce;
  char provider[30];
  uint16_t length;
  uint8_t bytes[longest_address];
};
static_assert(sizeof(Address) == 48 + longest_address);

struct RkeyBlob {
  uint64_t base;  // the owner's address
  uint64_t length;
  uint64_t origin;  // what the provider calls the first byte: its address, or 0
  uint64_t key;
  uint64_t host;  // 1: a processor can write there
};

}  // namespace causeway::ofi
