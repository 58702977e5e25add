// A rank has returned from main, and others go on without it, with it, or with what looks like it.
#include <gtest/gtest.h>

#include "api_job.h"

namespace {

using api_test::kSoon;
using api_test::network;
using api_test::run;
using launch_test::count;
using launch_test::Result;

struct Call {
  std::string network, what;
};
void PrintTo(const Call& call, std::ostream* out) {
  *out << call.what << " over " << call.network;
}
std::string test_name(const testing::TestParamInfo<Call>& info) {
  return info.param.network + "_" + info.param.what;
}

class Left : public testing::TestWithParam<Call> {};

// Would catch: a rank that looks for news while it tells of what it has lost, and so for ever; and
// a call that waits for ever for a rank that has left: for the reply to a request that nobody
// handles, an answer, its part in a collective; and an end that does not say who is missing.
TEST_P(Left, RankIsNamedToWhoNeedsIt) {
  const Call& call = GetParam();
  std::vector<std::string> flags = network(call.network).flags;
  if (call.network != "shm" && flags.empty()) GTEST_SKIP() << call.network << " was not built";
  flags.insert(flags.end(), {"--set", "timeouts.exit=0.5s"});
  const Result result = run({.words = {"left", call.what}, .ranks = 3, .flags = flags});
  EXPECT_EQ(result.status, 1) << result.out << result.err;
  EXPECT_EQ(count(result.out, "came through"), 0u) << result.out;
  EXPECT_LT(result.seconds, call.what == "gets_meanwhile" ? 2 * kSoon : kSoon) << result.err;
  const auto errors = api_test::lines_with(result.err, "error: ");
  ASSERT_FALSE(errors.empty()) << result.err;
  for (const std::string& line : errors) {
    EXPECT_NE(line.find("rank 2"), std::string::npos) << line;
    EXPECT_NE(line.find("has left the job"), std::string::npos) << line;
  }
}

INSTANTIATE_TEST_SUITE_P(
    For, Left,
    testing::Values(Call{"shm", "request"}, Call{"shm", "negotiated"}, Call{"shm", "barrier"},
                    Call{"shm", "named_barrier"}, Call{"shm", "broadcast"}, Call{"shm", "reduce"},
                    Call{"shm", "gather_all"}, Call{"am_only", "put"}, Call{"am_only", "memset"},
                    Call{"am_only", "strided_put"}, Call{"am_only", "reduce"},
                    Call{"ofi", "request"}, Call{"ofi", "broadcast"}, Call{"ofi", "get"},
                    Call{"ofi", "put"}, Call{"ucx", "request"}, Call{"ucx", "broadcast"},
                    Call{"ucx", "get"}, Call{"eth", "get"}, Call{"eth", "put"},
                    Call{"ofi", "gets_meanwhile"}, Call{"ucx", "gets_meanwhile"},
                    Call{"eth", "gets_meanwhile"}),
    test_name);

// Would catch: a job of clients that do not survive failures, told to go on after them, whose ranks
// wait for ever for a rank that has returned.
TEST(LeftInOrder, IsNamedWhereTheJobGoesOnAfterFailures) {
  const Result result = run({.words = {"left", "barrier"},
                             .ranks = 3,
                             .flags = {"--on-failure", "continue", "--set", "timeouts.exit=0.5s"}});
  EXPECT_EQ(result.status, 1) << result.out << result.err;
  EXPECT_LT(result.seconds, kSoon) << result.err;
  EXPECT_NE(result.err.find("rank 2, which has left the job"), std::string::npos) << result.err;
}

// Would catch: a rank that is blamed because it has left, after it had done its part, while another
// one that computes is what everybody waits for.
TEST(LeftInOrder, IsNotWhoIsWaitedForWhileOthersWork) {
  std::vector<std::string> flags = network("am_only").flags;
  flags.insert(flags.end(), {"--set", "timeouts.exit=0.5s"});
  const Result result = run({.words = {"left", "at_work"}, .ranks = 4, .flags = flags});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "");
}

}  // namespace
