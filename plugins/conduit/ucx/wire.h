// The form of addresses, rkeys and message headers as they travel. All ranks of a job run the same
// plugin on the same architecture; `magic` tells what does not come from here.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "shared_object.h"

namespace causeway::ucx {

inline constexpr uint32_t wire_magic = 0x33584355;  // "UCX3"

struct EndpointAddress {  // the worker's address follows
  uint32_t magic;
  uint32_t worker_length;
  uint64_t pid_namespace;  // pids mean the same where it is equal
};

struct RkeyHeader {  // UCX's key follows
  uint32_t magic;
  uint32_t ucx_length;
  uint64_t base;
  uint64_t length;
  uint64_t host_memory;  // 0: of a device
  SharedObject object;
  uint64_t sum;  // of UCX's key and of all before: UCX believes what it is given
};

// Active message ids: one per lane.
enum : unsigned { id_request = 1, id_reply = 2 };

enum class MessageKind : uint32_t { am_short, am_medium, am_long, farewell };

// The word of a farewell: whether it answers the peer's, who waits for it.
enum : uint64_t { leaving = 0, farewell_seen = 1 };

// Arguments follow; of a long its target address comes before them.
struct MessageHeader {
  uint64_t job;  // of the job's key: a message of another is dropped
  uint64_t word;
  uint32_t rank;
  uint32_t info;  // epoch (24 bits), kind (2), argument count (6)
};
inline constexpr uint32_t epoch_mask = (1u << 24) - 1;

inline uint32_t pack_info(uint32_t epoch, MessageKind kind, uint32_t nargs) {
  return (epoch & epoch_mask) << 8 | static_cast<uint32_t>(kind) << 6 | nargs;
}
inline uint32_t info_epoch(uint32_t info) {
  return info >> 8;
}
inline MessageKind info_kind(uint32_t info) {
  return static_cast<MessageKind>(info >> 6 & 3);
}
inline uint32_t info_nargs(uint32_t info) {
  return info & 63;
}

}  // namespace causeway::ucx
