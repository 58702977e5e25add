// Sweeps over sizes: puts, gets, messages and sums, one at a time and many under way, each beside a
// plain loop where there is one.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "session.h"

namespace causeway::bench {

constexpr size_t kSweepHalf = 16 << 20;  // reached by the other rank; as much is local data

enum class SweepOp { put, get, am };

struct SweepRow {
  SweepOp op;
  size_t bytes;
  uint32_t window;  // operations under way at once; 1: each is waited for
};

// The plain loops beside the library's, of both ranks.
class RawLoops {
 public:
  RawLoops() = default;
  virtual ~RawLoops() = default;
  RawLoops(const RawLoops&) = delete;
  RawLoops& operator=(const RawLoops&) = delete;
  virtual bool has(const SweepRow& row) const = 0;
  // `count` operations; of messages one at a time: there and back.
  virtual void first(const SweepRow& row, uint64_t count) = 0;
  // The other rank meanwhile; may return before the first rank has `ended`.
  virtual void second(const SweepRow& row, uint64_t count, const std::function<bool()>& ended) = 0;
};

// For ranks that share memory: copies, and blocks and flags. Collective.
std::unique_ptr<RawLoops> make_mapped_loops(Job& job);

// Puts or gets between the other rank's memory and the data at `local`. Windows are let out whole,
// as programs with implicit operations do.
void run_transfers(const Job& job, unsigned char* local, const SweepRow& row, uint64_t count);

// How a message of so many bytes goes: "short", "medium", "long"; NULL: none is so large.
const char* message_kind(size_t bytes);

struct SweepWish {
  std::vector<std::string> operations;  // of put, get, am, allreduce
  std::vector<size_t> sizes;
  std::string path;  // what is measured, for the table
};
// The job's segments have twice kSweepHalf. Reports OPERATION.latency.BYTES in microseconds (of
// messages half of there and back) and OPERATION.bandwidth.BYTES in GB/s. Collective.
void measure_sweep(Job& job, bool quick, const SweepWish& wish, RawLoops& raw);

}  // namespace causeway::bench
