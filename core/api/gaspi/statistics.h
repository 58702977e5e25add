// Counters of chapter 14.1. A level of 0 counts nothing and costs a load. The level is the
// process', and may be set before there is anything to count (14.1.3).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace causeway::gaspi {

enum class Counter : unsigned {
  writes,
  bytes_written,
  reads,
  bytes_read,
  notifications,
  waits,
  atomics,
  barriers,
  allreduces,
  passive_sends,
  passive_receives,
  bytes_written_to,  // by rank
  bytes_read_from,   // by rank
  count
};

class Statistics {
 public:
  explicit Statistics(uint32_t ranks)
      : ranks_(ranks), by_rank_(new std::atomic<uint64_t>[2 * static_cast<size_t>(ranks)]()) {}

  // Relaxed throughout: counts order nothing.
  static void set_level(uint32_t level) { level_.store(level, std::memory_order_relaxed); }
  bool active() const { return level_.load(std::memory_order_relaxed) != 0; }
  bool by_rank_active() const { return level_.load(std::memory_order_relaxed) >= 2; }

  void add(Counter counter, uint64_t n = 1) {
    if (__builtin_expect(active(), 0)) slot(counter).fetch_add(n, std::memory_order_relaxed);
  }
  void wrote(uint32_t rank, uint64_t bytes) {
    if (__builtin_expect(!active(), 1)) return;
    add(Counter::writes);
    add(Counter::bytes_written, bytes);
    if (by_rank_active()) by_rank_[rank].fetch_add(bytes, std::memory_order_relaxed);
  }
  void read(uint32_t rank, uint64_t bytes) {
    if (__builtin_expect(!active(), 1)) return;
    add(Counter::reads);
    add(Counter::bytes_read, bytes);
    if (by_rank_active()) by_rank_[ranks_ + rank].fetch_add(bytes, std::memory_order_relaxed);
  }

  static bool takes_rank(Counter counter) { return counter >= Counter::bytes_written_to; }
  uint64_t value(Counter counter, uint32_t rank) const;
  void reset(Counter counter);

 private:
  std::atomic<uint64_t>& slot(Counter c) { return totals_[static_cast<unsigned>(c)]; }
  static inline std::atomic<uint32_t> level_{0};
  uint32_t ranks_;
  std::atomic<uint64_t> totals_[static_cast<unsigned>(Counter::count)] = {};
  std::unique_ptr<std::atomic<uint64_t>[]> by_rank_;  // written to, then read from
};

}  // namespace causeway::gaspi
