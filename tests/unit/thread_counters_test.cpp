// Counts that several threads make at once: none is lost or made twice, with fewer threads than
// cells, with more, and where a thread gets the cell of one that has ended.
#include "../../plugins/conduit/common/thread_counters.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace causeway {
namespace {

enum { first, second, kinds };

// All at once: `threads` threads that each count `turns` times 3 of the first and 1 of the second.
void count_together(ThreadCounters<kinds>& counters, unsigned threads, unsigned turns) {
  std::atomic<unsigned> waiting{threads};
  std::vector<std::thread> all;
  for (unsigned t = 0; t < threads; ++t) {
    all.emplace_back([&] {
      waiting.fetch_sub(1);
      while (waiting.load() != 0) std::this_thread::yield();
      for (unsigned i = 0; i < turns; ++i) {
        counters.add(first, 3);
        if (!counters.add_if_own(second, 1)) counters.add(second, 1);
      }
    });
  }
  for (std::thread& thread : all) thread.join();
}

// Catches two threads that write one cell, which loses counts.
TEST(ThreadCounters, LoseNothing) {
  constexpr unsigned kTurns = 20000;
  for (const unsigned threads : {2u, 16u, 40u}) {
    ThreadCounters<kinds> counters;
    count_together(counters, threads, kTurns);
    EXPECT_EQ(counters.read(first), uint64_t{3} * threads * kTurns) << threads << " threads";
    EXPECT_EQ(counters.read(second), uint64_t{threads} * kTurns) << threads << " threads";
  }
}

// Catches a cell that begins again from nothing with its next thread.
TEST(ThreadCounters, GoOnAfterThreadsHaveEnded) {
  ThreadCounters<kinds> counters;
  for (unsigned round = 1; round <= 10; ++round) {
    count_together(counters, 4, 100);
    EXPECT_EQ(counters.read(second), uint64_t{round} * 400);
  }
}

// Catches counting twice: what add_if_own() refuses, it has not counted.
TEST(ThreadCounters, RefuseBeforeThereIsACell) {
  ThreadCounters<kinds> counters;
  EXPECT_FALSE(counters.add_if_own(first, 5));
  EXPECT_EQ(counters.read(first), 0u);
  counters.add(first, 1);
  EXPECT_TRUE(counters.add_if_own(first, 5));
  EXPECT_EQ(counters.read(first), 6u);
  counters.add_alone(first, 10);
  EXPECT_EQ(counters.read(first), 16u);
}

}  // namespace
}  // namespace causeway
