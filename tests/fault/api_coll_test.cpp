// Collectives with wrong arguments: one message with the rank, the call and the rule, then the end
// of the job for everybody.
#include <gtest/gtest.h>

#include "api_job.h"

namespace {

struct Misuse {
  std::string scenario;
  std::vector<std::string> message;
  bool needs_checks = true;
};
void PrintTo(const Misuse& misuse, std::ostream* out) {
  *out << misuse.scenario;
}

std::string test_name(const testing::TestParamInfo<Misuse>& info) {
  return info.param.scenario;
}

class Coll : public testing::TestWithParam<Misuse> {};
TEST_P(Coll, EndsInOneMessage) {
  const Misuse& misuse = GetParam();
  const std::vector<std::string> checks = {"--set", "checks=full"};
  const launch_test::Result result =
      api_test::run({.words = {"coll", misuse.scenario},
                     .flags = misuse.needs_checks ? checks : std::vector<std::string>{}});
  EXPECT_NE(result.status, 0) << result.out << result.err;
  EXPECT_LT(result.seconds, api_test::kSoon) << result.err;
  EXPECT_EQ(result.out.find("nothing was noticed"), std::string::npos);
  EXPECT_EQ(result.out.find("no such scenario"), std::string::npos);
  api_test::expect_one_error(result, 1, 2, misuse.message);
}

INSTANTIATE_TEST_SUITE_P(
    Argument, Coll,
    testing::Values(
        Misuse{"broadcast_root", {"gex_Coll_BroadcastNB", "root 2"}},
        Misuse{"broadcast_flags", {"gex_Coll_BroadcastNB", "flags must be 0"}, false},
        Misuse{"broadcast_two_places", {"gex_Coll_BroadcastNB", "one of GEX_FLAG_SELF"}, false},
        Misuse{"broadcast_not_bound", {"gex_Coll_BroadcastNB", "bound segment"}, true},
        Misuse{"all_in_no_segment", {"gex_Coll_ReduceToAllNB", "is in none"}, true},
        Misuse{"broadcast_team", {"gex_Coll_BroadcastNB", "GEX_TM_INVALID"}, false},
        Misuse{"broadcast_pair", {"gex_Coll_BroadcastNB", "TM-pair"}, false},
        Misuse{"broadcast_no_dst", {"gex_Coll_BroadcastNB", "dst is NULL"}},
        Misuse{"one_root", {"gex_Coll_ReduceToOneNB", "root 7"}},
        Misuse{"one_no_src", {"gex_Coll_ReduceToOneNB", "src is NULL"}},
        Misuse{"all_type", {"gex_Coll_ReduceToAllNB", "not one GEX_DT_* constant"}},
        Misuse{"all_size", {"gex_Coll_ReduceToAllNB", "dt_sz is 4"}},
        Misuse{"all_no_size", {"gex_Coll_ReduceToAllNB", "dt_sz must not be 0"}},
        Misuse{"all_no_count", {"gex_Coll_ReduceToAllNB", "dt_cnt must not be 0"}},
        Misuse{"all_too_many", {"gex_Coll_ReduceToAllNB", "more than memory has"}},
        Misuse{"all_operation", {"gex_Coll_ReduceToAllNB", "is no reduction"}, false},
        Misuse{"all_two_operations", {"gex_Coll_ReduceToAllNB", "is no reduction"}, false},
        Misuse{"all_bits_of_floats", {"gex_Coll_ReduceToAllNB", "is no reduction"}, false},
        Misuse{"all_user_type", {"gex_Coll_ReduceToAllNB", "GEX_DT_USER needs"}},
        Misuse{"all_no_operator", {"gex_Coll_ReduceToAllNB", "user_op is NULL"}},
        Misuse{"all_overlap", {"gex_Coll_ReduceToAllNB", "overlap"}},
        Misuse{"all_flags", {"gex_Coll_ReduceToAllNB", "flags must be 0"}, false},
        Misuse{"all_no_capability", {"gex_Coll_ReduceToAllNB", "CAPABILITY_COLL"}},
        Misuse{"all_talkative", {"gex_RMA_PutBlockingVal", "reduction operator"}}),
    test_name);

}  // namespace
