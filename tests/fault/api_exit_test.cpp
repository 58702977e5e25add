// gasnet_exit in all its ways: GASNet-1 specification 2.1.5.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "api_job.h"

namespace {

using api_test::kSoon;
using api_test::run;
using launch_test::count;
using launch_test::Result;

Result depart(const char* scenario, int ranks = 3, bool threads = false) {
  return run({.words = {"depart", scenario}, .ranks = ranks, .threads = threads});
}

TEST(Exit, ByAllWithZeroIsSilent) {
  for (int ranks : {1, 3}) {
    const Result result = depart("all_zero", ranks);
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(result.err, "");
    EXPECT_LT(result.seconds, kSoon);
  }
}

TEST(Exit, RightAfterInit) {
  const Result result = depart("at_once");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_LT(result.seconds, kSoon);
}

TEST(Exit, FlushesBufferedOutput) {
  const Result result = depart("unflushed");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(count(result.out, "buffered by "), 3u) << result.out;
}

// Leaving main without gasnet_exit is not encouraged, but allowed.
TEST(Exit, ReturnFromMainByAll) {
  for (const char* scenario : {"return", "return_after_barrier"}) {
    const Result result = depart(scenario);
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_LT(result.seconds, kSoon);
  }
}

// The others neither know nor look: the code is the job's, and everybody ends.
TEST(Exit, OneWhileOthersCompute) {
  const Result result = depart("one_while_others_compute");
  EXPECT_EQ(result.status, 5) << result.err;
  EXPECT_LT(result.seconds, kSoon);
}
TEST(Exit, OneWhileOthersSleep) {
  const Result result = depart("one_while_others_sleep");
  EXPECT_EQ(result.status, 5) << result.err;
  EXPECT_LT(result.seconds, kSoon);
}
TEST(Exit, OneWhileOthersWait) {
  const Result result = depart("one_while_others_wait");
  EXPECT_EQ(result.status, 5) << result.err;
  EXPECT_LT(result.seconds, kSoon);
}
// With code 0 the others get the time that the configuration gives them.
TEST(Exit, ZeroWhileOthersWait) {
  const Result result = depart("zero_while_others_wait");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_LT(result.seconds, 2 * kSoon);
}

void calls_those_that_left(const std::vector<std::string>& needs,
                           const std::vector<std::string>& flags) {
  for (const std::string& need : needs) {
    SCOPED_TRACE(need);
    const Result result = run({.words = {"depart", need}, .ranks = 5, .flags = flags});
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(result.err, "");
    EXPECT_LT(result.seconds, kSoon);
  }
}

// Would catch: a rank that has not heard of the others' leave, and takes their silence for death
// when it next needs them, or waits for them until the launcher loses patience: the job's status
// would be 1, with an error that blames nobody, or a line would be printed.
TEST(Exit, WhoCallsThoseThatLeftLeavesToo) {
  calls_those_that_left(
      {"late_message", "late_medium", "late_barrier", "late_broadcast", "late_team"}, {});
}
TEST(Exit, WhoCallsThoseThatLeftLeavesTooOverNetworks) {
  bool any = false;
  for (const char* network : {"ofi", "ucx"}) {
    if (!std::filesystem::exists(api_test::plugin_dir() + "/conduit_" + network + ".so")) continue;
    any = true;
    SCOPED_TRACE(network);
    calls_those_that_left(
        {"late_medium", "late_broadcast"},
        {"--config", std::string(CAUSEWAY_SOURCE_DIR) + "/configs/sites/" + network + "-tcp.yaml"});
  }
  if (!any) GTEST_SKIP() << "no network conduit was built";
}

// SIGQUIT is the client's to catch: its handler runs on the others, and may call gasnet_exit.
TEST(Exit, QuitHandlersRun) {
  const Result result = depart("with_quit_handler");
  EXPECT_TRUE(result.status == 5 || result.status == 6) << result.status << result.err;
  EXPECT_EQ(count(result.out, "caught SIGQUIT"), 2u) << result.out;
  EXPECT_LT(result.seconds, kSoon);
}

// Which of several codes it is, is open; it is one of them.
TEST(Exit, DifferentCodes) {
  const Result result = depart("all_different");
  EXPECT_GE(result.status, 10) << result.err;
  EXPECT_LE(result.status, 12) << result.err;
  EXPECT_LT(result.seconds, kSoon);
}

// Would catch: an exit that waits for ever for a lock of the C library.
TEST(Exit, EndsWhatItCannotFlush) {
  const Result result = run({.words = {"depart", "stuck"},
                             .ranks = 1,
                             .flags = {"--set", "timeouts.exit=1s"},
                             .limit_s = 40.0});
  EXPECT_EQ(result.status, 7) << result.err;
  EXPECT_NE(result.err.find("rank 0/1: gasnet_exit has not ended after 12 s"), std::string::npos)
      << result.err;
  EXPECT_LT(result.seconds, 12 + kSoon);
}

TEST(Exit, FromAHandler) {
  const Result result = depart("from_handler");
  EXPECT_EQ(result.status, 7) << result.err;
  EXPECT_LT(result.seconds, kSoon);
}

TEST(Exit, FromAThread) {
  const Result result = depart("from_thread", 3, true);
  EXPECT_EQ(result.status, 8) << result.err;
  EXPECT_LT(result.seconds, kSoon);
}

TEST(Exit, FromManyThreadsAtOnce) {
  const Result result = depart("from_many_threads", 3, true);
  EXPECT_EQ(result.status, 9) << result.err;
  EXPECT_LT(result.seconds, kSoon);
}

// Repeated, because the news of an exit and the end of a process race.
TEST(Exit, ManyTimes) {
  for (int i = 0; i < 10; ++i) {
    const Result result = depart("one_while_others_wait", 4);
    ASSERT_EQ(result.status, 5) << result.err;
    ASSERT_LT(result.seconds, kSoon);
  }
}

}  // namespace
