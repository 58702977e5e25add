// A ring of one-line messages from one process to another: the plainest queue that can carry a
// flood of short messages, without handlers, arguments' counts, credits or a sleeping receiver.
#pragma once

#include <atomic>
#include <cstdint>

#include "spin.h"

namespace causeway::bench::raw {

constexpr uint64_t kRingSlots = 1024;

struct Ring {
  struct alignas(64) Slot {
    std::atomic<uint64_t> sequence;  // 1 + number of the message it holds
    uint64_t argument;
  };
  struct alignas(64) Consumed {
    std::atomic<uint64_t> count;
  };
  Consumed consumed;
  Slot slots[kRingSlots];
};

// `first` is the number of the first message of this series: known to both sides. The slot's
// release store publishes the argument.
inline void flood_send(Ring& ring, uint64_t first, uint64_t messages, bool cores_are_shared) {
  Spinner spinner(cores_are_shared);
  uint64_t free_until = ring.consumed.count.load(std::memory_order_acquire) + kRingSlots;
  for (uint64_t i = first; i < first + messages; ++i) {
    while (i >= free_until) {
      // Acquire: the consumer has read the slot before we overwrite it.
      free_until = ring.consumed.count.load(std::memory_order_acquire) + kRingSlots;
      if (i >= free_until) spinner.step();
    }
    Ring::Slot& slot = ring.slots[i % kRingSlots];
    slot.argument = i;
    slot.sequence.store(i + 1, std::memory_order_release);
  }
  while (ring.consumed.count.load(std::memory_order_acquire) != first + messages) spinner.step();
}

// Returns the sum of the arguments, so that they are really read.
inline uint64_t flood_receive(Ring& ring, uint64_t first, uint64_t messages,
                              bool cores_are_shared) {
  Spinner spinner(cores_are_shared);
  uint64_t sum = 0;
  for (uint64_t i = first; i < first + messages; ++i) {
    Ring::Slot& slot = ring.slots[i % kRingSlots];
    while (slot.sequence.load(std::memory_order_acquire) != i + 1) spinner.step();
    sum += slot.argument;
    // Credits in batches: a line returned per message would double the traffic.
    if ((i + 1) % (kRingSlots / 4) == 0)
      ring.consumed.count.store(i + 1, std::memory_order_release);
  }
  ring.consumed.count.store(first + messages, std::memory_order_release);
  return sum;
}

}  // namespace causeway::bench::raw
