// Wrong uses of negotiated payloads and wrong assertions about messages: one line with the rank and
// the call, then the end of the job for everybody.
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
  bool needs_checks = false;
  std::string kind = "misuse";
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

class Negotiated : public testing::TestWithParam<Misuse> {};
TEST_P(Negotiated, EndsInOneMessage) {
  const Misuse& misuse = GetParam();
  const Result result =
      run({.words = {misuse.kind, misuse.scenario},
           .flags = misuse.needs_checks ? kFullChecks : std::vector<std::string>{}});
  EXPECT_NE(result.status, 0) << result.out << result.err;
  EXPECT_LT(result.seconds, kSoon) << result.err;
  EXPECT_EQ(result.out.find("nothing was noticed"), std::string::npos);
  EXPECT_EQ(result.out.find("no such scenario"), std::string::npos);
  api_test::expect_one_error(result, 1, 2, misuse.message);
}

INSTANTIATE_TEST_SUITE_P(
    Prepare, Negotiated,
    testing::Values(
        Misuse{"negotiate.least_too_long",
               {"gex_AM_PrepareRequestMedium", "least_payload", "ALLOC"}},
        Misuse{"negotiate.least_over_most", {"gex_AM_PrepareRequestMedium", "most_payload"}},
        Misuse{"negotiate.too_many_arguments", {"gex_AM_PrepareRequestMedium", "numargs is 17"}},
        Misuse{"negotiate.completion_without_buffer", {"lc_opt must be NULL"}},
        Misuse{"negotiate.buffer_without_completion", {"gex_AM_PrepareRequestMedium", "lc_opt"}},
        Misuse{"negotiate.buffer_deferred", {"gex_AM_PrepareRequestMedium", "lc_opt"}},
        Misuse{"negotiate.offset_source", {"GEX_FLAG_SELF_SEG_OFFSET"}, true},
        Misuse{"negotiate.bound_without_buffer", {"GEX_FLAG_SELF_SEG_", "client_buf"}, true},
        Misuse{"negotiate.no_such_rank", {"gex_AM_PrepareRequestMedium", "rank 2"}, true}),
    test_name);

INSTANTIATE_TEST_SUITE_P(
    Descriptor, Negotiated,
    testing::Values(
        Misuse{"negotiate.commit_no_op", {"gex_AM_CommitRequestMedium", "NO_OP"}},
        Misuse{"negotiate.address_of_no_op", {"gex_AM_SrcDescAddr", "NO_OP"}},
        Misuse{"negotiate.size_of_no_op", {"gex_AM_SrcDescSize", "NO_OP"}},
        Misuse{"negotiate.commit_twice", {"gex_AM_CommitRequestMedium", "already"}},
        Misuse{"negotiate.cancel_after_commit", {"gex_AM_CancelRequestMedium", "already"}},
        Misuse{"negotiate.cancel_with_flags", {"gex_AM_CancelRequestMedium", "flags"}},
        Misuse{"negotiate.commit_as_long", {"gex_AM_CommitRequestLong", "PrepareRequestMedium"}},
        Misuse{"negotiate.commit_as_reply", {"gex_AM_CommitReplyMedium", "PrepareRequestMedium"}},
        Misuse{"negotiate.commit_too_much", {"gex_AM_CommitRequestMedium", "nbytes is 9"}},
        Misuse{"negotiate.commit_other_arguments", {"gex_AM_CommitRequestMedium", "numargs"}},
        Misuse{"negotiate.commit_elsewhere", {"gex_AM_CommitRequestLong", "dest_addr"}, true},
        Misuse{"negotiate.commit_outside", {"gex_AM_CommitRequestLong", "outside"}, true},
        Misuse{"negotiate.commit_under_lock", {"gex_AM_CommitRequestMedium", "lock"}, true}),
    test_name);

INSTANTIATE_TEST_SUITE_P(
    Meanwhile, Negotiated,
    testing::Values(Misuse{"negotiate.request_meanwhile", {"gex_AM_RequestShort", "between"}},
                    Misuse{"negotiate.prepare_meanwhile", {"PrepareRequestMedium", "between"}},
                    Misuse{"negotiate.poll_meanwhile", {"gasnet_AMPoll", "between"}},
                    Misuse{"negotiate.wait_meanwhile", {"gex_NBI_Wait", "between"}}),
    test_name);

INSTANTIATE_TEST_SUITE_P(
    Context, Negotiated,
    testing::Values(
        Misuse{"hsl.prepare_medium", {"gex_AM_PrepareRequestMedium", "handler-safe lock"}, true},
        Misuse{"hsl.prepare_long", {"gex_AM_PrepareRequestLong", "handler-safe lock"}, true},
        Misuse{"prepare_medium", {"gex_AM_PrepareRequestMedium", "handler"}, false, "in_handler"},
        Misuse{"prepare_group", {"gex_AM_PrepareReplyMedium", "lc_opt"}, false, "in_handler"},
        Misuse{"reply_group", {"gex_AM_ReplyMedium", "lc_opt"}, false, "in_handler"},
        Misuse{"prepare_and_leave", {"gex_AM_PrepareReplyMedium", "returned"}, false, "in_handler"},
        Misuse{"prepare_twice", {"gex_AM_PrepareReplyMedium", "between"}, false, "in_handler"},
        Misuse{"reply_after_commit", {"gex_AM_ReplyShort", "replied"}, false, "in_handler"},
        Misuse{"reply_while_prepared", {"gex_AM_ReplyShort", "between"}, false, "in_handler"},
        Misuse{"commit_as_request",
               {"gex_AM_CommitRequestMedium", "PrepareReply"},
               false,
               "in_handler"}),
    test_name);

INSTANTIATE_TEST_SUITE_P(
    Assertion, Negotiated,
    testing::Values(
        Misuse{"assert.source_not_bound", {"gex_AM_RequestMedium", "bound segment"}, true},
        Misuse{"assert.two_dispositions", {"gex_AM_RequestMedium", "SELF_SEG"}, true},
        Misuse{"assert.long_overlaps", {"gex_AM_RequestLong", "overlap"}, true},
        Misuse{"assert.query_both_least", {"gex_AM_MaxRequestMedium", "exclude"}, true},
        Misuse{"assert.query_deferred", {"gex_AM_MaxRequestLong", "lc_opt"}, true},
        Misuse{"assert.query_reply_group", {"gex_AM_MaxReplyLong", "lc_opt"}, true},
        Misuse{"assert.query_17_arguments", {"gex_AM_MaxReplyMedium", "numargs is 17"}, true},
        Misuse{"assert.query_without_am", {"gex_AM_MaxRequestMedium", "CAPABILITY_AM"}, true},
        Misuse{"assert.query_no_such_rank", {"gex_AM_MaxReplyMedium", "rank 99"}, true}),
    test_name);

// A descriptor is its thread's; nobody else may consume it.
TEST(Threads, CommitOfAnotherThread) {
  const Result result =
      run({.words = {"misuse", "negotiate.commit_on_another_thread"}, .threads = true});
  EXPECT_NE(result.status, 0) << result.out << result.err;
  api_test::expect_one_error(result, 1, 2, {"gex_AM_CommitRequestMedium", "not prepared by this"});
}

// The room it held would never become free.
TEST(Threads, EndWithoutCommit) {
  const Result result = run({.words = {"misuse", "negotiate.thread_ends"}, .threads = true});
  EXPECT_NE(result.status, 0) << result.out << result.err;
  api_test::expect_one_error(result, 1, 2, {"gex_AM_PrepareRequestMedium", "thread ended"});
}

}  // namespace
