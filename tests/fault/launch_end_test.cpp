// How a job ends when a rank does: the status, the one line that says why, and how soon.
#include <gtest/gtest.h>

#include <regex>

#include "launch_harness.h"

namespace launch_test {
namespace {

using Words = std::vector<std::string>;

struct Death {
  const char* stage;
  Words words;
  int status;
  const char* line;
};
void PrintTo(const Death& death, std::ostream* out) {
  *out << death.stage;
}

class RankDies : public ::testing::TestWithParam<Death> {};

// Would catch: a survivor that waits for the dead rank for ever, a second line about a rank that
// only died of the first one's death, a wrong status, leftovers.
TEST_P(RankDies, EndsTheJobWithOneLineThatNamesIt) {
  Command command(job(4, GetParam().words));
  const Result result = command.run();
  EXPECT_EQ(result.status, GetParam().status) << result.out << result.err;
  EXPECT_EQ(count(result.err, "\n"), 1u) << result.err;
  EXPECT_EQ(result.err.rfind("causeway run: rank 2 (pid ", 0), 0u) << result.err;
  EXPECT_NE(result.err.find(GetParam().line), std::string::npos) << result.err;
  EXPECT_LT(result.seconds, kEndsPromptly + 0.5);
  expect_clean(command);
}

INSTANTIATE_TEST_SUITE_P(
    AtEveryStage, RankDies,
    ::testing::Values(Death{"BeforeInit",
                            {"@2:kill=9", "init", "exchange", "finalize"},
                            137,
                            "was killed by signal 9 (Killed)"},
                      Death{"InTheFence",
                            {"init", "@2:sleep=0.3", "@2:kill=11", "exchange", "finalize"},
                            139,
                            "was killed by signal 11 (Segmentation fault)"},
                      Death{"InALaterFence",
                            {"init", "exchange", "@2:kill=6", "fence", "finalize"},
                            134,
                            "was killed by signal 6 (Aborted)"},
                      Death{"AtWork",
                            {"deaf", "init", "exchange", "together", "@2:kill=9", "sleep=30"},
                            137,
                            "was killed by signal 9 (Killed)"},
                      Death{"WhileOthersLeave",
                            {"init", "exchange", "@2:sleep=0.3", "@2:kill=9", "finalize", "exit=0"},
                            137,
                            "was killed by signal 9 (Killed)"},
                      Death{"WithAStatus",
                            {"init", "exchange", "@2:exit=3", "fence", "finalize"},
                            3,
                            "exited with status 3"},
                      Death{"WithAStatusBeforeInit",
                            {"@2:exit=3", "init", "exchange", "finalize"},
                            3,
                            "exited with status 3"},
                      Death{"EarlyInAFence",
                            {"init", "exchange", "@2:exit=0", "fence", "finalize"},
                            1,
                            "exited early (status 0, not by gasnet_exit() or gaspi_proc_term())"},
                      Death{"EarlyBeforeInit",
                            {"@2:exit=0", "init", "exchange", "finalize"},
                            1,
                            "exited early (status 0, not by gasnet_exit() or gaspi_proc_term())"},
                      Death{"EarlyAtWork",
                            {"init", "exchange", "together", "@2:exit=0", "sleep=30"},
                            1,
                            "exited early (status 0, not by gasnet_exit() or gaspi_proc_term())"},
                      Death{"ByAbort",
                            {"init", "exchange", "together", "@2:abort=7", "sleep=30"},
                            7,
                            "ended the job with status 7: the test says so"}),
    [](const auto& chosen) { return std::string(chosen.param.stage); });

// Would catch: a death that is announced without its cause, or only by a signal.
TEST(Death, SurvivorsHearWhoDiedAndHow) {
  Command command(job(3, {"deaf", "init", "exchange", "together", "@1:kill=11", "sleep=30"}));
  const Result result = command.run();
  for (const char* who : {"rank 0", "rank 2"})
    EXPECT_NE(result.out.find(std::string(who) +
                              " hears: rank 1 was killed by signal 11 (Segmentation fault)"),
              std::string::npos)
        << result.out;
  EXPECT_EQ(count(result.out, "hears"), 2u) << result.out;
}

// Would catch: survivors that are killed without the warning that GASNet promises them.
TEST(Death, SurvivorsGetSigquitFirst) {
  Command command(job(3, {"catch", "init", "exchange", "together", "@1:kill=9", "sleep=30"}));
  const Result result = command.run();
  EXPECT_EQ(count(result.out, "got signal 3"), 2u) << result.out;
  EXPECT_EQ(result.status, 137);
}

// Would catch: a collective exit that is taken for a failure, and a job that fails without a word.
TEST(Exit, CollectiveStatusIsTheJobs) {
  Command command(job(4, {"init", "exchange", "finalize", "exit=3"}));
  const Result result = command.run();
  EXPECT_EQ(result.status, 3);
  EXPECT_TRUE(
      std::regex_match(result.err, std::regex("causeway run: rank [0-3] left with status 3\n")))
      << result.err;
  expect_clean(command);
}

// Would catch: a rank that left at another's word named in its place, because it was the first to
// end; and a job that goes on after failures and ends with a status, without a word.
TEST(Exit, TheFirstToLeaveIsNamed) {
  for (const char* on_failure : {"abort", "continue"}) {
    Command command(job(3,
                        {"init", "exchange", "together", "@1:leave=3", "!1:sleep=1", "!1:leave=4",
                         "@1:sleep=2", "finalize", "@1:exit=3", "exit=4"},
                        {"--on-failure", on_failure}));
    const Result result = command.run();
    EXPECT_EQ(result.status, 3);
    EXPECT_EQ(result.err.find("causeway run: rank 1 left with status 3"), 0u) << result.err;
  }
}

// Would catch: ranks that leave a job without a word at once, and are found out one after the
// other.
TEST(Exit, EarlyOnesTogetherAreNamedTogether) {
  Command command(job(6,
                      {"init", "exchange", "together", "@1:exit=0", "@2:exit=0", "@3:exit=0",
                       "@4:exit=0", "sleep=2.5", "finalize"},
                      {"--on-failure", "continue"}));
  const Result result = command.run();
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(count(result.err, "exited early"), 4u) << result.err;
}

// Would catch: a rank that left without a word and is not named, or twice, because the ranks that
// failed for want of it ended within the grace time.
TEST(Exit, AnEarlyOneIsNamedWhereOthersFailForWantOfIt) {
  const std::vector<std::string> ways[] = {
      {},
      {"--on-failure", "continue"},
      {"--hosts", "a,b", "--address", "127.0.0.1", "--agent", "env LAUNCH_TEST_HOST=%h"}};
  for (const auto& flags : ways) {
    Command command(
        job(3, {"init", "fence", "@1:exit=0", "@0:sleep=0.3", "@2:sleep=0.3", "exit=4"}, flags));
    const Result result = command.run();
    EXPECT_EQ(result.status, 4) << result.err;
    EXPECT_EQ(count(result.err, "exited early"), 1u) << result.err;
    EXPECT_EQ(count(result.err, "rank 1 (pid "), 1u) << result.err;
  }
}

// Would catch: ranks that end without a word behind a failure that the job has survived, and are
// blamed for it.
TEST(Exit, EarlyOnesBehindAFailureAreNotNamed) {
  Command command(job(3, {"init", "exchange", "together", "@1:kill=9", "sleep=0.3", "exit=0"},
                      {"--on-failure", "continue"}));
  const Result result = command.run();
  EXPECT_EQ(result.status, 137) << result.err;
  EXPECT_EQ(count(result.err, "exited early"), 0u) << result.err;
}

// Would catch: one rank's gasnet_exit(3) that leaves the others running.
TEST(Exit, OneRanksStatusEndsTheOthers) {
  Command command(job(4, {"init", "exchange", "together", "@2:leave=3", "@2:exit=3", "sleep=30"}));
  const Result result = command.run();
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(result.err, "causeway run: rank 2 left with status 3; ending ranks 0,1,3\n");
  EXPECT_LT(result.seconds, kEndsPromptly);
  Command pair(job(2, {"init", "exchange", "together", "@1:leave=3", "@1:exit=3", "sleep=30"}));
  EXPECT_EQ(pair.run().err, "causeway run: rank 1 left with status 3; ending rank 0\n");
}

// Would catch: a goodbye that nobody can ask about once its rank is gone, one that loses its code,
// and a silent end taken for a goodbye.
TEST(Exit, TheOthersCanAskHowARankLeft) {
  Command left(
      job(3, {"init", "exchange", "together", "@2:leave=7", "@2:exit=0", "goodbye=2", "finalize"}));
  const Result with_code = left.run();
  EXPECT_EQ(count(with_code.out, "rank 2 left with 7"), 2u) << with_code.out;
  EXPECT_EQ(with_code.status, 7) << with_code.err;
  Command alone(job(
      3, {"init", "exchange", "together", "@2:finalize", "@2:exit=0", "goodbye=2", "finalize"}));
  EXPECT_EQ(count(alone.run().out, "rank 2 left alone"), 2u);
}

// Would catch: a goodbye that waits for ever because the program, as one that becomes a daemon
// does, has closed descriptors that are not its own.
TEST(Exit, WithoutDescriptorsIsNoHang) {
  Command command(job(2, {"init", "exchange", "close", "finalize"}));
  const Result result = command.run(60);
  EXPECT_NE(result.status, 0);
  EXPECT_LT(result.seconds, 30.0);
  expect_clean(command);
}

// Would catch: the time for the others counted from the first that left, which ends well-behaved
// jobs whose many ranks leave one by one on few cores.
TEST(Exit, RanksMayLeaveOneByOne) {
  Command command(job(4, {"init", "exchange", "@1:sleep=3.5", "@2:sleep=7", "leave=0", "exit=0"}));
  const Result result = command.run();
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.err, "");
}

// Would catch: ranks that stay for ever after one of them has left the job with status 0.
TEST(Exit, OneRanksZeroEndsTheOthersAfterTheGrace) {
  Command command(job(4, {"init", "exchange", "together", "@2:leave=0", "@2:exit=0", "sleep=30"}));
  const Result result = command.run();
  EXPECT_EQ(result.status, 0);
  EXPECT_NE(result.err.find("rank 2 left with gasnet_exit(0) 5."), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("ending ranks 0,1,3"), std::string::npos) << result.err;
  EXPECT_GT(result.seconds, 4.9);
  EXPECT_LT(result.seconds, 5.0 + kEndsPromptly);
}

// Would catch: ranks that are ended because one of them, which has asked for nothing, is done.
TEST(Exit, OneThatLeavesAloneIsNotFollowed) {
  Command command(
      job(3, {"init", "exchange", "@2:finalize", "@2:exit=0", "sleep=2.5", "say=done", "finalize"},
          {"--set", "timeouts.exit=1s"}));
  const Result result = command.run();
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(count(result.out, "done"), 2u);
}

// Would catch: a program whose ranks all return from main, a little apart, called a failure.
TEST(Exit, RanksThatReturnTogetherAreNoFailure) {
  Command command(job(4, {"init", "exchange", "together", "@2:exit=0", "sleep=0.4", "exit=0"}));
  const Result result = command.run();
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.err, "");
}

// Would catch: rules for library programs applied to programs that do not use the library.
TEST(Exit, PlainProgramsMayEndWhenTheyLike) {
  Command command({run_command(), "run", "-n", "2", "sh", "-c",
                   "if [ $PMIX_RANK = 1 ]; then sleep 1.6; fi; echo done"});
  const Result result = command.run();
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.out, "done\ndone\n");
  EXPECT_EQ(result.err, "");
}

// Would catch: a rank that never joins makes the others wait beyond their limit, or unnamed.
TEST(Timeout, ExchangeNamesTheMissingRank) {
  Command command(job(3, {"timeout=1", "init", "@1:sleep=30", "exchange"}));
  const Result result = command.run();
  EXPECT_NE(
      result.out.find("TIMEOUT: not every rank joined within 1 s (timeouts.start): missing rank 1"),
      std::string::npos)
      << result.out;
  EXPECT_EQ(result.status, 5);
  EXPECT_LT(result.seconds, 1.0 + kEndsPromptly);
}

// Would catch: --timeout that is not enforced against ranks that ignore every polite signal.
TEST(Timeout, JobEndsWith124) {
  Command command(job(3, {"deaf", "init", "exchange", "sleep=30"}, {"--timeout", "0.5"}));
  const Result result = command.run();
  EXPECT_EQ(result.status, 124);
  EXPECT_EQ(result.err, "causeway run: the time limit of 0.5 s has passed; ending the job\n");
  EXPECT_LT(result.seconds, 0.5 + kEndsPromptly);
  expect_clean(command);
}

}  // namespace
}  // namespace launch_test
