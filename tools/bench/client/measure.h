// Clock, median, and the interleaving of our loop with the raw one.
#pragma once

#include <time.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "../spread.h"

namespace causeway::bench {

inline double now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

template <class Loop>
double elapsed_ns(Loop&& loop) {
  const double start = now_ns();
  loop();
  return now_ns() - start;
}

// Nanoseconds of one call, of so many.
template <class Once>
double each_ns(uint64_t turns, Once&& once) {
  return elapsed_ns([&] {
           for (uint64_t i = 0; i < turns; ++i) once();
         }) /
         static_cast<double>(turns);
}

struct Comparison {
  double ours;  // medians
  double raw;
  Spread spread;  // of ours
};

// Runs the two turn about, so that a change of clock rate or of neighbours meets both, and
// swaps who goes first, so that neither always finds the caches the other left. `ours` and `raw`
// return one figure per call. Ranks that measure together call this with the same `repetitions`.
template <class Ours, class Raw>
Comparison interleave(unsigned repetitions, Ours&& ours, Raw&& raw) {
  std::vector<double> ours_all, raw_all;
  for (unsigned i = 0; i < repetitions; ++i) {
    if (i % 2 == 0) {
      ours_all.push_back(ours());
      raw_all.push_back(raw());
    } else {
      raw_all.push_back(raw());
      ours_all.push_back(ours());
    }
  }
  const double ours_median = median(ours_all);
  return {ours_median, median(std::move(raw_all)), spread_of(std::move(ours_all), ours_median)};
}

// How often to run a loop of `ns_per_turn` so that it lasts `aim_ns`.
inline uint64_t turns_for(double aim_ns, double ns_per_turn, uint64_t most) {
  const double turns = aim_ns / std::max(ns_per_turn, 0.1);
  return std::clamp<uint64_t>(static_cast<uint64_t>(turns), 1, most);
}

}  // namespace causeway::bench
