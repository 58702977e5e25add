// gasnet_exit in all its ways: GASNet-1 specification 2.1.5.
#include <gtest/gtest.h>

#include <cstdlib>
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

// Ranks at their end answer who is not as far: it comes to its own exit, which is with 1.
// Would catch: a rank that is ended with the others' code, or that misses them.
void messages_those_that_leave(const std::vector<std::string>& flags) {
  for (const char* message : {"late_message", "late_medium"}) {
    SCOPED_TRACE(message);
    const Result result = run({.words = {"depart", message}, .ranks = 5, .flags = flags});
    EXPECT_EQ(result.status, 1) << result.err;
    EXPECT_EQ(result.err, "");
    EXPECT_LT(result.seconds, kSoon);
  }
}
// A call that needs them ends with the others' patience.
// Would catch: a wait for those that left without an end, or one that is a failure.
void waits_for_those_that_leave(const std::vector<std::string>& waits,
                                std::vector<std::string> flags) {
  flags.insert(flags.end(), {"--set", "timeouts.exit=1s"});
  for (const std::string& wait : waits) {
    SCOPED_TRACE(wait);
    const Result result = run({.words = {"depart", wait}, .ranks = 5, .flags = flags});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(result.err.find("error"), std::string::npos) << result.err;
    EXPECT_LT(result.seconds, kSoon);
  }
}

TEST(Exit, WhoIsLateFindsThoseThatLeave) {
  messages_those_that_leave({});
  waits_for_those_that_leave({"late_barrier", "late_broadcast", "late_team"}, {});
}

// The flags that put every message on that network; empty where it was not built.
std::vector<std::string> over(const std::string& network) {
  if (!std::filesystem::exists(api_test::plugin_dir() + "/conduit_" + network + ".so")) return {};
  return {"--config", std::string(CAUSEWAY_SOURCE_DIR) + "/configs/sites/" + network + "-tcp.yaml"};
}

TEST(Exit, WhoIsLateFindsThoseThatLeaveOverNetworks) {
  bool any = false;
  for (const char* network : {"ofi", "ucx"}) {
    const std::vector<std::string> flags = over(network);
    if (flags.empty()) continue;
    any = true;
    SCOPED_TRACE(network);
    messages_those_that_leave(flags);
    waits_for_those_that_leave({"late_broadcast"}, flags);
  }
  if (!any) GTEST_SKIP() << "no network conduit was built";
}

const std::vector<std::string> kMessagesOnly = {
    "--config", CAUSEWAY_SOURCE_DIR "/configs/sites/am-only.yaml", "--set", "report=false"};

// Gone with the object.
struct Folder {
  Folder() {
    std::string name = testing::TempDir() + "last_words.XXXXXX";
    if (::mkdtemp(name.data()) != nullptr) path = name;
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string path;
};

// Every rank's file and line, written between its last barrier and its exit.
void expect_last_words(const std::vector<std::string>& flags, int times) {
  constexpr int kRanks = 4;
  for (int i = 0; i < times; ++i) {
    const Folder folder;
    const Result result =
        run({.words = {"depart", "last_words", folder.path}, .ranks = kRanks, .flags = flags});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(result.err, "");
    EXPECT_EQ(count(result.out, "last words of "), static_cast<unsigned>(kRanks)) << result.out;
    for (int rank = 0; rank < kRanks; ++rank)
      EXPECT_TRUE(std::filesystem::exists(folder.path + "/" + std::to_string(rank))) << rank;
  }
}

// Would catch: a rank that is ended by the first one's gasnet_exit(0) while it comes out of its
// last barrier, with status 0 and without what it had still to write.
TEST(LastWords, OverSharedMemory) {
  expect_last_words({}, 3);
}
TEST(LastWords, OverMessagesOnly) {
  expect_last_words(kMessagesOnly, 2);
}
TEST(LastWords, OverNetworks) {
  bool any = false;
  for (const char* network : {"ofi", "ucx"}) {
    if (over(network).empty()) continue;
    any = true;
    SCOPED_TRACE(network);
    expect_last_words(over(network), 3);
  }
  if (!any) GTEST_SKIP() << "no network conduit was built";
}

// Would catch: the same, where it takes a crowded machine.
TEST(Soak, LastWords) {
  constexpr int kTimes = 200;
  expect_last_words({}, kTimes);
  expect_last_words(kMessagesOnly, kTimes);
  for (const char* network : {"ofi", "ucx"})
    if (!over(network).empty()) expect_last_words(over(network), kTimes);
}

// Would catch: a rank whose return ends the others, or that is taken for a failure.
TEST(Return, LeavesTheOthersToTheirOwnEnd) {
  std::vector<std::vector<std::string>> ways = {{}};
  for (const char* network : {"ofi", "ucx"})
    if (!over(network).empty()) ways.push_back(over(network));
  for (std::vector<std::string> flags : ways) {
    SCOPED_TRACE(flags.empty() ? "shm" : flags.back());
    flags.insert(flags.end(), {"--set", "timeouts.exit=0.5s"});
    const Result result = run({.words = {"depart", "return_early"}, .ranks = 3, .flags = flags});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(result.err, "");
    EXPECT_EQ(count(result.out, "rank 0 goes on"), 1u) << result.out;
  }
}

// Would catch: a status that main returns and that does not end the job, or is not its status.
TEST(Return, WithAStatusIsAnExit) {
  const Result result = depart("exit_early");
  EXPECT_EQ(result.status, 5) << result.err;
  EXPECT_LT(result.seconds, kSoon);
}

// Would catch: a SIGQUIT to who is on its way out by itself.
TEST(Exit, OfAllWithACodeRaisesNoSigquit) {
  const Result result = depart("all_seven");
  EXPECT_EQ(result.status, 7) << result.err;
  EXPECT_EQ(count(result.out, "caught SIGQUIT"), 0u) << result.out;
}

// Would catch: a code that is forgotten because another rank had begun with 0, or because a handler
// of SIGQUIT leaves with one of its own.
TEST(Exit, TheFirstCodeIsTheStatusAfterAZero) {
  const Result result = depart("zero_then_twelve");
  EXPECT_EQ(result.status, 12) << result.err;
  EXPECT_LT(result.seconds, kSoon);
}

// SIGQUIT is the client's to catch: its handler runs on the others, and may call gasnet_exit, which
// does not change the status.
TEST(Exit, QuitHandlersRun) {
  const Result result = depart("with_quit_handler");
  EXPECT_EQ(result.status, 5) << result.err;
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
