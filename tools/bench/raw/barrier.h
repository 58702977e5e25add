// A central counter barrier in shared memory.
#pragma once

#include <atomic>
#include <cstdint>

#include "spin.h"

namespace causeway::bench::raw {

struct Barrier {
  struct alignas(64) Word {
    std::atomic<uint32_t> value;
  };
  Word arrived;
  Word phase;
};

inline void barrier(Barrier& shared, uint32_t ranks, bool cores_are_shared) {
  // Relaxed: nobody can move the phase before this rank has arrived.
  const uint32_t phase = shared.phase.value.load(std::memory_order_relaxed);
  // Acquire-release: the last one gathers what every rank did before.
  if (shared.arrived.value.fetch_add(1, std::memory_order_acq_rel) + 1 == ranks) {
    shared.arrived.value.store(0, std::memory_order_relaxed);  // published by the phase
    shared.phase.value.store(phase + 1, std::memory_order_release);
    return;
  }
  Spinner spinner(cores_are_shared);
  while (shared.phase.value.load(std::memory_order_acquire) == phase) spinner.step();
}

}  // namespace causeway::bench::raw
