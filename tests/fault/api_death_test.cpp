// A rank that dies, at every stage and in every way: the job ends soon, with that rank's status,
// and says who it was and how.
#include <gtest/gtest.h>

#include "api_job.h"

namespace {

using api_test::kSoon;
using api_test::run;
using launch_test::Result;

struct Way {
  const char* name;
  int status;             // of the job
  const char* described;  // in the launcher's line about the rank
};
// A return is no death. But who waits for the rank that has left, or sends to it, ends the job.
const Way kWays[] = {{"kill", 137, "signal 9"},
                     {"segv", 139, "signal 11"},
                     {"abort", 134, "signal 6"},
                     {"exit3", 3, "status 3"},
                     {"return", 1, "has left the job"}};

struct Death {
  std::string stage;
  Way way;
};
void PrintTo(const Death& death, std::ostream* out) {
  *out << death.stage << "/" << death.way.name;
}

std::vector<Death> all(std::initializer_list<const char*> stages) {
  std::vector<Death> deaths;
  for (const char* stage : stages)
    for (const Way& way : kWays) deaths.push_back({stage, way});
  return deaths;
}

std::string test_name(const testing::TestParamInfo<Death>& death) {
  return death.param.stage + "_" + death.param.way.name;
}

class Dies : public testing::TestWithParam<Death> {};

void expect_named(const Result& result, const Way& way) {
  EXPECT_EQ(result.status, way.status) << result.err;
  EXPECT_LT(result.seconds, kSoon) << result.err;
  // exit() with a status is gasnet_exit: nothing is said of it where the others follow in time.
  if (way.status == 3) {
    EXPECT_EQ(result.err.find("error"), std::string::npos) << result.err;
    return;
  }
  // One line of the launcher names the rank and how it ended.
  bool named = false;
  for (const std::string& line : api_test::lines_with(result.err, "rank 1"))
    for (const char* how : {way.described, way.status == 1 ? "PEER_FAILED" : way.described,
                            way.status == 1 ? "exited early" : way.described})
      named = named || line.find(how) != std::string::npos;
  EXPECT_TRUE(named) << "no line says that rank 1 ended with " << way.described << ":\n"
                     << result.err;
}

TEST_P(Dies, AndTheJobEnds) {
  const Death& death = GetParam();
  expect_named(run({.words = {"die", death.stage, death.way.name},
                    .ranks = 3,
                    .flags = {"--set", "timeouts.exit=1s"}}),
               death.way);
}

// Without gets from a rank that has returned: over shared memory its segment stays mapped, and what
// was in it can be read for as long as anybody likes.
std::vector<Death> in_default_configuration() {
  std::vector<Death> deaths =
      all({"before_init", "after_init", "attach", "barrier", "storm", "get"});
  std::erase_if(deaths, [](const Death& death) {
    return death.stage == "get" && std::string(death.way.name) == "return";
  });
  return deaths;
}
INSTANTIATE_TEST_SUITE_P(Rank, Dies, testing::ValuesIn(in_default_configuration()), test_name);

// Blocked in emulated gets and messages, the survivors wait for the dead rank's answers.
class DiesUnderAmOnly : public testing::TestWithParam<Death> {};
TEST_P(DiesUnderAmOnly, AndTheJobEnds) {
  const Death& death = GetParam();
  expect_named(run({.words = {"die", death.stage, death.way.name},
                    .ranks = 3,
                    .flags = {"--config", CAUSEWAY_SOURCE_DIR "/configs/sites/am-only.yaml",
                              "--set", "timeouts.exit=1s"}}),
               death.way);
}
INSTANTIATE_TEST_SUITE_P(Rank, DiesUnderAmOnly, testing::ValuesIn(all({"barrier", "storm", "get"})),
                         test_name);

// When the others have left in order already, a signal still counts, and a plain return does not.
TEST(DiesLast, BySignal) {
  const Result result = run({.words = {"die", "exit", "kill"}, .ranks = 3});
  EXPECT_EQ(result.status, 137) << result.err;
  EXPECT_LT(result.seconds, kSoon);
}
TEST(DiesLast, ByReturning) {
  const Result result = run({.words = {"die", "exit", "return"}, .ranks = 3});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_LT(result.seconds, kSoon);
}

// Would catch: named shared memory that a job leaves behind, whether its ranks leave or die.
TEST(PosixMemory, IsGoneWithTheJob) {
  for (const char* how : {"kill", "return"}) {
    const Result result = run({.words = {"die", "exit", how},
                               .ranks = 3,
                               .flags = {"--set", "conduits.shm.options.memory=posix"}});
    EXPECT_EQ(result.status, std::string(how) == "kill" ? 137 : 0) << result.err;
  }
}

// A job of one has nobody to tell.
TEST(DiesAlone, BySignal) {
  const Result result = run({.words = {"die", "barrier", "kill"}, .ranks = 1});
  EXPECT_EQ(result.status, 137) << result.err;
}

// Many ranks: everybody is gone soon.
TEST(DiesAmongMany, BySignal) {
  const Result result = run({.words = {"die", "storm", "kill"}, .ranks = 24});
  EXPECT_EQ(result.status, 137) << result.err;
  EXPECT_LT(result.seconds, 3 * kSoon);
}

}  // namespace
