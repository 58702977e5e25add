// The locks that let one thread at a time into a conduit: the core's (SERIAL conduits) and the one
// of plugins.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "../../plugins/conduit/common/gate.h"

namespace causeway {
namespace {

struct OfCore {
  EntryLock lock;
  void enter() { lock.lock(); }
  bool try_enter() { return lock.try_lock(); }
  void leave() { lock.unlock(); }
};
struct OfPlugins {
  Gate gate;
  OfPlugins() { gate.raise(true); }
  void enter() { gate.hold(true); }
  bool try_enter() { return gate.hold(false) == Gate::Hold::locked; }
  void leave() { gate.release(Gate::Hold::locked); }
};

template <typename Lock>
class FairLock : public testing::Test {};
using Locks = testing::Types<OfCore, OfPlugins>;
TYPED_TEST_SUITE(FairLock, Locks);

// Catches: a handler inside of progress that polls for room, and is sent away for the sake of a
// thread that waits outside until the handler has ended: neither would go on.
TYPED_TEST(FairLock, the_thread_inside_is_never_sent_away) {
  TypeParam lock;
  std::atomic<bool> posts{false};
  lock.enter();
  std::thread poster([&] {
    posts.store(true, std::memory_order_release);
    lock.enter();
    lock.leave();
  });
  while (!posts.load(std::memory_order_acquire)) std::this_thread::yield();
  for (int i = 0; i < 200000; ++i) {
    ASSERT_TRUE(lock.try_enter()) << "at look " << i;
    lock.leave();
  }
  lock.leave();
  poster.join();
}

// Catches: a thread that gets in without the lock, or a lock that is not given back.
TYPED_TEST(FairLock, one_at_a_time) {
  TypeParam lock;
  constexpr int kTurns = 20000;
  int inside = 0, turns = 0;  // guarded by the lock
  std::atomic<int> posters{2};
  const auto visit = [&] {
    EXPECT_EQ(++inside, 1);
    ++turns;
    --inside;
    lock.leave();
  };
  const auto post = [&] {
    for (int i = 0; i < kTurns; ++i) {
      lock.enter();
      visit();
    }
    posters.fetch_sub(1, std::memory_order_relaxed);
  };
  std::thread first(post), second(post);
  int polls = 0;
  while (posters.load(std::memory_order_relaxed) != 0) {
    if (!lock.try_enter()) continue;
    visit();
    ++polls;
  }
  first.join();
  second.join();
  EXPECT_EQ(turns, 2 * kTurns + polls);
}

// Catches: polls that posts keep away for ever: three threads that post without a pause always have
// one among them that waits.
TYPED_TEST(FairLock, polls_get_in_beside_posts) {
  TypeParam lock;
  std::atomic<bool> ends{false};
  std::vector<std::thread> posters;
  for (int i = 0; i < 3; ++i)
    posters.emplace_back([&] {
      while (!ends.load(std::memory_order_relaxed)) {
        lock.enter();
        lock.leave();
      }
    });
  constexpr int kWanted = 200;
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  int polls = 0;
  while (polls < kWanted && std::chrono::steady_clock::now() < limit) {
    if (!lock.try_enter()) continue;
    lock.leave();
    ++polls;
  }
  ends.store(true, std::memory_order_relaxed);
  for (std::thread& poster : posters) poster.join();
  EXPECT_EQ(polls, kWanted);
}

// Catches: a poll that is refused where nobody is inside and nobody waits.
TYPED_TEST(FairLock, a_poll_behind_a_post_gets_in) {
  TypeParam lock;
  std::thread([&] {
    lock.enter();
    lock.leave();
  }).join();
  ASSERT_TRUE(lock.try_enter());
  lock.leave();
  ASSERT_TRUE(lock.try_enter());
  lock.leave();
}

}  // namespace
}  // namespace causeway
