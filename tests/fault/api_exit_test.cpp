// gasnet_exit in all its ways: GASNet-1 specification 2.1.5.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

#include "api_job.h"

namespace {

using api_test::kSoon;
using api_test::Network;
using api_test::network;
using api_test::networks;
using api_test::run;
using launch_test::count;
using launch_test::Result;

std::string network_name(const testing::TestParamInfo<Network>& info) {
  return info.param.name;
}

Result depart(const char* scenario, int ranks = 3, bool threads = false) {
  return run({.words = {"depart", scenario}, .ranks = ranks, .threads = threads});
}

// A scenario of api_victim_end.cpp of which nothing more is to be said than how it ends.
struct Leave {
  const char* name;
  const char* scenario;
  int status;
  int ranks = 3;
  bool threads = false;
  double within = kSoon;
};
void PrintTo(const Leave& leave, std::ostream* out) {
  *out << leave.scenario;
}

class Leaves : public testing::TestWithParam<Leave> {};

// Would catch: a code that is not the job's, an end that hangs, is late, or leaves something
// behind.
TEST_P(Leaves, WithItsStatusSoon) {
  const Leave& leave = GetParam();
  const Result result = depart(leave.scenario, leave.ranks, leave.threads);
  EXPECT_EQ(result.status, leave.status) << result.err;
  EXPECT_LT(result.seconds, leave.within);
  if (leave.status == 0 && leave.within == kSoon) {
    EXPECT_EQ(result.err, "");
  }
}

INSTANTIATE_TEST_SUITE_P(
    Where, Leaves,
    testing::Values(Leave{"AllWithZero", "all_zero", 0}, Leave{"OneAlone", "all_zero", 0, 1},
                    Leave{"RightAfterInit", "at_once", 0},
                    // Not encouraged, but allowed.
                    Leave{"ReturnFromMain", "return", 0},
                    Leave{"ReturnAfterBarrier", "return_after_barrier", 0},
                    Leave{"ReturnWithAStatus", "exit_early", 5},
                    // A process that a rank has forked ends alone, and at once.
                    Leave{"ChildOfEachRank", "child_leaves", 0},
                    // The others neither know nor look: the code is the job's, and everybody ends.
                    Leave{"OthersCompute", "one_while_others_compute", 5},
                    Leave{"OthersSleep", "one_while_others_sleep", 5},
                    Leave{"OthersWait", "one_while_others_wait", 5},
                    // With 0 the others get the time that the configuration gives them.
                    Leave{"ZeroOthersWait", "zero_while_others_wait", 0, 3, false, 2 * kSoon},
                    // A code is not forgotten because another rank had begun with 0, or because a
                    // handler of SIGQUIT leaves with one of its own.
                    Leave{"TwelveAfterZero", "zero_then_twelve", 12},
                    Leave{"InAHandler", "from_handler", 7},
                    Leave{"InAThread", "from_thread", 8, 3, true},
                    Leave{"InManyThreads", "from_many_threads", 9, 3, true}),
    [](const auto& chosen) { return std::string(chosen.param.name); });

// Whichever way, rank and code: gasnet_exit's status is the job's.
void exit_with(const std::string& way, int code, int ranks, int leaver, const Network& over) {
  SCOPED_TRACE(way + " with " + std::to_string(code) + " on rank " + std::to_string(leaver) +
               " of " + std::to_string(ranks));
  const Result result =
      run({.words = {"exit_with", way, std::to_string(code), std::to_string(leaver)},
           .ranks = ranks,
           .flags = over.flags,
           .threads = way == "thread"});
  EXPECT_EQ(result.status, code) << result.err;
  EXPECT_EQ(result.err.find("error"), std::string::npos) << result.err;
  EXPECT_LT(result.seconds, kSoon) << result.err;
  if (way == "all") {
    EXPECT_EQ(count(result.out, "caught SIGQUIT"), 0u) << result.out;
  }
}

const std::vector<std::string> kWays = {"main",  "exit",   "thread", "request",
                                        "reply", "signal", "all"};
// Those that somebody could take for something else: signals, shells' and launchers' own codes.
constexpr int kCodes[] = {1, 3, 4, 77, 124, 125, 126, 127, 128, 131, 134, 137, 143, 254, 255};

class ExitCode : public testing::TestWithParam<std::tuple<Network, int>> {};

// Would catch: a code that gets lost between a rank and the job's status: cut, taken for a
// signal's, replaced by that of a handler of SIGQUIT, or by that of a rank which was ended.
TEST_P(ExitCode, IsTheJobsWhateverTheWay) {
  const auto& [over, ranks] = GetParam();
  size_t next = ranks == 2 ? 0 : kWays.size();
  for (const std::string& way : kWays) {
    const int leaver = static_cast<int>(next % static_cast<size_t>(ranks));
    exit_with(way, kCodes[next % std::size(kCodes)], ranks, leaver, over);
    ++next;
  }
}
INSTANTIATE_TEST_SUITE_P(Over, ExitCode,
                         testing::Combine(testing::ValuesIn(networks()), testing::Values(2, 4)),
                         [](const auto& chosen) {
                           return std::get<0>(chosen.param).name + "_n" +
                                  std::to_string(std::get<1>(chosen.param));
                         });

// Would catch: the same, for a code that nobody thought of.
TEST(Soak, AllExitCodes) {
  for (int code = 1; code <= 255; ++code)
    for (const std::string& way : kWays) exit_with(way, code, 2, code % 2, network("shm"));
}

struct Farewell {
  const char* name;
  double within;
};

// Would catch: a rank that has said its status, and whose job fails or hangs because a library ends
// by abort() or never, as UCX 1.13 does at times.
TEST(Exit, IsNotUndoneByALibrarysFarewell) {
  for (const Farewell& farewell : {Farewell{"abort", kSoon}, Farewell{"hang", 2 * kSoon}}) {
    SCOPED_TRACE(farewell.name);
    const Result result = run({.words = {"depart", "farewell", FAREWELL_LIBRARY, farewell.name},
                               .flags = {"--set", "timeouts.exit=1s"}});
    EXPECT_EQ(result.status, 9) << result.err;
    EXPECT_LT(result.seconds, farewell.within);
  }
}

// Would catch: an end without what stdio holds, among others where a timer of the program's looks
// like the alarm that limits the exit.
TEST(Exit, FlushesBufferedOutput) {
  for (const char* scenario : {"unflushed", "under_timer"}) {
    const Result result = depart(scenario);
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(count(result.out, "buffered by "), 3u) << result.out;
    EXPECT_EQ(result.err.find("has not ended"), std::string::npos) << result.err;
  }
}

class Late : public testing::TestWithParam<Network> {};

// Ranks at their end answer who is not as far: it comes to its own exit, which is with 1.
// Would catch: a rank that is ended with the others' code, or that misses them.
TEST_P(Late, MessagesFindThoseThatLeave) {
  for (const char* message : {"late_message", "late_medium"}) {
    SCOPED_TRACE(message);
    const Result result =
        run({.words = {"depart", message}, .ranks = 5, .flags = GetParam().flags});
    EXPECT_EQ(result.status, 1) << result.err;
    EXPECT_EQ(result.err, "causeway run: rank 2 left with status 1\n");
    EXPECT_LT(result.seconds, kSoon);
  }
}

// Calls that need all of them end with the others' patience.
// Would catch: a wait for those that left without an end, or one that is a failure.
TEST_P(Late, WaitsForThoseThatLeaveEnd) {
  std::vector<std::string> flags = GetParam().flags;
  flags.insert(flags.end(), {"--set", "timeouts.exit=1s"});
  std::vector<std::string> waits = {"late_broadcast"};
  if (GetParam().name == "shm") waits.insert(waits.end(), {"late_barrier", "late_team"});
  for (const std::string& wait : waits) {
    SCOPED_TRACE(wait);
    const Result result = run({.words = {"depart", wait}, .ranks = 5, .flags = flags});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(result.err.find("error"), std::string::npos) << result.err;
    EXPECT_LT(result.seconds, kSoon);
  }
}
INSTANTIATE_TEST_SUITE_P(Over, Late, testing::ValuesIn(networks()), network_name);

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
void expect_last_words(const Network& over, int times) {
  constexpr int kRanks = 4;
  SCOPED_TRACE(over.name);
  for (int i = 0; i < times; ++i) {
    const Folder folder;
    const Result result =
        run({.words = {"depart", "last_words", folder.path}, .ranks = kRanks, .flags = over.flags});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(result.err, "");
    EXPECT_EQ(count(result.out, "last words of "), static_cast<unsigned>(kRanks)) << result.out;
    for (int rank = 0; rank < kRanks; ++rank)
      EXPECT_TRUE(std::filesystem::exists(folder.path + "/" + std::to_string(rank))) << rank;
  }
}

class LastWords : public testing::TestWithParam<Network> {};

// Would catch: a rank that is ended by the first one's gasnet_exit(0) while it comes out of its
// last barrier, with status 0 and without what it had still to write.
TEST_P(LastWords, AreAllWritten) {
  expect_last_words(GetParam(), 3);
}
INSTANTIATE_TEST_SUITE_P(Over, LastWords, testing::ValuesIn(networks()), network_name);

// Would catch: the same, where it takes a crowded machine.
TEST(Soak, LastWords) {
  for (const Network& over : networks()) expect_last_words(over, 200);
}

class Return : public testing::TestWithParam<Network> {};

// Would catch: a rank whose return ends the others, or that is taken for a failure.
TEST_P(Return, LeavesTheOthersToTheirOwnEnd) {
  std::vector<std::string> flags = GetParam().flags;
  flags.insert(flags.end(), {"--set", "timeouts.exit=0.5s"});
  const Result result = run({.words = {"depart", "return_early"}, .ranks = 3, .flags = flags});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(count(result.out, "rank 0 goes on"), 1u) << result.out;
}
INSTANTIATE_TEST_SUITE_P(Over, Return, testing::ValuesIn(networks()), network_name);

// Would catch: a SIGQUIT to who is on its way out by itself.
TEST(Exit, OfAllWithACodeRaisesNoSigquit) {
  const Result result = depart("all_seven");
  EXPECT_EQ(result.status, 7) << result.err;
  EXPECT_EQ(count(result.out, "caught SIGQUIT"), 0u) << result.out;
}

// SIGQUIT is the client's to catch: its handler runs on the others, and may call gasnet_exit, which
// does not change the status.
TEST(Exit, QuitHandlersRun) {
  const Result result = depart("with_quit_handler");
  EXPECT_EQ(result.status, 5) << result.err;
  EXPECT_EQ(count(result.out, "caught SIGQUIT"), 2u) << result.out;
  EXPECT_LT(result.seconds, kSoon);
}

// Would catch: a code that is lost since it is named in a handler of exit() that is older than the
// library's.
TEST(Exit, CodeNamedBehindMain) {
  const Result result = depart("named_behind_main");
  EXPECT_EQ(result.status, 6) << result.err;
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

// Would catch: a rank that does not find its launcher by what the server says, so that the others
// wait for it in vain and end it.
TEST(Exit, OfARankThatLacksTheLaunchersVariables) {
  for (const char* odd : {"0", "2"}) {
    const std::string forget =
        "[ $PMIX_RANK = " + std::string(odd) + " ] && unset CAUSEWAY_SESSION_DIR CAUSEWAY_JOB; ";
    const Result result = api_test::run_command({launch_test::run_command(), "run", "-n", "3", "--",
                                                 "sh", "-c", forget + "exec \"$@\"", "sh",
                                                 api_test::victim(), "depart", "all_zero"});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(result.err, "");
    EXPECT_LT(result.seconds, kSoon);
  }
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
