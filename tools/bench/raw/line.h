// Two processes bouncing one cache line: the least that a round trip between two cores costs. And
// two processes with a line each way: the least for whoever answers through a place of its own, as
// a queue of messages does.
#pragma once

#include <atomic>
#include <cstdint>

#include "spin.h"

namespace causeway::bench::raw {

struct alignas(64) Line {
  std::atomic<uint64_t> turn;
};

// Stores with release and loads with acquire: the order a message needs whose content lies
// elsewhere; free on x86, and what a hand-written exchange would use on other machines.
inline void bounce_first(Line& line, uint64_t trips, bool cores_are_shared) {
  const uint64_t start = line.turn.load(std::memory_order_acquire);
  Spinner spinner(cores_are_shared);
  for (uint64_t i = 0; i < trips; ++i) {
    line.turn.store(start + 2 * i + 1, std::memory_order_release);
    while (line.turn.load(std::memory_order_acquire) != start + 2 * i + 2) spinner.step();
  }
}

// `start` is the value of the line before the first side begins: even, and known to both.
inline void bounce_second(Line& line, uint64_t start, uint64_t trips, bool cores_are_shared) {
  Spinner spinner(cores_are_shared);
  for (uint64_t i = 0; i < trips; ++i) {
    while (line.turn.load(std::memory_order_acquire) != start + 2 * i + 1) spinner.step();
    line.turn.store(start + 2 * i + 2, std::memory_order_release);
  }
}

// A line each way. `turn` counts round trips.
struct LinePair {
  Line there;
  Line back;
};

inline void answer_first(LinePair& lines, uint64_t trips, bool cores_are_shared) {
  const uint64_t start = lines.back.turn.load(std::memory_order_acquire);
  Spinner spinner(cores_are_shared);
  for (uint64_t i = 1; i <= trips; ++i) {
    lines.there.turn.store(start + i, std::memory_order_release);
    while (lines.back.turn.load(std::memory_order_acquire) != start + i) spinner.step();
  }
}

// Only this side moves `back`, so it still shows where the previous series ended.
inline void answer_second(LinePair& lines, uint64_t trips, bool cores_are_shared) {
  const uint64_t start = lines.back.turn.load(std::memory_order_relaxed);
  Spinner spinner(cores_are_shared);
  for (uint64_t i = 1; i <= trips; ++i) {
    while (lines.there.turn.load(std::memory_order_acquire) != start + i) spinner.step();
    lines.back.turn.store(start + i, std::memory_order_release);
  }
}

}  // namespace causeway::bench::raw
