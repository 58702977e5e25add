// A job hangs, and a user asks its ranks what they wait for.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "api_job.h"

namespace {

using api_test::network;
using launch_test::Result;

// Starts these words on two ranks without native puts and gets, asks three times, a moment after
// the ranks are at it and later, and ends the job.
Result ask(const std::vector<std::string>& words, const char* progress = "none") {
  std::vector<std::string> command = {launch_test::run_command(), "run", "-n", "2"};
  for (const std::string& flag : network("am_only").flags) command.push_back(flag);
  command.insert(command.end(), {"--set", std::string("threads.progress=") + progress, "--"});
  command.insert(command.end(), words.begin(), words.end());
  launch_test::Command job(command);
  job.start();
  EXPECT_TRUE(job.wait_for_output("at it", 2));
  for (int i = 0; i < 3; ++i) {
    ::usleep(static_cast<useconds_t>(500'000 * kSlowdown));
    ::kill(job.pid(), SIGURG);
  }
  ::usleep(static_cast<useconds_t>(300'000 * kSlowdown));
  ::kill(job.pid(), SIGTERM);
  const Result result = job.wait();
  EXPECT_TRUE(job.left_processes().empty());
  return result;
}

Result ask(const std::string& what) {
  return ask({api_test::victim(), "asked", what});
}

struct Wait {
  std::string what, call, subject;
};
void PrintTo(const Wait& wait, std::ostream* out) {
  *out << wait.what;
}

class Asked : public testing::TestWithParam<Wait> {};

// Would catch: a rank that hangs and does not say in which call, for whom, and for how long; and
// one whom the question ends.
TEST_P(Asked, RankSaysCallAndPeer) {
  const Wait& wait = GetParam();
  const Result result = ask(wait.what);
  EXPECT_EQ(result.status, 128 + SIGTERM) << result.err;
  const auto lines = api_test::lines_with(result.err, "asked: " + wait.call + " has waited for ");
  ASSERT_FALSE(lines.empty()) << result.err;
  for (const std::string& line : lines) {
    EXPECT_NE(line.find("rank 0/2: "), std::string::npos) << line;
    EXPECT_NE(line.find(" s for " + wait.subject), std::string::npos) << line;
  }
  // The other rank waits for nothing, and says so.
  EXPECT_FALSE(api_test::lines_with(result.err, "rank 1/2: asked: no call").empty()) << result.err;
}

INSTANTIATE_TEST_SUITE_P(
    What, Asked,
    testing::Values(Wait{"put", "gex_RMA_PutBlocking()", "rank 1"},
                    Wait{"get_event", "gex_Event_Wait()", "a get from rank 1"},
                    Wait{"implicit_puts", "gex_NBI_Wait()", "2 puts"},
                    Wait{"barrier", "gex_Event_Wait()", "gex_Coll_BarrierNB(), number "},
                    Wait{"lock", "gex_HSL_Lock()", "the lock at 0x"},
                    Wait{"block_until", "GASNET_BLOCKUNTIL()", "a condition of the program's"},
                    Wait{"among_messages", "GASNET_BLOCKUNTIL()", "a condition of the program's"}),
    [](const auto& chosen) { return chosen.param.what; });

#ifdef GASPI_ASKED
// Would catch: a GASNet and a GASPI program in one job, which took the other's words for their own
// and printed bytes.
TEST(AskedInGaspi, ProgramsOfOtherInterfacesAreNamed) {
  const Result result =
      launch_test::Command({launch_test::run_command(), "run", "-n", "1", GASPI_ASKED, "term", ":",
                            "-n", "1", API_VICTIM, "hello"})
          .run(60);
  EXPECT_TRUE(result.status > 0 && result.status < 128) << result.status;
  EXPECT_FALSE(api_test::lines_with(result.err, "a job has one interface").empty()) << result.err;
}

// Would catch: a rank that hangs in a call of GASPI's which waits on its own, not by the engine; a
// wait for notifications that does not say of which segment.
TEST(AskedInGaspi, RankSaysCall) {
  for (const char* progress : {"none", "thread"}) {
    for (const auto& [word, call] : {std::pair{"passive", "gaspi_passive_receive()"},
                                     std::pair{"notification", "gaspi_notify_waitsome()"},
                                     std::pair{"term", "gaspi_proc_term()"}}) {
      const Result result = ask({GASPI_ASKED, word}, progress);
      const std::string told = "rank 0/2: asked: " + std::string(call) + " has waited for ";
      const std::vector<std::string> lines = api_test::lines_with(result.err, told);
      ASSERT_FALSE(lines.empty()) << progress << ": " << result.err;
      const bool named =
          lines[0].find("one of 2 notifications from id 5 on, segment 0") != std::string::npos;
      EXPECT_EQ(named, std::string(word) == "notification") << lines[0];
    }
  }
}

// Would catch: a wait in a collective of GASPI's without the group and the collective, and a rank
// that the group lacks and `causeway ps` does not name.
TEST(AskedInGaspi, RanksThatACollectiveLacksAreNamed) {
  for (const auto& [what, told] :
       {std::pair{"barrier",
                  "gaspi_barrier(), number 1 on a group of 3, id 0: not waited for, nor a "
                  "later one, by ranks 1, 2"},
        std::pair{"group",
                  "gaspi_barrier(), number 0 on a group of 2, id 1: waited for by rank 0"}}) {
    launch_test::Command job({launch_test::run_command(), "run", "-n", "3", GASPI_ASKED, what});
    job.start();
    EXPECT_TRUE(job.wait_for_output("at it", 3));
    ::usleep(static_cast<useconds_t>(500'000 * kSlowdown));
    const Result shown =
        launch_test::Command({launch_test::run_command(), "ps", std::to_string(job.pid())},
                             {{"COLUMNS", "1000"}})
            .run();
    EXPECT_NE(shown.out.find(told), std::string::npos) << shown.out;
    ::kill(job.pid(), SIGTERM);
    job.wait();
  }
}
#endif

// Would catch: a question that ends a program which computes, or one that is not answered.
TEST(AskedAtWork, RankSaysThatItWaitsForNothing) {
  const Result result = ask("nothing");
  EXPECT_EQ(result.status, 128 + SIGTERM) << result.err;
  EXPECT_FALSE(api_test::lines_with(result.err, "rank 0/2: asked: no call").empty()) << result.err;
  EXPECT_EQ(api_test::lines_with(result.err, "has waited for").size(), 0u) << result.err;
}

// Would catch: parts of operations that nobody answers, and no line that says whom they went to.
TEST(AskedAboutMessages, RankNamesThatWhichOwesAnswers) {
  const Result result = ask("implicit_puts");
  EXPECT_FALSE(api_test::lines_with(result.err, "rank 0/2: asked: rank 1 owes 2 answer").empty())
      << result.err;
}

}  // namespace
