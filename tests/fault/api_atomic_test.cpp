// Remote atomics with wrong arguments: one message with the rank, the call and the rule, then the
// end of the job for everybody.
#include <gtest/gtest.h>

#include "api_job.h"

namespace {

using api_test::run;

struct Misuse {
  std::string scenario;
  std::vector<std::string> message;
  std::vector<std::string> flags = {"--set", "checks=full"};
  int speaker = 1;
};
void PrintTo(const Misuse& misuse, std::ostream* out) {
  *out << misuse.scenario;
}
std::string test_name(const testing::TestParamInfo<Misuse>& info) {
  std::string name = info.param.scenario;
  for (char& c : name)
    if (c == '.') c = '_';
  return name;
}

class Atomic : public testing::TestWithParam<Misuse> {};
TEST_P(Atomic, EndsInOneMessage) {
  const Misuse& misuse = GetParam();
  const launch_test::Result result =
      run({.words = {"atomic", misuse.scenario}, .flags = misuse.flags});
  EXPECT_NE(result.status, 0) << result.out << result.err;
  EXPECT_LT(result.seconds, api_test::kSoon) << result.err;
  EXPECT_EQ(result.out.find("nothing was noticed"), std::string::npos);
  EXPECT_EQ(result.out.find("no such scenario"), std::string::npos);
  api_test::expect_one_error(result, misuse.speaker, 2, misuse.message);
}

INSTANTIATE_TEST_SUITE_P(
    Operation, Atomic,
    testing::Values(
        Misuse{"type", {"gex_AD_OpNBI_I32", "created for GEX_DT_I64"}},
        Misuse{"constant_type", {"gex_AD_OpNB_U64", "created for GEX_DT_I64"}},
        Misuse{"operation", {"gex_AD_OpNB_I64", "GEX_OP_SWAP is not among", "GEX_OP_FADD"}},
        Misuse{"constant_operation", {"gex_AD_OpNB_I64", "GEX_OP_SWAP is not among"}},
        Misuse{"two_operations", {"not one GEX_OP_* constant", "GEX_OP_FADD|GEX_OP_GET"}},
        Misuse{"misaligned", {"gex_AD_OpNB_I64", "not aligned", "8 bytes"}},
        Misuse{"misaligned_constant", {"gex_AD_OpNB_I64", "not aligned"}},
        Misuse{"outside", {"gex_AD_OpNB_I64", "outside the segment"}},
        Misuse{"before", {"gex_AD_OpNB_I64", "outside the segment"}},
        Misuse{"far_away", {"gex_AD_OpNB_I64", "outside the segment"}},
        Misuse{"offset_outside", {"gex_AD_OpNB_I64", "outside the segment"}},
        Misuse{"no_such_rank", {"gex_AD_OpNB_I64", "rank 2"}},
        Misuse{"no_such_jobrank", {"gex_AD_OpNB_I64", "job rank 5 is not a member"}},
        Misuse{"no_result", {"gex_AD_OpNB_I64", "result_p is NULL"}},
        Misuse{"result_outside", {"gex_AD_OpNB_I64", "segment"}},
        Misuse{"unknown_flag", {"gex_AD_OpNB_I64", "unknown flags"}},
        Misuse{"not_my_rank", {"gex_AD_OpNB_I64", "GEX_FLAG_AD_MY_RANK"}},
        Misuse{"both_places", {"gex_AD_OpNB_I64", "exclude each other"}},
        Misuse{"under_lock", {"gex_AD_OpNB_I64", "handler-safe lock"}},
        Misuse{"create.no_capability", {"gex_AD_Create", "CAPABILITY_AD"}},
        Misuse{"invalid", {"gex_AD_OpNB_U64", "GEX_AD_INVALID"}},
        Misuse{"query_invalid", {"gex_AD_QueryFlags", "GEX_AD_INVALID"}}),
    test_name);

// Noticed without checks too, by the rank that called wrongly.
INSTANTIATE_TEST_SUITE_P(
    Creation, Atomic,
    testing::Values(
        Misuse{"create.user_type", {"gex_AD_Create", "data type 0x40"}, {}},
        Misuse{"create.two_types", {"gex_AD_Create", "data type 0xc"}, {}},
        Misuse{"create.no_operation", {"gex_AD_Create", "empty"}, {}},
        Misuse{"create.user_operation", {"gex_AD_Create", "not valid"}, {}},
        Misuse{"create.float_bits", {"gex_AD_Create", "GEX_OP_FAND is not valid", "FLT"}, {}},
        Misuse{"create.unknown_flag", {"gex_AD_Create", "unknown flags"}, {}},
        Misuse{"create.two_hints", {"gex_AD_Create", "GEX_FLAG_AD_FAVOR"}, {}},
        Misuse{"create.other_type", {"gex_AD_Create", "GEX_DT_U64", "GEX_DT_I64"}, {}},
        Misuse{"create.other_operations", {"gex_AD_Create", "the same data type"}, {}},
        Misuse{"create.other_flags", {"gex_AD_Create", "the same data type"}, {}},
        Misuse{"create.right",
               {"gex_AD_Create", "atomics.mechanism is nic", "the processors'"},
               {"--set", "atomics.mechanism=nic"},
               0}),
    test_name);

// The owner refuses what comes by message, without `checks: full`.
const std::vector<std::string> kAmOnly = {"--config",
                                          CAUSEWAY_SOURCE_DIR "/configs/sites/am-only.yaml"};
INSTANTIATE_TEST_SUITE_P(
    ByMessage, Atomic,
    testing::Values(Misuse{"misaligned", {"gex_AD_Op", "rank 1", "not aligned"}, kAmOnly, 0},
                    Misuse{"outside", {"gex_AD_Op", "rank 1", "outside"}, kAmOnly, 0}),
    test_name);

}  // namespace
