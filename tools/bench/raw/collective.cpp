#include "collective.h"

#include <algorithm>
#include <cstring>

#include "spin.h"

namespace causeway::bench::raw {
namespace {

// Release and acquire: the value before the round that announces it.
void announce(Board::Line& line, uint64_t round, double value) {
  line.value = value;
  line.round.store(round, std::memory_order_release);
}
double await(const Board::Line& line, uint64_t round, Spinner& spinner) {
  while (line.round.load(std::memory_order_acquire) < round) spinner.step();
  return line.value;
}

}  // namespace

double all_reduce_value(Board& board, uint32_t rank, uint32_t ranks, uint64_t round, double value,
                        bool cores_are_shared) {
  Board::Line* const lines = board.lines[round % 2];
  announce(lines[rank], round, value);
  Spinner spinner(cores_are_shared);
  double sum = 0;
  for (uint32_t r = 0; r < ranks; ++r) sum += await(lines[r], round, spinner);
  return sum;
}

double broadcast_value(Board& board, uint32_t rank, uint32_t root, uint64_t round, double value,
                       bool cores_are_shared) {
  Board::Line& line = board.lines[round % 2][root];
  if (rank == root) {
    announce(line, round, value);
    return value;
  }
  Spinner spinner(cores_are_shared);
  return await(line, round, spinner);
}

void all_reduce_parts(Barrier& shared, uint32_t rank, uint32_t ranks, const double* const* sources,
                      double* const* results, size_t count, bool cores_are_shared) {
  constexpr size_t kChunk = 4096;  // doubles: stays in the cache between sum and copies
  static double sum[kChunk];
  barrier(shared, ranks, cores_are_shared);
  const size_t begin = count * rank / ranks, end = count * (rank + 1) / ranks;
  for (size_t at = begin; at < end; at += kChunk) {
    const size_t n = std::min(kChunk, end - at);
    std::memcpy(sum, sources[0] + at, n * sizeof(double));
    for (uint32_t r = 1; r < ranks; ++r) {
      const double* const from = sources[r] + at;
      for (size_t i = 0; i < n; ++i) sum[i] += from[i];
    }
    for (uint32_t r = 0; r < ranks; ++r) std::memcpy(results[r] + at, sum, n * sizeof(double));
  }
  barrier(shared, ranks, cores_are_shared);
}

}  // namespace causeway::bench::raw
