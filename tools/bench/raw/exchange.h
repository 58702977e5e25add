// Two processes handing each other a block: copied into shared memory, flagged, copied out by the
// other core, and the same way back. What a medium active message and its reply have to do.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>

#include "spin.h"

namespace causeway::bench::raw {

constexpr size_t kExchangeMax = 4 << 20;

struct Exchange {
  struct alignas(64) Flag {
    std::atomic<uint64_t> count;
  };
  Flag there_flag;  // round trips begun
  Flag back_flag;   // round trips ended
  alignas(64) unsigned char there[kExchangeMax];
  alignas(64) unsigned char back[kExchangeMax];
};

// NULL: the block stays where it has arrived. The flag's release store publishes the block; its
// acquire load makes the block readable.
inline void exchange_first(Exchange& shared, const void* send, void* receive, size_t bytes,
                           uint64_t trips, bool cores_are_shared) {
  const uint64_t start = shared.back_flag.count.load(std::memory_order_acquire);
  Spinner spinner(cores_are_shared);
  for (uint64_t i = 1; i <= trips; ++i) {
    memcpy(shared.there, send, bytes);
    shared.there_flag.count.store(start + i, std::memory_order_release);
    while (shared.back_flag.count.load(std::memory_order_acquire) != start + i) spinner.step();
    if (receive != nullptr) memcpy(receive, shared.back, bytes);
  }
}

inline void exchange_second(Exchange& shared, const void* send, void* receive, size_t bytes,
                            uint64_t trips, bool cores_are_shared) {
  // Only this side moves back_flag, so it still shows where the previous series ended.
  const uint64_t start = shared.back_flag.count.load(std::memory_order_relaxed);
  Spinner spinner(cores_are_shared);
  for (uint64_t i = 1; i <= trips; ++i) {
    while (shared.there_flag.count.load(std::memory_order_acquire) != start + i) spinner.step();
    if (receive != nullptr) memcpy(receive, shared.there, bytes);
    memcpy(shared.back, send, bytes);
    shared.back_flag.count.store(start + i, std::memory_order_release);
  }
}

}  // namespace causeway::bench::raw
