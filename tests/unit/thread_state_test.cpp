// What the core keeps per thread: the count of client threads, and what becomes of a thread's
// operations when it exits before they are complete.
#include "thread/thread_state.h"

#include <gtest/gtest.h>

#include <thread>

#include "thread/event.h"

namespace causeway {
namespace {

// Would catch a count that only grows.
TEST(ThreadState, ThreadsAreCountedWhileTheyLive) {
  const uint32_t before = live_threads();
  std::thread([&] {
    EXPECT_EQ(live_threads(), before);  // not before it enters
    thread_state();
    thread_state();
    EXPECT_EQ(live_threads(), before + 1);
  }).join();
  EXPECT_EQ(live_threads(), before);
}

// Would catch: a handler of another thread that is not seen, or is seen when it has returned.
TEST(ThreadState, OthersSeeWhoIsInAHandler) {
  const uint32_t before = threads_in_handlers(true);
  ThreadState& state = thread_state();
  for (const Context at : {Context::request_handler, Context::reply_handler}) {
    state.enter(at);
    std::thread([&] { EXPECT_EQ(threads_in_handlers(true), before + 1); }).join();
    state.enter(Context::client);
    std::thread([&] { EXPECT_EQ(threads_in_handlers(true), before); }).join();
  }
}

TEST(ThreadState, InternalThreadsDoNotCount) {
  const uint32_t before = live_threads();
  std::thread([&] {
    enter_as_internal_thread();
    EXPECT_TRUE(thread_state().internal);
    EXPECT_EQ(live_threads(), before);
  }).join();
  std::thread([&] {
    thread_state();  // first a client's, then lent to the library
    enter_as_internal_thread();
    enter_as_internal_thread();
    EXPECT_EQ(live_threads(), before);
  }).join();
  EXPECT_EQ(live_threads(), before);
}

// Leaves with one implicit operation under way; returns it.
Op* leave_one_behind(bool in_region) {
  Op* op = nullptr;
  std::thread([&] {
    ThreadState& state = thread_state();
    if (in_region) state.nbi = &(new Region)->ops;
    op = state.ops.take();
    op->arm_implicit(state.nbi, kCategoryPut, false, kCategoryLc, CWYC_DONE_REMOTE);
    ++state.nbi->initiated[kCategoryPut];
  }).join();
  return op;
}

// Would catch a state freed under a pending operation (the address sanitizer sees the completion
// write to it), and one that is never freed (the leak checker, and the count here).
TEST(ThreadState, UnfinishedOperationsKeepItUntilTheyEnd) {
  EXPECT_EQ(left_threads(), 0u);
  for (const bool in_region : {false, true}) {
    Op* first = leave_one_behind(in_region);
    Op* second = leave_one_behind(in_region);
    EXPECT_EQ(left_threads(), 2u);
    first->conduit.fn(&first->conduit, CWYC_DONE_LOCAL | CWYC_DONE_REMOTE, CWY_OK, nullptr);
    EXPECT_EQ(left_threads(), 1u);
    std::thread([] { thread_state(); }).join();  // others come and go meanwhile
    EXPECT_EQ(left_threads(), 1u);
    second->conduit.fn(&second->conduit, CWYC_DONE_REMOTE, CWY_OK, nullptr);
    EXPECT_EQ(left_threads(), 0u);
  }
}

using ThreadStateDeathTest = testing::Test;
TEST(ThreadStateDeathTest, OneThreadTooManyIsToldSo) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        set_thread_limit(1);
        thread_state();
        std::thread([] { thread_state(); }).join();
      },
      testing::ExitedWithCode(1), "thread limit: 2 threads .* but 1 may .*threads.max");
}

}  // namespace
}  // namespace causeway
