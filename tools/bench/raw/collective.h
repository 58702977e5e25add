// Collectives by hand in shared memory: what the library's are measured against.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "barrier.h"

namespace causeway::bench::raw {

constexpr uint32_t kMostRanks = 64;

// A line per rank and turn. A rank is at most one operation ahead of another, so two turns do.
struct Board {
  struct alignas(64) Line {
    std::atomic<uint64_t> round;
    double value;
  };
  Line lines[2][kMostRanks];
};

// Everybody writes its value and adds up all of them. `round` grows by one from call to call.
double all_reduce_value(Board& board, uint32_t rank, uint32_t ranks, uint64_t round, double value,
                        bool cores_are_shared);
// `root` writes, the others read.
double broadcast_value(Board& board, uint32_t rank, uint32_t root, uint64_t round, double value,
                       bool cores_are_shared);

// Rank r adds up the r-th part of all sources and writes it to all results, as mapped here.
void all_reduce_parts(Barrier& shared, uint32_t rank, uint32_t ranks, const double* const* sources,
                      double* const* results, size_t count, bool cores_are_shared);

}  // namespace causeway::bench::raw
