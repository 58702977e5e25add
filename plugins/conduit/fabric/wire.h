// What travels between two endpoints of one network: the frame of an active message, control
// frames, and how two endpoints introduce themselves. Both are little-endian processes of one job.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <causeway/conduit.h>

#include <cstddef>
#include <cstdint>

namespace causeway::fabric {

inline constexpr uint16_t wire_version = 5;

enum Lane : uint32_t { request_lane, reply_lane, lane_count };

// A frame is this header, the arguments padded to 8 bytes, for longs the target's address, then, at
// the next multiple of 16, the payload; where several frames share a receive buffer, padding to 16
// bytes. Receive buffers begin at cache lines, so payloads lie at multiples of 16, as promised.
enum class FrameKind : uint8_t {
  am_short = CWYC_AM_SHORT,
  am_medium = CWYC_AM_MEDIUM,
  am_long = CWYC_AM_LONG,  // the payload was written before
  am_long_inline,          // the payload stands in the frame
  credit,                  // nothing but the credit fields
  bye,                     // nothing more comes from this side
  gone,                    // and nothing is received any more: its endpoint closes
  ready,                   // nothing: the first frame of the side that asked for the connection
  hello,                   // who speaks and how to answer, where introductions travel as frames
  welcome,                 // the answer to a hello
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

// The sender's introduction. A network puts it into whatever it makes connections with, and behind
// it what else the peer has to know of its path.
struct Introduction {
  uint32_t magic;  // of the network
  uint16_t version;
  uint16_t window[lane_count];  // what the receiver may have under way to the sender of this
  uint16_t step;                // the network's own
  uint32_t rank;
  uint32_t epoch;
  uint32_t link;   // how the sender names this link
  uint64_t job;    // half of the job's key: nobody of another job knows it
  uint64_t nonce;  // of the sender's endpoint
  uint64_t to;     // nonce of the endpoint that is meant
};
static_assert(sizeof(Introduction) == 48);

}  // namespace causeway::fabric
