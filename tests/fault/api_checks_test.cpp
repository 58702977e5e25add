// Each diagnosis of `checks: full`: one line with the rank, the call and the rule, then the end of
// the job for everybody. Would catch a mistake that passes in silence, hangs, or crashes.
#include <gtest/gtest.h>

#include <regex>

#include "api_job.h"

namespace {

using api_test::kSoon;
using api_test::run;
using launch_test::Result;

const std::vector<std::string> kFull = {"--set", "checks=full"};
// Operations that are still under way when their call returns.
const std::vector<std::string> kOverMessages = {
    "--config", CAUSEWAY_SOURCE_DIR "/configs/sites/am-only.yaml", "--set", "checks=full"};

struct Case {
  std::string scenario;
  std::vector<std::string> message;
  bool over_messages = false;
  int speaker = 1;
  std::string kind = "misuse";
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.scenario;
}

std::string test_name(const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.scenario;
  for (char& c : name)
    if (c == '.') c = '_';
  return name;
}

// Whoever made the mistake is told what the call was made with: "... (tm 0x5, rank 2, flags 0x0)".
// Would catch a call that forgot to leave its arguments.
void expect_arguments(const Result& result) {
  const auto errors = api_test::lines_with(result.err, "error: ");
  if (errors.empty()) return;  // said already
  static const std::regex arguments(
      R"(\([a-z_]+ [-0-9a-zA-Z]+(, [a-z_0-9]+ [-0-9a-zA-Z]+)*\)\s*$)");
  EXPECT_TRUE(std::regex_search(errors[0], arguments)) << errors[0];
}

class Diagnosis : public testing::TestWithParam<Case> {};
TEST_P(Diagnosis, IsOneLine) {
  const Case& c = GetParam();
  const Result result =
      run({.words = {c.kind, c.scenario}, .flags = c.over_messages ? kOverMessages : kFull});
  EXPECT_NE(result.status, 0) << result.out << result.err;
  EXPECT_LT(result.seconds, kSoon) << result.err;
  EXPECT_EQ(result.out.find("nothing was noticed"), std::string::npos);
  EXPECT_EQ(result.out.find("no such scenario"), std::string::npos);
  api_test::expect_one_error(result, c.speaker, 2, c.message);
  if (c.speaker == 1) expect_arguments(result);
}

INSTANTIATE_TEST_SUITE_P(
    Vis, Diagnosis,
    testing::Values(
        Case{"vis.vector_outside", {"gex_VIS_VectorPutBlocking", "outside the segment"}},
        Case{"vis.strided_outside", {"gex_VIS_StridedPutBlocking", "outside the segment"}},
        Case{"vis.strided_before", {"gex_VIS_StridedPutBlocking", "outside the segment"}},
        Case{"vis.indexed_get_outside", {"gex_VIS_IndexedGetNBI", "outside the segment"}},
        Case{"vis.some_nowhere", {"gex_VIS_*Put*", "rank 1 named", "outside"}, false, 0},
        Case{"vis.unknown_unmapped", {"gex_VIS_*Put*", "rank 1 named", "cannot access"}, false, 0},
        Case{"vis.unequal", {"gex_VIS_VectorPutBlocking", "8 bytes", "16", "equal"}},
        Case{"vis.unequal_indexed", {"gex_VIS_IndexedPutBlocking", "16 bytes", "24", "equal"}},
        Case{"vis.one_end_empty", {"gex_VIS_VectorPutBlocking", "equal"}},
        Case{"vis.overlap", {"gex_VIS_VectorPutNBI", "overlap"}},
        Case{"vis.strided_overlap", {"gex_VIS_StridedPutBlocking", "overlap"}},
        Case{"vis.strided_same_place", {"gex_VIS_StridedPutBlocking", "overlap"}},
        Case{"vis.own_source", {"gex_VIS_VectorPutBlocking", "source piece", "overlaps"}},
        Case{"vis.no_list", {"gex_VIS_VectorGetBlocking", "dstlist is NULL"}},
        Case{"vis.no_strides", {"gex_VIS_StridedGetBlocking", "dststrides is NULL"}},
        Case{"vis.no_local", {"gex_VIS_VectorPutBlocking", "NULL"}},
        Case{"vis.too_much", {"gex_VIS_StridedPutBlocking", "more than memory"}},
        Case{"vis.no_such_rank", {"gex_VIS_VectorPutBlocking", "rank 2"}},
        Case{"vis.leaf_not_enabled", {"gex_Event_QueryLeaf", "gex_VIS_VectorPutNB"}, true},
        Case{"vis.unknown_flag", {"gex_VIS_VectorPutBlocking", "0x40000000"}},
        Case{"vis.not_in_my_segment", {"gex_VIS_VectorPutBlocking", "bound segment"}},
        Case{"vis.never_self", {"gex_VIS_VectorPutBlocking", "promise"}},
        Case{"vis.completion_of_get", {"gex_VIS_VectorGetBlocking", "peer-completion"}},
        Case{"vis.completion_immediate", {"gex_VIS_VectorPutBlocking", "GEX_FLAG_IMMEDIATE"}},
        Case{"vis.completion_too_long", {"gex_VIS_SetPeerCompletionHandler", "257", "256"}},
        Case{"vis.completion_index", {"gex_VIS_SetPeerCompletionHandler", "handler 5"}},
        Case{"vis.completion_unregistered", {"handler index 200", "not registered"}, false, 0}),
    test_name);

INSTANTIATE_TEST_SUITE_P(
    Event, Diagnosis,
    testing::Values(
        Case{"waited_twice", {"gex_Event_", "gex_RMA_GetNB", "synchronised already"}, true},
        Case{"tested_after_wait", {"gex_Event_", "gex_RMA_GetNB", "synchronised already"}, true},
        Case{"twice_in_an_array", {"gex_Event_", "synchronised already"}, true},
        Case{"leaf_after_root", {"gex_Event_", "gex_RMA_PutNB", "synchronised already"}, true},
        Case{"region_twice", {"gex_Event_", "gex_NBI_EndAccessRegion", "already"}, true},
        Case{"leaf_of_get", {"gex_Event_QueryLeaf", "gex_RMA_GetNB", "no leaf"}, true},
        Case{"leaf_deferred", {"gex_Event_QueryLeaf", "gex_RMA_PutNB", "no leaf"}, true},
        Case{"wait_no_op", {"gex_Event_", "GEX_EVENT_NO_OP"}},
        Case{"test_no_op", {"gex_Event_", "GEX_EVENT_NO_OP"}},
        Case{"array_no_op", {"gex_Event_", "GEX_EVENT_NO_OP"}, true},
        Case{"leaf_of_no_op", {"gex_Event_QueryLeaf", "not a root event"}},
        Case{"no_array", {"gex_Event_", "pevent is NULL"}},
        Case{"no_mask", {"gex_NBI_Wait", "event_mask 0x0"}},
        Case{"wrong_mask", {"gex_NBI_Test", "event_mask 0x100000"}},
        Case{"test_in_region", {"gex_NBI_Test", "access region"}}),
    test_name);

INSTANTIATE_TEST_SUITE_P(
    Rma, Diagnosis,
    testing::Values(Case{"nb_group", {"gex_RMA_PutNB", "lc_opt"}},
                    Case{"nbi_leaf", {"gex_RMA_PutNBI", "lc_opt"}},
                    Case{"no_lc_opt", {"gex_RMA_PutNB", "lc_opt"}},
                    Case{"no_local", {"gex_RMA_GetBlocking", "NULL", "nbytes 64", "rank 0"}},
                    Case{"overlap", {"gex_RMA_PutBlocking", "overlap", "rank 1", "nbytes 16"}},
                    Case{"never_self", {"gex_RMA_PutBlocking", "promise"}},
                    Case{"never_nbrhd", {"gex_RMA_PutBlocking", "neighborhood"}},
                    Case{"not_in_my_segment", {"gex_RMA_GetBlocking", "bound segment"}},
                    Case{"two_dispositions", {"gex_RMA_PutBlocking", "GEX_FLAG_PEER_SEG_"}},
                    Case{"unknown_flag", {"gex_RMA_PutBlocking", "0x40000000"}}),
    test_name);

INSTANTIATE_TEST_SUITE_P(
    Message, Diagnosis,
    testing::Values(Case{"am.short_index", {"gex_AM_RequestShort", "index 5"}},
                    Case{"am.medium_index", {"gex_AM_RequestMedium", "index 5"}},
                    Case{"am.no_payload", {"gex_AM_RequestMedium", "source_addr is NULL"}}),
    test_name);

INSTANTIATE_TEST_SUITE_P(Lock, Diagnosis,
                         testing::Values(Case{"lock.recursive", {"gex_HSL_Lock", "not recursive"}},
                                         Case{"lock.recursive_try",
                                              {"gex_HSL_Trylock", "not recursive"}},
                                         Case{"lock.not_held", {"gex_HSL_Unlock", "not held"}},
                                         Case{"lock.crossed", {"gex_HSL_Unlock", "reverse order"}},
                                         Case{"lock.order", {"gex_HSL_Lock", "other way round"}},
                                         Case{"lock.circle", {"gex_HSL_Lock", "other way round"}},
                                         Case{"lock.destroyed", {"gex_HSL_Destroy", "held"}}),
                         test_name);

INSTANTIATE_TEST_SUITE_P(
    Context, Diagnosis,
    testing::Values(
        Case{"keeps_a_lock", {"wrong_request", "1 handler-safe lock"}, false, 1, "in_handler"},
        Case{"stale_token", {"gex_Token_Info", "token"}, false, 1, "in_handler"},
        Case{"event_test", {"gex_Event_Test", "handler"}, true, 1, "in_handler"},
        Case{"nbi_test", {"gex_NBI_Test", "handler"}, false, 1, "in_handler"},
        Case{"region", {"gex_NBI_BeginAccessRegion", "handler"}, false, 1, "in_handler"},
        Case{"vis_put", {"gex_VIS_VectorPutBlocking", "handler"}, false, 1, "in_handler"},
        Case{"hsl.nbi_test", {"gex_NBI_Test", "handler-safe lock"}},
        Case{"hsl.vis_put", {"gex_VIS_VectorPutBlocking", "handler-safe lock"}}),
    test_name);

// What is left behind at a clean end is said, and changes nothing else.
TEST(Leak, IsSaidAtTheEnd) {
  for (const auto& [scenario, part] :
       {std::pair{"leaked_event", "1 event(s) of gex_RMA_GetNB() never synchronised"},
        std::pair{"open_region", "an access region is still open"}}) {
    const Result result = run({.words = {"misuse", scenario}, .flags = kOverMessages});
    EXPECT_EQ(result.status, 0) << result.err;
    api_test::expect_one_error(result, 1, 2, {"gasnet_exit", part});
  }
}

// Without checks the owner of the memory still looks: an address from outside is never written.
TEST(AmOnly, PiecesOutsideTheSegmentAreNoticedByTheOwner) {
  for (const char* scenario : {"vis.vector_outside", "vis.strided_outside", "vis.strided_before",
                               "vis.indexed_get_outside"}) {
    const Result result =
        run({.words = {"misuse", scenario},
             .flags = {"--config", CAUSEWAY_SOURCE_DIR "/configs/sites/am-only.yaml"}});
    EXPECT_NE(result.status, 0) << result.err;
    const auto errors = api_test::lines_with(result.err, "error: ");
    ASSERT_EQ(errors.size(), 1u) << result.err;
    EXPECT_NE(errors[0].find("outside"), std::string::npos) << errors[0];
  }
}

}  // namespace
