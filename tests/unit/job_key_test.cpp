// The key of a job, under our launcher, in a program that starts its own ranks, and under another
// launcher.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <set>
#include <string>

#include "bootstrap/bootstrap.h"

namespace causeway {
namespace {

constexpr uint64_t kLimitNs = 30'000'000'000;
constexpr const char* kSpeaker = CAUSEWAY_BINARY_DIR
    "/bin/unit_job_key_test --gtest_filter=JobKey.DISABLED_Speaker "
    "--gtest_also_run_disabled_tests";

// A rank of the jobs below.
TEST(JobKey, DISABLED_Speaker) {
  const auto bootstrap = make_bootstrap(kLimitNs);
  std::string line = "key=";
  for (const unsigned char byte : bootstrap->job_key(kLimitNs)) {
    constexpr char digits[] = "0123456789abcdef";
    line += {digits[byte >> 4], digits[byte & 15]};
  }
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
  bootstrap->fence(kLimitNs);
  bootstrap->finalize(std::nullopt);
}

// The different keys that a job's ranks print, and how many did.
std::pair<std::set<std::string>, int> keys_of(const std::string& command) {
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  std::set<std::string> keys;
  int lines = 0;
  char line[4096];
  std::string all;
  while (std::fgets(line, sizeof line, pipe) != nullptr) {
    const std::string text = line;
    all += text;
    const size_t at = text.find("key=");
    if (at == std::string::npos) continue;
    keys.insert(text.substr(at + 4, 32));
    ++lines;
  }
  EXPECT_EQ(::pclose(pipe), 0) << all;
  return {keys, lines};
}

// Two jobs of three ranks each: one key in a job, another one in the next.
void expect_keys(const std::string& command) {
  const auto [first, ranks] = keys_of(command);
  EXPECT_EQ(ranks, 3);
  ASSERT_EQ(first.size(), 1u) << "ranks of one job have different keys";
  EXPECT_EQ(first.begin()->find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(*first.begin(), std::string(32, '0'));
  const auto [second, again] = keys_of(command);
  EXPECT_EQ(again, 3);
  EXPECT_NE(first, second) << "two jobs have one key";
}

TEST(JobKey, OfOurLauncher) {
  expect_keys(std::string(CAUSEWAY_BINARY_DIR "/bin/causeway run -n 3 -- ") + kSpeaker);
}

TEST(JobKey, OfRanksThatTheProgramStarts) {
  expect_keys(std::string("CAUSEWAY_RANKS=3 ") + kSpeaker);
}

// Would catch: a launcher without a key of its own, whose ranks each make one.
TEST(JobKey, OfAnotherLauncher) {
  if (std::system("mpirun --version 2>/dev/null | grep -q 'Open MPI'") != 0)
    GTEST_SKIP() << "no mpirun of Open MPI here";
  expect_keys(std::string("mpirun --allow-run-as-root --oversubscribe -n 3 ") + kSpeaker);
}

TEST(JobKey, OfOneRankAlone) {
  EXPECT_NE(keys_of(kSpeaker).first, keys_of(kSpeaker).first);
}

}  // namespace
}  // namespace causeway
