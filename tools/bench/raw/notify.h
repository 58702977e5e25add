// The cost of a notified write of eight bytes without any library: data into one line of the other
// process's memory, a notification into another, which the receiver finds and takes back with an
// exchange, since the next one may come at any time.
#pragma once

#include <atomic>
#include <cstdint>

#include "spin.h"

namespace causeway::bench::raw {

struct NotifySide {
  alignas(64) std::atomic<uint64_t> data;
  alignas(64) std::atomic<uint64_t> note;
};

// `sides[i]` is written by the other rank than i.
inline void notify_trips(NotifySide* sides, unsigned own, uint64_t trips, bool cores_are_shared) {
  NotifySide& mine = sides[own];
  NotifySide& theirs = sides[1 - own];
  Spinner spinner(cores_are_shared);
  const auto send = [&](uint64_t i) {
    theirs.data.store(i, std::memory_order_relaxed);
    theirs.note.store(1, std::memory_order_release);
  };
  const auto take = [&] {
    while (mine.note.load(std::memory_order_acquire) == 0) spinner.step();
    mine.note.exchange(0, std::memory_order_acq_rel);
  };
  for (uint64_t i = 0; i < trips; ++i) {
    if (own == 0) send(i);
    take();
    if (own != 0) send(i);
  }
}

}  // namespace causeway::bench::raw
