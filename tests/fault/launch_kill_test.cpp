// The launcher itself is killed, stopped or told to stop: nothing may be left.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "launch_harness.h"

namespace launch_test {
namespace {

using Words = std::vector<std::string>;

const Words kStubborn{"init", "exchange", "@1:daemon", "deaf", "say=ready", "sleep=30"};

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

struct Mode {
  const char* name;
  bool fork;
};
void PrintTo(const Mode& mode, std::ostream* out) {
  *out << mode.name;
}

class Guardians : public ::testing::TestWithParam<Mode> {
 protected:
  static Command stubborn() {
    if (!GetParam().fork) return Command(job(4, kStubborn));
    Words words{rank_program()};
    words.insert(words.end(), kStubborn.begin(), kStubborn.end());
    return Command(words, {{"CAUSEWAY_RANKS", "4"}});
  }
};

// Would catch: ranks, daemons or the session directory that survive the front's SIGKILL.
TEST_P(Guardians, FrontKilled) {
  Command command = stubborn();
  command.start();
  ASSERT_TRUE(command.wait_for_output("ready", 4));
  ::kill(command.pid(), SIGKILL);
  EXPECT_EQ(command.wait().status, 137);
  expect_clean(command);
}

// Would catch: a session directory made before there is anybody who would remove it.
TEST(Front, KilledWhileItStarts) {
  for (int delay_us = 0; delay_us < 40000; delay_us += 1300) {
    Command command(job(2, {"init", "exchange", "sleep=30"}));
    command.start();
    ::usleep(static_cast<useconds_t>(delay_us));
    ::kill(command.pid(), SIGKILL);
    EXPECT_EQ(command.wait().status, 137);
    expect_clean(command);
  }
}

// Would catch: the same when the process that the user does not see is killed.
TEST_P(Guardians, KeeperKilled) {
  Command command = stubborn();
  command.start();
  ASSERT_TRUE(command.wait_for_output("ready", 4));
  const pid_t keeper = command.keeper();
  ASSERT_GT(keeper, 0);
  ::kill(keeper, SIGKILL);
  const Result result = command.wait();
  EXPECT_EQ(result.status, 137);
  EXPECT_NE(result.err.find("keeper process was killed by signal 9"), std::string::npos);
  expect_clean(command);
}

// Would catch: a signal to the launcher that does not reach the ranks as SIGQUIT, a job that
// outlives it, or ends without a word on why; GASNet 1.8 section 2.1.5.
TEST_P(Guardians, SignalsEndTheJob) {
  for (const int signal : {SIGINT, SIGTERM, SIGQUIT}) {
    Command command = stubborn();
    command.start();
    ASSERT_TRUE(command.wait_for_output("ready", 4));
    const auto begin = std::chrono::steady_clock::now();
    ::kill(command.pid(), signal);
    const Result result = command.wait();
    EXPECT_EQ(result.status, 128 + signal);
    EXPECT_EQ(count(result.err, "told to end by signal " + std::to_string(signal)), 1u)
        << result.err;
    EXPECT_LT(seconds_since(begin), kEndsPromptly);
    expect_clean(command);
  }
}

INSTANTIATE_TEST_SUITE_P(Mode, Guardians, ::testing::Values(Mode{"Run", false}, Mode{"Fork", true}),
                         [](const auto& chosen) { return std::string(chosen.param.name); });

// Would catch: a signal passed on as itself, or twice.
TEST(Signals, RanksHearSigquitOnce) {
  for (const int signal : {SIGINT, SIGTERM, SIGQUIT}) {
    Command command(job(3, {"catch", "init", "exchange", "say=ready", "sleep=30"}));
    command.start();
    ASSERT_TRUE(command.wait_for_output("ready", 3));
    ::kill(command.pid(), signal);
    const Result result = command.wait();
    EXPECT_EQ(result.status, 128 + signal);
    EXPECT_EQ(count(result.out, "got signal 3"), 3u) << result.out;
    EXPECT_EQ(count(result.out, "got signal"), 3u) << result.out;
  }
}

// Would catch: a rank that does not hear the launcher because a script's background job starts with
// these signals ignored, and handlers that a forking program has installed and that get lost.
TEST(Signals, IgnoredAtStartStillWork) {
  Command command({"bash", "-c",
                   "trap '' INT QUIT; exec " + run_command() + " run -n 2 -- " + rank_program() +
                       " init exchange say=ready sleep=30"});
  command.start();
  ASSERT_TRUE(command.wait_for_output("ready", 2));
  ::kill(command.pid(), SIGINT);
  const Result result = command.wait();
  EXPECT_EQ(result.status, 130);
  EXPECT_LT(result.seconds, 5.0 * kSlowdown);
  Command forked({rank_program(), "catch", "init", "exchange", "say=ready", "sleep=30"},
                 {{"CAUSEWAY_RANKS", "2"}});
  forked.start();
  ASSERT_TRUE(forked.wait_for_output("ready", 2));
  ::kill(forked.pid(), SIGTERM);
  EXPECT_EQ(count(forked.wait().out, "got signal 3"), 2u);
}

// Would catch: Ctrl-Z that stops the launcher only, or ranks that stay stopped.
TEST(Signals, StopAndContinueReachTheRanks) {
  Command command(job(1, {"say=ready", "sleep=0.5", "say=late"}));
  command.start();
  ASSERT_TRUE(command.wait_for_output("ready", 1));
  ::kill(command.pid(), SIGTSTP);
  EXPECT_FALSE(command.wait_for_output("late", 1, 1.2));
  ::kill(command.pid(), SIGCONT);
  EXPECT_TRUE(command.wait_for_output("late", 1, 5.0));
  EXPECT_EQ(command.wait().status, 0);
}

// Would catch: a batch system's warning (SIGUSR1) that ends the launcher and never comes to the
// ranks.
TEST(Signals, WarningsReachTheRanks) {
  for (const char* warning : {"USR1", "USR2"}) {
    Command command(
        {run_command(), "run", "-n", "2", "sh", "-c",
         std::string("trap 'echo warned; exit 0' ") + warning + "; echo ready; sleep 20 & wait"});
    command.start();
    ASSERT_TRUE(command.wait_for_output("ready", 2));
    ::kill(command.pid(), std::string(warning) == "USR1" ? SIGUSR1 : SIGUSR2);
    const Result result = command.wait();
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(count(result.out, "warned"), 2u) << result.out;
  }
}

struct Ending {
  const char* name;
  Words words;  // of all ranks but 1, which is stopped
  std::vector<std::string> flags;
  int signal;  // to the launcher
  int status;
};
void PrintTo(const Ending& ending, std::ostream* out) {
  *out << ending.name;
}

// Longer than a start, and than what passes before people are told of a stop.
const std::string kLimit = std::to_string(5.0 * kSlowdown);

class WithAStoppedRank : public ::testing::TestWithParam<Ending> {};

// Would catch: a rank that is stopped and hears nothing, so that whoever waits for its end waits
// for ever, however the job ends; and a job that waits for it for seconds without a word.
TEST_P(WithAStoppedRank, TheJobEnds) {
  const Ending& ending = GetParam();
  Words words{"init", "exchange", "together", "say=ready", "@1:kill=19", "@1:sleep=30"};
  for (const std::string& word : ending.words) words.push_back("!1:" + word);
  Command command(job(3, words, ending.flags));
  command.start();
  ASSERT_TRUE(command.wait_for_output("ready", 3));
  if (ending.signal != 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));  // that it is stopped by then
    ::kill(command.pid(), ending.signal);
  }
  const Result result = command.wait(20.0);
  EXPECT_EQ(result.status, ending.status) << result.out << result.err;
  EXPECT_LT(result.seconds, 10.0 * kSlowdown) << result.err;
  EXPECT_EQ(count(result.err, ") is stopped by a signal; the job waits"),
            ending.status == 124 ? 1u : 0u)
      << result.err;
  expect_clean(command);
}

INSTANTIATE_TEST_SUITE_P(
    However, WithAStoppedRank,
    ::testing::Values(Ending{"TimeLimit", {"sleep=30"}, {"--timeout", kLimit}, 0, 124},
                      Ending{"TimeLimitOfARelay",
                             {"sleep=30"},
                             {"--hosts", "localhost", "--timeout", kLimit},
                             0,
                             124},
                      Ending{"Abort", {"sleep=0.2", "abort=7"}, {}, 0, 7},
                      Ending{"Death", {"sleep=0.2", "kill=9"}, {}, 0, 137},
                      Ending{"Exit", {"leave=0", "exit=0"}, {"--set", "timeouts.exit=200ms"}, 0, 0},
                      Ending{"Signal", {"deaf", "sleep=30"}, {}, SIGTERM, 143},
                      // Failures are survived, but nobody is left who could let it go on.
                      Ending{"OthersHaveLeft",
                             {"finalize", "exit=0"},
                             {"--on-failure=continue", "--set", "timeouts.exit=200ms"},
                             0,
                             1},
                      Ending{"OthersHaveLeftOfARelay",
                             {"finalize", "exit=0"},
                             {"--hosts", "localhost", "--on-failure=continue", "--set",
                              "timeouts.exit=200ms"},
                             0,
                             1}),
    [](const auto& chosen) { return std::string(chosen.param.name); });

// Would catch: ranks that are ended because they were stopped for a while and go on.
TEST(Stopped, WhoGoesOnInTimeIsLeftAlone) {
  Command command(job(2,
                      {"init", "exchange", "together", "@0:finalize", "@0:exit=0", "pid",
                       "sleep=0.5", "say=late", "finalize"},
                      {"--on-failure=continue"}));
  command.start();
  ASSERT_TRUE(command.wait_for_output("rank 1 pid ", 1));
  std::ifstream out(command.directory() + "/out");
  const std::string text{std::istreambuf_iterator<char>(out), {}};
  const pid_t rank = std::atoi(text.c_str() + text.find("rank 1 pid ") + 11);
  ASSERT_GT(rank, 0);
  ::kill(rank, SIGSTOP);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  ::kill(rank, SIGCONT);
  const Result result = command.wait();
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(count(result.out, "late"), 1u) << result.out;
}

// Would catch: an impatient user who has to wait for the grace time.
TEST(Signals, TheSecondEndsAtOnce) {
  Command command(job(3, {"deaf", "init", "exchange", "say=ready", "sleep=30"},
                      {"--set", "timeouts.kill=20s"}));
  command.start();
  ASSERT_TRUE(command.wait_for_output("ready", 3));
  const auto begin = std::chrono::steady_clock::now();
  ::kill(command.pid(), SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  ::kill(command.pid(), SIGINT);
  EXPECT_EQ(command.wait().status, 130);
  EXPECT_LT(seconds_since(begin), kEndsPromptly);
}

// Would catch: a daemon of a rank that outlives a job that ended well.
TEST(Descendants, DaemonsEndWithTheJob) {
  Command command(job(2, {"init", "exchange", "daemon", "finalize"}));
  EXPECT_EQ(command.run().status, 0);
  expect_clean(command);
}

// Would catch: leftovers of a job whose two guardians died together that stay for ever.
TEST(Descendants, TheNextStartSweepsWhatNobodyCould) {
  Command command(job(4, kStubborn));
  command.start();
  ASSERT_TRUE(command.wait_for_output("ready", 4));
  const pid_t keeper = command.keeper();
  ASSERT_GT(keeper, 0);
  ::kill(command.pid(), SIGSTOP);  // so that it cannot clean up between the two
  ::kill(keeper, SIGKILL);
  ::kill(command.pid(), SIGKILL);
  command.wait();
  Command next({run_command(), "run", "-n", "1", "true"},
               {{"TMPDIR", command.directory() + "/tmp"}});
  EXPECT_EQ(next.run().status, 0);
  expect_clean(command);
}

// Would catch: a live job's directory taken for a dead one's.
TEST(Descendants, TheNextStartLeavesLiveJobsAlone) {
  Command command(job(2, {"init", "exchange", "say=ready", "sleep=1", "fence", "dir", "finalize"}));
  command.start();
  ASSERT_TRUE(command.wait_for_output("ready", 2));
  Command next({run_command(), "run", "-n", "1", "true"},
               {{"TMPDIR", command.directory() + "/tmp"}});
  EXPECT_EQ(next.run().status, 0);
  EXPECT_FALSE(command.left_files().empty());
  EXPECT_EQ(command.wait().status, 0);
  expect_clean(command);
}

// Would catch: a rank that waits for ever for a PMIx server that does not answer.
TEST(Server, StoppedServerIsAnErrorInTime) {
  Command command(job(2, {"say=ready", "sleep=0.5", "timeout=1", "init", "exchange"}));
  command.start();
  ASSERT_TRUE(command.wait_for_output("ready", 2));
  const pid_t keeper = command.keeper();
  ::kill(keeper, SIGSTOP);
  std::this_thread::sleep_for(std::chrono::milliseconds(2200));
  ::kill(keeper, SIGCONT);
  const Result result = command.wait();
  EXPECT_EQ(count(result.out, "UNREACHABLE"), 2u) << result.out;
  EXPECT_NE(result.out.find("did not answer within 1 s (timeouts.start)"), std::string::npos)
      << result.out;
  EXPECT_EQ(result.status, 5);
}

}  // namespace
}  // namespace launch_test
