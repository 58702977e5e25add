// A rank that dies in the middle of transfers with device memory: buffers are granted, filled and
// copied by it and for it. The job ends soon, with that rank's status and one line that says who it
// was and how; no process, file or shared memory is left. Over the stand-in for a driver, as a
// device whose copies take long, with fewer buffers than transfers.
#include <gtest/gtest.h>

#include "api_job.h"

namespace {

using launch_test::Result;
using Words = std::vector<std::string>;

struct Death {
  std::string way;  // of the bytes
  Words flags;
  std::string how;
  unsigned after_us = 200000;
};
void PrintTo(const Death& death, std::ostream* out) {
  *out << death.way << "/" << death.how << "/" << death.after_us;
}
std::string test_name(const testing::TestParamInfo<Death>& info) {
  const Death& death = info.param;
  return death.way + "_" + death.how + "_" + std::to_string(death.after_us);
}

Words site(const std::string& name) {
  return {"--config", CAUSEWAY_SOURCE_DIR "/configs/sites/" + name + ".yaml"};
}

Result run_victim(const Words& flags, const Words& how) {
  Words words = {
      launch_test::run_command(), "run", "-n", "3", "--set", "memkinds.cuda.chunk=64KiB", "--set",
      "memkinds.cuda.depth=2"};
  words.insert(words.end(), flags.begin(), flags.end());
  words.insert(words.end(), {"--", DEVICE_VICTIM});
  words.insert(words.end(), how.begin(), how.end());
  return api_test::run_command(
      words, {{"LD_LIBRARY_PATH", STANDIN_CUDA}, {"STANDIN_BANDWIDTH", "0.05"}}, 60.0);
}

class DiesWithDevices : public testing::TestWithParam<Death> {};

// Would catch a survivor that waits for a grant, for a buffer of the dead rank's or for a copy that
// nobody finishes; a copy that fails and speaks before the death is told; objects left behind.
TEST_P(DiesWithDevices, AndTheJobEnds) {
  const Death& death = GetParam();
  const Result result = run_victim(death.flags, {death.how, std::to_string(death.after_us)});
  // UCX 1.13 ends a process by itself when a put of a peer that is gone is still to be acknowledged
  // (its own line, and SIGABRT); what the others do, and what is left, has been looked at.
  if (result.err.find("Fatal: unexpected error: Endpoint") != std::string::npos) {
    GTEST_SKIP() << "UCX itself ended a survivor: " << result.err;
  }
  EXPECT_EQ(result.status, 137) << result.err;
  EXPECT_LT(result.seconds, 3 * api_test::kSoon) << result.err;
  EXPECT_EQ(result.out, "");
  const Words named = api_test::lines_with(result.err, "rank 1");
  EXPECT_EQ(named.size(), 1u) << result.err;
  if (!named.empty()) {
    EXPECT_NE(named[0].find("signal 9"), std::string::npos) << named[0];
  }
  EXPECT_EQ(launch_test::count(result.err, "error: "), named.empty() ? 1u : 0u) << result.err;
}

const Words kStaged = {"--set", "memkinds.cuda.ipc=never"};
Words staged_over(const std::string& name) {
  Words flags = site(name);
  flags.insert(flags.end(), kStaged.begin(), kStaged.end());
  return flags;
}

// Would catch a wait without an end for buffers of a rank that has returned from main.
TEST(LeavesWithDevices, AndIsNamedToWhoWaitsForIt) {
  Words flags = kStaged;
  flags.insert(flags.end(), {"--set", "timeouts.exit=0.5s"});
  const Result result = run_victim(flags, {"left"});
  EXPECT_EQ(result.status, 1) << result.err;
  EXPECT_LT(result.seconds, 3 * api_test::kSoon) << result.err;
  for (const std::string& line : api_test::lines_with(result.err, "error: "))
    EXPECT_NE(line.find("rank 1, which has left the job"), std::string::npos) << line;
}

// Would catch: a progress thread that keeps still, and is waited for, since its rank counts as
// leaving.
TEST(LeavesWithDevices, TogetherBesideAProgressThread) {
  const Result result =
      run_victim({"--set", "threads.progress=thread", "--set", "timeouts.exit=0.5s"}, {"all_left"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_LT(result.seconds, 3 * api_test::kSoon);
}

std::vector<Death> moments(const std::string& way, const Words& flags,
                           std::initializer_list<unsigned> moments) {
  std::vector<Death> out = {{way, flags, "asleep"}};
  for (const unsigned after : moments) out.push_back({way, flags, "busy", after});
  return out;
}

INSTANTIATE_TEST_SUITE_P(Ipc, DiesWithDevices, testing::ValuesIn(moments("ipc", {}, {9000})),
                         test_name);
INSTANTIATE_TEST_SUITE_P(Staged, DiesWithDevices,
                         testing::ValuesIn(moments("shm", kStaged, {2000, 9000, 30000})),
                         test_name);
INSTANTIATE_TEST_SUITE_P(Messages, DiesWithDevices,
                         testing::ValuesIn(moments("am_only", staged_over("am-only"), {9000})),
                         test_name);
#ifdef HAVE_OFI
INSTANTIATE_TEST_SUITE_P(Ofi, DiesWithDevices,
                         testing::ValuesIn(moments("ofi", staged_over("ofi-tcp"), {9000, 30000})),
                         test_name);
#endif
#ifdef HAVE_UCX
INSTANTIATE_TEST_SUITE_P(Ucx, DiesWithDevices,
                         testing::ValuesIn(moments("ucx", staged_over("ucx-tcp"), {9000, 30000})),
                         test_name);
#endif

}  // namespace
