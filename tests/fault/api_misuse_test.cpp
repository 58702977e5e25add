// Wrong arguments and forbidden calls: one message with the rank and the call, then the end of
// the job for everybody.
#include <gtest/gtest.h>

#include "api_job.h"

namespace {

using api_test::kSoon;
using api_test::run;
using launch_test::Result;

const std::vector<std::string> kFullChecks = {"--set", "checks=full"};

struct Misuse {
  std::string scenario;
  std::vector<std::string> message;  // parts of the one line
  int speaker = 1;                   // the rank that says it: the guilty one unless stated
  bool needs_checks = true;
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

void expect_ended(const Result& result) {
  EXPECT_NE(result.status, 0) << result.out << result.err;
  EXPECT_LT(result.seconds, kSoon) << result.err;
  EXPECT_EQ(result.out.find("nothing was noticed"), std::string::npos);
  EXPECT_EQ(result.out.find("no such scenario"), std::string::npos);
}

class Call : public testing::TestWithParam<Misuse> {};
TEST_P(Call, EndsInOneMessage) {
  const Misuse& misuse = GetParam();
  const Result result =
      run({.words = {"misuse", misuse.scenario},
           .flags = misuse.needs_checks ? kFullChecks : std::vector<std::string>{}});
  expect_ended(result);
  api_test::expect_one_error(result, misuse.speaker, 2, misuse.message);
}

INSTANTIATE_TEST_SUITE_P(
    Argument, Call,
    testing::Values(Misuse{"unregistered", {"handler index 200", "not registered"}, 0, false},
                    Misuse{"unregistered_reply", {"handler index 200", "not registered"}, 1, false},
                    Misuse{"medium_too_long", {"gex_AM_RequestMedium", "limit"}, 1, false},
                    Misuse{"long_too_long", {"gex_AM_RequestLong", "limit"}, 1, false},
                    Misuse{"no_such_rank", {"gex_AM_RequestShort", "rank 2"}},
                    Misuse{"put_no_such_rank", {"gex_RMA_PutBlocking", "rank 5"}},
                    Misuse{"value_of_nine_bytes", {"gex_RMA_PutBlockingVal", "9"}},
                    Misuse{"value_of_no_bytes", {"gex_RMA_GetBlockingVal", "0"}},
                    Misuse{"pair_without_endpoint",
                           {"gex_RMA_GetBlocking", "no endpoint with index 1"},
                           1,
                           false},
                    Misuse{"medium_deferred", {"gex_AM_RequestMedium", "lc_opt"}, 1, false}),
    test_name);

INSTANTIATE_TEST_SUITE_P(
    OutsideTheSegment, Call,
    testing::Values(Misuse{"outside.put_blocking", {"gex_RMA_PutBlocking", "outside the segment"}},
                    Misuse{"outside.put_nb", {"gex_RMA_PutNB", "outside the segment"}},
                    Misuse{"outside.put_nbi", {"gex_RMA_PutNBI", "outside the segment"}},
                    Misuse{"outside.put_blocking_val", {"gex_RMA_PutBlockingVal", "outside"}},
                    Misuse{"outside.put_nb_val", {"gex_RMA_PutNBVal", "outside"}},
                    Misuse{"outside.put_nbi_val", {"gex_RMA_PutNBIVal", "outside"}},
                    Misuse{"outside.get_blocking", {"gex_RMA_GetBlocking", "outside"}},
                    Misuse{"outside.get_nb", {"gex_RMA_GetNB", "outside"}},
                    Misuse{"outside.get_nbi", {"gex_RMA_GetNBI", "outside"}},
                    Misuse{"outside.get_blocking_val", {"gex_RMA_GetBlockingVal", "outside"}},
                    Misuse{"outside.long", {"gex_AM_RequestLong", "outside"}}),
    test_name);

// Would catch: a network that refuses a range outside the segment, told without the call that named
// it.
TEST(OutsideTheSegment, ANetworkRefusesWithoutChecks) {
  for (const char* call :
       {"put_blocking", "put_nb", "put_nbi", "get_blocking", "get_nb", "get_nbi"}) {
    const Result result = run({.words = {"misuse", std::string("outside.") + call},
                               .flags = {"--set", "peers=[{use: [self, eth]}]"}});
    expect_ended(result);
    EXPECT_NE(result.err.find("outside the segment"), std::string::npos) << call << result.err;
    EXPECT_NE(result.err.find("gex_RMA_"), std::string::npos) << call << result.err;
  }
}

// Would catch: memory of a rank without a segment named to a conduit that has no right to it, which
// crashed over shared memory.
TEST(WithoutASegment, TheOwnerSaysSo) {
  for (const char* call :
       {"put_blocking", "put_nbi", "put_blocking_val", "get_nb", "get_blocking_val"}) {
    const Result result = run({.words = {"unattached", std::string("outside.") + call}});
    expect_ended(result);
    api_test::expect_one_error(result, 0, 2, {"gex_RMA_", "no segment is bound here"});
  }
}

// What flags assert of addresses and peers, and is not true.
INSTANTIATE_TEST_SUITE_P(
    Assertion, Call,
    testing::Values(Misuse{"flags.never_self", {"gex_RMA_PutBlocking", "not this process"}},
                    Misuse{"flags.never_nbrhd", {"gex_RMA_GetNB", "outside the neighborhood"}},
                    Misuse{"flags.self_bound", {"gex_RMA_PutBlocking", "bound segment"}},
                    Misuse{"flags.self_offset", {"gex_RMA_PutBlocking", "bound segment"}},
                    Misuse{"flags.self_some", {"gex_RMA_GetBlocking", "in none"}},
                    Misuse{"flags.peer_bound", {"gex_RMA_PutBlocking", "outside the segment"}},
                    Misuse{"flags.peer_offset", {"gex_RMA_PutBlocking", "outside the segment"}},
                    Misuse{"flags.peer_some", {"gex_RMA_Put", "outside"}, 0, false},
                    Misuse{"flags.peer_unknown", {"gex_RMA_Put", "cannot access"}, 0, false},
                    Misuse{"flags.peer_unknown_get", {"gex_RMA_Get", "cannot access"}, 0, false},
                    Misuse{"flags.two_of_peer", {"gex_RMA_PutBlocking", "more than one"}},
                    Misuse{"flags.two_of_copy", {"gex_RMA_PutNBI", "LC_COPY"}}),
    test_name);

INSTANTIATE_TEST_SUITE_P(
    Endpoints, Call,
    testing::Values(Misuse{"ep.message_to_nobody", {"no endpoint with index 5"}, 0, false},
                    Misuse{"ep.unpublished", {"gex_RMA_PutBlocking", "index 1"}, 1, false},
                    Misuse{"ep.pair_in_collective", {"gex_TM_Split", "TM-pair"}, 1, false},
                    Misuse{"ep.pair_translated", {"gex_TM_TranslateRankToJobrank", "TM-pair"}},
                    Misuse{"ep.no_such_job_rank", {"gex_TM_TranslateJobrankToRank", "rank 99"}},
                    Misuse{"ep.no_am", {"gex_AM_RequestShort", "CAPABILITY_AM"}},
                    Misuse{"ep.no_rma", {"gex_RMA_PutBlocking", "CAPABILITY_RMA"}},
                    Misuse{"ep.no_vis", {"gex_VIS_VectorPutBlocking", "CAPABILITY_VIS"}},
                    Misuse{"ep.pair_index", {"gex_TM_Pair", "GASNET_MAXEPS"}, 1, false}),
    test_name);

INSTANTIATE_TEST_SUITE_P(
    Teams, Call,
    testing::Values(Misuse{"tm.negative_color", {"gex_TM_Split", "color -1"}, 1, false},
                    Misuse{"tm.unknown_flags", {"gex_TM_Split", "unknown bits"}, 1, false},
                    Misuse{"tm.scratch_outside", {"gex_TM_Split", "outside the bound"}, 1, false},
                    Misuse{"tm.no_scratch_size", {"gex_TM_Split", "minimum"}, 1, false},
                    Misuse{"tm.dup_without_mode", {"gex_TM_Dup", "exactly one of"}, 1, false},
                    Misuse{"tm.create_without_mode", {"gex_TM_Create", "exactly one"}, 1, false},
                    Misuse{"tm.create_twice_named", {"gex_TM_Create", "twice"}, 1, false},
                    Misuse{"tm.create_no_such_rank", {"gex_TM_Create", "rank 9"}, 1, false},
                    Misuse{"tm.create_no_endpoint", {"gex_TM_Create", "does not exist"}, 1, false},
                    Misuse{"tm.create_miscounted", {"gex_TM_Create", "num_new_tms"}, 1, false},
                    Misuse{"tm.destroy_primordial", {"gex_TM_Destroy", "primordial"}, 1, false},
                    Misuse{"tm.destroy_pair", {"gex_TM_Destroy", "TM-pair"}, 1, false},
                    Misuse{"tm.vis_invalid", {"gex_VIS_VectorPutBlocking", "GEX_TM_INVALID"}},
                    Misuse{"tm.segment_attached", {"gex_Segment_Destroy", "is attached"}},
                    Misuse{"tm.destroy_invalid", {"gex_TM_Destroy", "GEX_TM_INVALID"}, 1, false}),
    test_name);

INSTANTIATE_TEST_SUITE_P(
    UnderALock, Call,
    testing::Values(Misuse{"hsl.request", {"gex_AM_RequestShort", "handler-safe lock"}},
                    Misuse{"hsl.request_medium", {"gex_AM_RequestMedium", "handler-safe lock"}},
                    Misuse{"hsl.put", {"handler-safe lock"}},
                    Misuse{"hsl.get", {"handler-safe lock"}},
                    Misuse{"hsl.poll", {"gasnet_AMPoll", "handler-safe lock"}},
                    Misuse{"hsl.nbi_wait", {"gex_NBI_Wait", "handler-safe lock"}},
                    Misuse{"hsl.query_segment",
                           {"gex_EP_QueryBoundSegmentNB", "handler-safe lock"}},
                    Misuse{"hsl.translate", {"gex_TM_TranslateRankToJobrank", "handler-safe lock"}},
                    Misuse{"hsl.barrier", {"gex_Coll_BarrierNB", "handler-safe lock"}}),
    test_name);

class InHandler : public testing::TestWithParam<Misuse> {};
TEST_P(InHandler, EndsInOneMessage) {
  const Misuse& misuse = GetParam();
  const Result result = run({.words = {"in_handler", misuse.scenario}, .flags = kFullChecks});
  expect_ended(result);
  api_test::expect_one_error(result, misuse.speaker, 2, misuse.message);
}

INSTANTIATE_TEST_SUITE_P(
    ForbiddenCall, InHandler,
    testing::Values(Misuse{"request", {"gex_AM_RequestShort", "handler"}},
                    Misuse{"query_segment", {"gex_EP_QueryBoundSegmentNB", "handler"}},
                    Misuse{"query_segment_before_0_13", {"gex_Segment_QueryBound", "handler"}},
                    Misuse{"translate", {"gex_TM_TranslateRankToJobrank", "handler"}},
                    Misuse{"translate_back", {"gex_TM_TranslateJobrankToRank", "handler"}},
                    Misuse{"translate_to_endpoint", {"gex_TM_TranslateRankToEP", "handler"}},
                    Misuse{"request_medium", {"gex_AM_RequestMedium", "handler"}},
                    Misuse{"put", {"handler"}}, Misuse{"get", {"handler"}},
                    Misuse{"poll", {"gasnet_AMPoll", "handler"}},
                    Misuse{"nbi_wait", {"gex_NBI_Wait", "handler"}},
                    Misuse{"barrier", {"gex_Coll_BarrierNB", "handler"}},
                    Misuse{"reply_twice", {"gex_AM_ReplyShort", "replied"}},
                    Misuse{"reply_from_reply", {"gex_AM_ReplyShort"}},
                    Misuse{"reply_medium_too_long", {"gex_AM_ReplyMedium", "limit"}}),
    test_name);

// The range checks hold for emulated one-sided operations as well, on the side that owns the
// memory, without `checks: full`: an address from outside must never be written.
TEST(AmOnly, OutsideTheSegmentIsNoticedByTheOwner) {
  for (const char* scenario : {"outside.put_blocking", "outside.get_blocking", "outside.long"}) {
    const Result result =
        run({.words = {"misuse", scenario},
             .flags = {"--config", CAUSEWAY_SOURCE_DIR "/configs/sites/am-only.yaml"}});
    expect_ended(result);
    const auto errors = api_test::lines_with(result.err, "error: ");
    ASSERT_EQ(errors.size(), 1u) << result.err;
    EXPECT_NE(errors[0].find("outside"), std::string::npos) << errors[0];
  }
}

// Over messages the operation is pending when its leaf is asked for.
TEST(AmOnly, LeafThatWasSuppressed) {
  const Result result =
      run({.words = {"misuse", "ep.leaf_suppressed"},
           .flags = {"--config", CAUSEWAY_SOURCE_DIR "/configs/sites/am-only.yaml", "--set",
                     "checks=full"}});
  expect_ended(result);
  const auto errors = api_test::lines_with(result.err, "error: ");
  ASSERT_EQ(errors.size(), 1u) << result.err;
  EXPECT_NE(errors[0].find("gex_Event_QueryLeaf"), std::string::npos) << errors[0];
}

}  // namespace
