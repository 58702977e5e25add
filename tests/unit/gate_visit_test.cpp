// The visits of a conduit's own thread beside a single thread's calls
// (plugins/conduit/common/gate.h).
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "../../plugins/conduit/common/gate.h"

namespace causeway {
namespace {

// Two words that are equal whenever nobody is inside.
struct Shared {
  Gate gate;
  uint64_t first = 0, second = 0;
  bool torn = false;

  void change() {
    torn |= first != second;
    ++first;
    for (int i = 0; i < 20; ++i) relax();
    ++second;
  }
};

// Catches: a visitor beside a call, for want of the kernel's barrier: in every second or third run,
// since the moment is a short one.
TEST(GateVisit, a_visitor_and_a_call_are_never_inside_together) {
  Shared shared;
  shared.gate.expect_visits();
  std::atomic<bool> ends{false};
  std::atomic<uint64_t> visits{0};
  uint64_t calls = 0;
  std::thread visitor([&] {
    while (!ends.load(std::memory_order_acquire)) {
      if (!shared.gate.visit()) continue;
      shared.change();
      shared.gate.end_visit();
      visits.fetch_add(1, std::memory_order_relaxed);
    }
  });
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
  while (std::chrono::steady_clock::now() < end || visits.load(std::memory_order_relaxed) == 0) {
    for (int i = 0; i < 100; ++i) {
      const Pass pass(shared.gate);
      const Pass nested(shared.gate, std::try_to_lock);
      EXPECT_FALSE(nested.refused());
      shared.change();
      ++calls;
    }
    std::this_thread::yield();
  }
  ends.store(true, std::memory_order_release);
  visitor.join();
  EXPECT_FALSE(shared.torn);
  EXPECT_EQ(shared.first, visits.load(std::memory_order_relaxed) + calls);
}

// Catches: an endpoint that cannot be closed from inside, since its thread waits for the gate; and
// one that is visited while a handler runs.
TEST(GateVisit, a_visitor_is_sent_away_while_a_call_is_inside) {
  Gate gate;
  gate.expect_visits();
  {
    const Pass outer(gate);
    { const Pass inner(gate); }
    std::thread([&] { EXPECT_FALSE(gate.visit()); }).join();
  }
  std::thread([&] {
    ASSERT_TRUE(gate.visit());
    gate.end_visit();
  }).join();
}

// Catches: calls of several threads, of which a visitor knows nothing.
TEST(GateVisit, several_threads_are_visited_too) {
  Shared shared;
  shared.gate.expect_visits();
  shared.gate.raise(true);
  std::atomic<int> left{2};
  const auto call = [&] {
    for (int i = 0; i < 20000; ++i) {
      const Pass pass(shared.gate);
      shared.change();
    }
    left.fetch_sub(1, std::memory_order_release);
  };
  std::thread one(call), other(call);
  uint64_t visits = 0;
  while (left.load(std::memory_order_acquire) != 0 || visits == 0) {
    if (!shared.gate.visit()) continue;
    shared.change();
    shared.gate.end_visit();
    ++visits;
  }
  one.join();
  other.join();
  EXPECT_FALSE(shared.torn);
  EXPECT_EQ(shared.first, visits + 40000);
}

}  // namespace
}  // namespace causeway
