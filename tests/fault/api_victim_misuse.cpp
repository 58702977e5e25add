// Calls with wrong arguments, and calls where the specification forbids them.
#include <gasnet_vis.h>

#include <atomic>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "api_victim.h"

namespace victim {
namespace {

std::string in_handler;  // what the next request handler shall do wrong
std::atomic<int> replies{0};
char local[64];
gex_Event_t an_event;
gex_Token_t kept_token;  // beyond its handler's end
// Not constants, or the compiler itself would refuse the calls.
volatile size_t nine = 9, none = 0;

void on_reply(gex_Token_t) {
  replies.fetch_add(1, std::memory_order_release);
}
void on_payload(gex_Token_t, void*, size_t) {}
void on_wrong_reply(gex_Token_t token);
void on_wrong_request(gex_Token_t token);

gex_AM_Entry_t table[] = {
    {0, reinterpret_cast<gex_AM_Fn_t>(&on_reply), GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0, nullptr,
     "reply"},
    {0, reinterpret_cast<gex_AM_Fn_t>(&on_payload), GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQREP, 0,
     nullptr, "payload"},
    {0, reinterpret_cast<gex_AM_Fn_t>(&on_wrong_reply), GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0,
     nullptr, "wrong_reply"},
    {0, reinterpret_cast<gex_AM_Fn_t>(&on_wrong_request), GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST,
     0, nullptr, "wrong_request"},
};

using Calls = std::map<std::string, void (*)()>;

// Computes with addresses, since the segment may be missing.
std::byte* peer_address(uintptr_t offset) {
  return reinterpret_cast<std::byte*>(reinterpret_cast<uintptr_t>(peer_segment(job.peer())) +
                                      offset);
}
std::byte* far_away() {
  return peer_address(uintptr_t{1} << 40);
}
// Begins inside and ends outside.
std::byte* across_the_end() {
  return peer_address(kSegmentBytes - 4);
}
std::byte* before_the_start() {
  return peer_address(-uintptr_t{4});
}
gex_TM_t tm() {
  return job.tm;
}

// One-sided calls whose remote range is not in the segment of the peer.
const Calls& outside() {
  static const Calls calls = {
      {"put_blocking",
       [] { gex_RMA_PutBlocking(tm(), job.peer(), across_the_end(), local, 8, 0); }},
      {"put_nb",
       [] {
         gex_Event_Wait(
             gex_RMA_PutNB(tm(), job.peer(), across_the_end(), local, 8, GEX_EVENT_DEFER, 0));
       }},
      {"put_nbi",
       [] {
         gex_RMA_PutNBI(tm(), job.peer(), before_the_start(), local, 8, GEX_EVENT_DEFER, 0);
         gex_NBI_Wait(GEX_EC_ALL, 0);
       }},
      {"put_blocking_val",
       [] { gex_RMA_PutBlockingVal(tm(), job.peer(), across_the_end(), 1, 8, 0); }},
      {"put_nb_val",
       [] { gex_Event_Wait(gex_RMA_PutNBVal(tm(), job.peer(), far_away(), 1, 4, 0)); }},
      {"put_nbi_val",
       [] {
         gex_RMA_PutNBIVal(tm(), job.peer(), far_away(), 1, 4, 0);
         gex_NBI_Wait(GEX_EC_ALL, 0);
       }},
      {"get_blocking",
       [] { gex_RMA_GetBlocking(tm(), local, job.peer(), across_the_end(), 8, 0); }},
      {"get_nb",
       [] { gex_Event_Wait(gex_RMA_GetNB(tm(), local, job.peer(), before_the_start(), 8, 0)); }},
      {"get_nbi",
       [] {
         gex_RMA_GetNBI(tm(), local, job.peer(), far_away(), 8, 0);
         gex_NBI_Wait(GEX_EC_ALL, 0);
       }},
      {"get_blocking_val",
       [] { gex_RMA_GetBlockingVal(tm(), job.peer(), across_the_end(), 8, 0); }},
      {"long",
       [] {
         gex_AM_RequestLong0(tm(), job.peer(), handler("payload"), local, 8, across_the_end(),
                             GEX_EVENT_NOW, 0);
       }},
  };
  return calls;
}

const Calls& arguments() {
  static const Calls calls = {
      {"unregistered",
       [] {
         gex_AM_RequestShort0(tm(), job.peer(), kNobody, 0);
         barrier();
       }},
      {"unregistered_reply",
       [] {
         in_handler = "unregistered_reply";
         gex_AM_RequestShort0(tm(), job.rank, handler("wrong_request"), 0);
         barrier();
       }},
      {"medium_too_long",
       [] {
         const size_t most = gex_AM_MaxRequestMedium(tm(), job.peer(), GEX_EVENT_NOW, 0, 0);
         const std::vector<char> payload(most + 1);
         gex_AM_RequestMedium0(tm(), job.peer(), handler("payload"), payload.data(), payload.size(),
                               GEX_EVENT_NOW, 0);
       }},
      {"long_too_long",
       [] {
         // Never read or written: it is refused for its length.
         gex_AM_RequestLong0(tm(), job.peer(), handler("payload"), local,
                             gex_AM_MaxRequestLong(tm(), job.peer(), GEX_EVENT_NOW, 0, 0) + 1,
                             peer_segment(job.peer()), GEX_EVENT_NOW, 0);
       }},
      {"no_such_rank", [] { gex_AM_RequestShort0(tm(), job.size, handler("wrong_request"), 0); }},
      {"put_no_such_rank",
       [] { gex_RMA_PutBlocking(tm(), job.size + 3, peer_segment(0), local, 8, 0); }},
      {"value_of_nine_bytes",
       [] { gex_RMA_PutBlockingVal(tm(), job.peer(), peer_segment(job.peer()), 1, nine, 0); }},
      {"value_of_no_bytes",
       [] { gex_RMA_GetBlockingVal(tm(), job.peer(), peer_segment(job.peer()), none, 0); }},
      {"pair_without_endpoint",
       [] { gex_RMA_GetBlocking(gex_TM_Pair(job.ep, 1), local, 0, peer_segment(0), 8, 0); }},
      {"medium_deferred",
       [] {
         gex_AM_RequestMedium0(tm(), job.peer(), handler("payload"), local, 8, GEX_EVENT_DEFER, 0);
       }},
  };
  return calls;
}

// A descriptor to do something wrong with.
gex_AM_SrcDesc_t medium_of(size_t bytes, unsigned numargs = 0) {
  return gex_AM_PrepareRequestMedium(tm(), job.peer(), nullptr, bytes, bytes, nullptr, 0, numargs);
}
gex_AM_SrcDesc_t long_to(void* dest) {
  return gex_AM_PrepareRequestLong(tm(), job.peer(), nullptr, 8, 8, dest, nullptr, 0, 0);
}
gex_AM_SrcDesc_t medium_from(void* client_buf, gex_Event_t* lc_opt, gex_Flags_t flags = 0) {
  return gex_AM_PrepareRequestMedium(tm(), job.peer(), client_buf, 8, 8, lc_opt, flags, 0);
}

// Negotiated payloads: wrong arguments, wrong descriptors, wrong order.
const Calls& negotiation() {
  static const Calls calls = {
      {"least_too_long",
       [] {
         medium_of(gex_AM_MaxRequestMedium(tm(), job.peer(), nullptr,
                                           GEX_FLAG_AM_PREPARE_LEAST_ALLOC, 0) +
                   1);
       }},
      {"least_over_most",
       [] { gex_AM_PrepareRequestMedium(tm(), job.peer(), nullptr, nine, 8, nullptr, 0, 0); }},
      {"too_many_arguments", [] { medium_of(8, 17); }},
      {"completion_without_buffer", [] { medium_from(nullptr, GEX_EVENT_NOW); }},
      {"buffer_without_completion", [] { medium_from(local, nullptr); }},
      {"buffer_deferred", [] { medium_from(local, GEX_EVENT_DEFER); }},
      {"offset_source", [] { medium_from(local, GEX_EVENT_NOW, GEX_FLAG_SELF_SEG_OFFSET); }},
      {"bound_without_buffer", [] { medium_from(nullptr, nullptr, GEX_FLAG_SELF_SEG_BOUND); }},
      {"no_such_rank",
       [] { gex_AM_PrepareRequestMedium(tm(), job.size, nullptr, 8, 8, nullptr, 0, 0); }},
      {"commit_no_op",
       [] { gex_AM_CommitRequestMedium0(GEX_AM_SRCDESC_NO_OP, handler("payload"), 0); }},
      {"address_of_no_op",
       [] {
         gex_AM_SrcDesc_t volatile none_at_all = GEX_AM_SRCDESC_NO_OP;
         gex_AM_SrcDescAddr(none_at_all);
       }},
      {"size_of_no_op",
       [] {
         gex_AM_SrcDesc_t volatile none_at_all = GEX_AM_SRCDESC_NO_OP;
         gex_AM_SrcDescSize(none_at_all);
       }},
      {"commit_twice",
       [] {
         const gex_AM_SrcDesc_t sd = medium_of(8);
         gex_AM_CommitRequestMedium0(sd, handler("payload"), 8);
         gex_AM_CommitRequestMedium0(sd, handler("payload"), 8);
       }},
      {"cancel_after_commit",
       [] {
         const gex_AM_SrcDesc_t sd = medium_of(8);
         gex_AM_CommitRequestMedium0(sd, handler("payload"), 8);
         gex_AM_CancelRequestMedium(sd, 0);
       }},
      {"cancel_with_flags", [] { gex_AM_CancelRequestMedium(medium_of(8), 1u << 30); }},
      {"commit_as_long",
       [] {
         gex_AM_CommitRequestLong0(medium_of(8), handler("payload"), 8, peer_segment(job.peer()));
       }},
      {"commit_as_reply", [] { gex_AM_CommitReplyMedium0(medium_of(8), handler("payload"), 8); }},
      {"commit_too_much",
       [] { gex_AM_CommitRequestMedium0(medium_of(8), handler("payload"), nine); }},
      {"commit_other_arguments",
       [] { gex_AM_CommitRequestMedium1(medium_of(8), handler("payload"), 8, 1); }},
      {"commit_elsewhere",
       [] {
         std::byte* const there = peer_segment(job.peer());
         gex_AM_CommitRequestLong0(long_to(there), handler("payload"), 8, there + 64);
       }},
      {"commit_outside",
       [] {
         std::byte* const there = across_the_end();
         gex_AM_CommitRequestLong0(long_to(nullptr), handler("payload"), 8, there);
       }},
      {"request_meanwhile",
       [] {
         medium_of(8);
         gex_AM_RequestShort0(tm(), job.peer(), handler("wrong_request"), 0);
       }},
      {"prepare_meanwhile",
       [] {
         medium_of(8);
         medium_of(8);
       }},
      {"poll_meanwhile",
       [] {
         medium_of(8);
         gasnet_AMPoll();
       }},
      {"wait_meanwhile",
       [] {
         medium_of(8);
         gex_NBI_Wait(GEX_EC_ALL, 0);
       }},
      {"commit_under_lock",
       [] {
         static gex_HSL_t lock = GEX_HSL_INITIALIZER;
         const gex_AM_SrcDesc_t sd = medium_of(8);
         gex_HSL_Lock(&lock);
         gex_AM_CommitRequestMedium0(sd, handler("payload"), 8);
       }},
#ifdef GASNET_PAR
      {"thread_ends", [] { std::thread([] { medium_of(8); }).join(); }},
      {"commit_on_another_thread",
       [] {
         const gex_AM_SrcDesc_t sd = medium_of(8);
         std::thread([=] { gex_AM_CommitRequestMedium0(sd, handler("payload"), 8); }).join();
       }},
#endif
  };
  return calls;
}

void* pointer(uintptr_t value) {
  return reinterpret_cast<void*>(value);
}

void put_with(void* dest, const void* src, gex_Flags_t flags) {
  gex_RMA_PutBlocking(tm(), job.peer(), dest, src, 8, flags);
}

// Assertions that are not true.
const Calls& flags() {
  static const Calls calls = {
      {"never_self",
       [] {
         gex_RMA_PutBlocking(tm(), job.rank, peer_segment(job.rank), local, 8,
                             GEX_FLAG_PEER_NEVER_SELF);
       }},
      {"never_nbrhd",
       [] {
         gex_Event_Wait(gex_RMA_GetNB(tm(), local, job.peer(), peer_segment(job.peer()), 8,
                                      GEX_FLAG_PEER_NEVER_NBRHD));
       }},
      {"self_bound", [] { put_with(peer_segment(job.peer()), local, GEX_FLAG_SELF_SEG_BOUND); }},
      {"self_offset",
       [] {
         put_with(peer_segment(job.peer()), pointer(kSegmentBytes - 4), GEX_FLAG_SELF_SEG_OFFSET);
       }},
      {"self_some",
       [] {
         gex_RMA_GetBlocking(tm(), local, job.peer(), peer_segment(job.peer()), 8,
                             GEX_FLAG_SELF_SEG_SOME);
       }},
      {"peer_bound", [] { put_with(across_the_end(), local, GEX_FLAG_PEER_SEG_BOUND); }},
      {"peer_offset",
       [] { put_with(pointer(kSegmentBytes - 4), local, GEX_FLAG_PEER_SEG_OFFSET); }},
      {"peer_some", [] { put_with(far_away(), local, GEX_FLAG_PEER_SEG_SOME); }},
      {"peer_unknown", [] { put_with(pointer(64), local, GEX_FLAG_PEER_SEG_UNKNOWN); }},
      {"peer_unknown_get",
       [] {
         gex_RMA_GetBlocking(tm(), local, job.peer(), pointer(64), 8, GEX_FLAG_PEER_SEG_UNKNOWN);
       }},
      {"two_of_peer",
       [] {
         put_with(peer_segment(job.peer()), local,
                  GEX_FLAG_PEER_SEG_BOUND | GEX_FLAG_PEER_SEG_SOME);
       }},
      {"two_of_copy",
       [] {
         gex_RMA_PutNBI(tm(), job.peer(), peer_segment(job.peer()), local, 8, GEX_EVENT_NOW,
                        GEX_FLAG_LC_COPY_YES | GEX_FLAG_LC_COPY_NO);
       }},
  };
  return calls;
}

// What flags assert, and the queries.
const Calls& assertions() {
  static const Calls calls = {
      {"source_not_bound",
       [] {
         gex_AM_RequestMedium0(tm(), job.peer(), handler("payload"), local, 8, GEX_EVENT_NOW,
                               GEX_FLAG_SELF_SEG_BOUND);
       }},
      {"two_dispositions",
       [] {
         gex_AM_RequestMedium0(tm(), job.peer(), handler("payload"), local, 8, GEX_EVENT_NOW,
                               GEX_FLAG_SELF_SEG_BOUND | GEX_FLAG_SELF_SEG_SOME);
       }},
      {"long_overlaps",
       [] {
         std::byte* const here = peer_segment(job.rank);
         gex_AM_RequestLong0(tm(), job.rank, handler("payload"), here + 4, 8, here, GEX_EVENT_NOW,
                             0);
       }},
      {"query_both_least",
       [] {
         gex_AM_MaxRequestMedium(tm(), job.peer(), nullptr,
                                 GEX_FLAG_AM_PREPARE_LEAST_ALLOC | GEX_FLAG_AM_PREPARE_LEAST_CLIENT,
                                 0);
       }},
      {"query_deferred", [] { gex_AM_MaxRequestLong(tm(), job.peer(), GEX_EVENT_DEFER, 0, 0); }},
      {"query_reply_group", [] { gex_AM_MaxReplyLong(tm(), job.peer(), GEX_EVENT_GROUP, 0, 0); }},
      {"query_17_arguments", [] { gex_AM_MaxReplyMedium(tm(), job.peer(), GEX_EVENT_NOW, 0, 17); }},
      {"query_without_am",
       [] {
         gex_EP_t ep = GEX_EP_INVALID;
         gex_EP_Create(&ep, job.client, GEX_EP_CAPABILITY_RMA, 0);
         gex_AM_MaxRequestMedium(gex_TM_Pair(ep, 0), job.peer(), GEX_EVENT_NOW, 0, 0);
       }},
      {"query_no_such_rank", [] { gex_AM_MaxReplyMedium(tm(), 99, GEX_EVENT_NOW, 0, 0); }},
  };
  return calls;
}

gex_EP_t new_endpoint() {
  gex_EP_t ep = GEX_EP_INVALID;
  gex_EP_Create(&ep, job.client, GEX_EP_CAPABILITY_ALL, 0);
  return ep;
}

const Calls& endpoints() {
  static const Calls calls = {
      {"message_to_nobody",
       [] {
         gex_AM_RequestShort0(gex_TM_Pair(job.ep, 5), job.peer(), handler("reply"), 0);
         barrier();
       }},
      {"unpublished",
       [] {
         gex_RMA_PutBlocking(gex_TM_Pair(job.ep, gex_EP_QueryIndex(new_endpoint())), job.peer(),
                             peer_segment(job.peer()), local, 8, 0);
       }},
      {"pair_in_collective",
       [] {
         gex_TM_t made;
         gex_TM_Split(&made, gex_TM_Pair(job.ep, 0), 0, 0, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
       }},
      {"pair_translated", [] { gex_TM_TranslateRankToJobrank(gex_TM_Pair(job.ep, 0), 0); }},
      {"no_such_job_rank", [] { gex_TM_TranslateJobrankToRank(tm(), 99); }},
      {"no_am",
       [] {
         gex_EP_t ep = GEX_EP_INVALID;
         gex_EP_Create(&ep, job.client, GEX_EP_CAPABILITY_RMA, 0);
         gex_AM_RequestShort0(gex_TM_Pair(ep, 0), job.peer(), handler("reply"), 0);
       }},
      {"no_rma",
       [] {
         gex_EP_t ep = GEX_EP_INVALID;
         gex_EP_Create(&ep, job.client, GEX_EP_CAPABILITY_AM, 0);
         gex_RMA_PutBlocking(gex_TM_Pair(ep, 0), job.peer(), peer_segment(job.peer()), local, 8, 0);
       }},
      {"no_vis",
       [] {
         gex_EP_t ep = GEX_EP_INVALID;
         gex_EP_Create(&ep, job.client, GEX_EP_CAPABILITY_ALL & ~GEX_EP_CAPABILITY_VIS, 0);
         const gex_Memvec_t to = {peer_segment(job.peer()), 8}, from = {local, 8};
         gex_VIS_VectorPutBlocking(gex_TM_Pair(ep, 0), job.peer(), 1, &to, 1, &from, 0);
       }},
      {"leaf_suppressed",
       [] {
         const gex_Event_t root = gex_RMA_PutNB(tm(), job.peer(), peer_segment(job.peer()), local,
                                                8, GEX_EVENT_DEFER, 0);
         // Complete at once, or suppressed: only the second is an event to ask.
         gex_Event_QueryLeaf(root, GEX_EC_LC);
       }},
      {"pair_index", [] { gex_TM_Pair(job.ep, GASNET_MAXEPS); }},
  };
  return calls;
}

void split(int color, void* scratch, size_t size, gex_Flags_t how) {
  gex_TM_t made = GEX_TM_INVALID;
  gex_TM_Split(&made, tm(), color, 0, scratch, size, how);
}

void create(const std::vector<gex_EP_Location_t>& wanted, size_t count, gex_Flags_t how) {
  std::vector<gex_EP_Location_t> args = wanted;
  std::vector<gex_TM_t> made(count + 1);
  gex_TM_Create(made.data(), count, tm(), args.data(), args.size(), nullptr, 0, how);
}

const Calls& teams() {
  static const Calls calls = {
      {"negative_color", [] { split(-1, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH); }},
      {"unknown_flags", [] { split(0, nullptr, 0, 1u << 30); }},
      {"scratch_outside", [] { split(0, local, 4096, 0); }},
      {"no_scratch_size", [] { split(0, peer_segment(job.rank), 0, 0); }},
      {"dup_without_mode",
       [] {
         gex_TM_t made;
         gex_TM_Dup(&made, tm(), nullptr, 0, 0);
       }},
      {"create_without_mode",
       [] {
         create({{job.rank, 0}}, 1, 0);
       }},
      {"create_twice_named",
       [] {
         create({{job.rank, 0}, {job.rank, 0}}, 2, GEX_FLAG_TM_NO_SCRATCH);
       }},
      {"create_no_such_rank",
       [] {
         create({{9, 0}}, 0, GEX_FLAG_TM_NO_SCRATCH);
       }},
      {"create_no_endpoint",
       [] {
         create({{job.rank, 3}}, 1, GEX_FLAG_TM_NO_SCRATCH);
       }},
      {"create_miscounted",
       [] {
         create({{job.rank, 0}}, 0, GEX_FLAG_TM_NO_SCRATCH);
       }},
      {"destroy_primordial", [] { gex_TM_Destroy(tm(), nullptr, 0); }},
      {"destroy_pair", [] { gex_TM_Destroy(gex_TM_Pair(job.ep, 0), nullptr, 0); }},
      {"vis_invalid",
       [] {
         char byte = 0;
         gex_Memvec_t piece{&byte, 1};
         gex_VIS_VectorPutBlocking(GEX_TM_INVALID, job.peer(), 1, &piece, 1, &piece, 0);
       }},
      {"segment_attached", [] { gex_Segment_Destroy(gex_EP_QuerySegment(job.ep), 0); }},
      {"destroy_invalid", [] { gex_TM_Destroy(GEX_TM_INVALID, nullptr, 0); }},
  };
  return calls;
}

// Calls that neither a handler nor the holder of a handler-safe lock may make.
const Calls& communication() {
  static const Calls calls = {
      {"request", [] { gex_AM_RequestShort0(tm(), job.peer(), handler("wrong_request"), 0); }},
      {"request_medium",
       [] {
         gex_AM_RequestMedium0(tm(), job.peer(), handler("payload"), local, 8, GEX_EVENT_NOW, 0);
       }},
      {"prepare_medium", [] { medium_of(8); }},
      {"prepare_long", [] { long_to(peer_segment(job.peer())); }},
      {"put", [] { gex_RMA_PutBlocking(tm(), job.peer(), peer_segment(job.peer()), local, 8, 0); }},
      {"get", [] { gex_RMA_GetBlocking(tm(), local, job.peer(), peer_segment(job.peer()), 8, 0); }},
      {"poll", [] { gasnet_AMPoll(); }},
      {"wait", [] { gex_Event_Wait(an_event); }},
      {"nbi_wait", [] { gex_NBI_Wait(GEX_EC_ALL, 0); }},
      {"barrier", [] { gex_Coll_BarrierNB(tm(), 0); }},
      {"event_test", [] { gex_Event_Test(an_event); }},
      {"nbi_test", [] { gex_NBI_Test(GEX_EC_ALL, 0); }},
      {"region", [] { gex_NBI_BeginAccessRegion(0); }},
      {"query_segment",
       [] {
         uintptr_t size = 0;
         gex_EP_QueryBoundSegmentNB(tm(), job.rank, nullptr, nullptr, &size, GEX_FLAG_IMMEDIATE);
         gex_EP_QueryBoundSegmentNB(tm(), job.rank, nullptr, nullptr, &size, 0);
       }},
      {"query_segment_before_0_13",
       [] { gex_Segment_QueryBound(tm(), job.rank, nullptr, nullptr, nullptr); }},
      {"translate", [] { gex_TM_TranslateRankToJobrank(tm(), 0); }},
      {"translate_back", [] { gex_TM_TranslateJobrankToRank(tm(), 0); }},
      {"translate_to_endpoint", [] { gex_TM_TranslateRankToEP(tm(), 0, 0); }},
      {"vis_put",
       [] {
         const gex_Memvec_t to = {peer_segment(job.peer()), 8}, from = {local, 8};
         gex_VIS_VectorPutBlocking(tm(), job.peer(), 1, &to, 1, &from, 0);
       }},
  };
  return calls;
}

void on_wrong_reply(gex_Token_t token) {
  gex_AM_ReplyShort0(token, handler("reply"), 0);
}

void on_wrong_request(gex_Token_t token) {
  if (in_handler == "unregistered_reply") {
    gex_AM_ReplyShort0(token, kNobody, 0);
  } else if (in_handler == "reply_twice") {
    gex_AM_ReplyShort0(token, handler("reply"), 0);
    gex_AM_ReplyShort0(token, handler("reply"), 0);
  } else if (in_handler == "reply_from_reply") {
    gex_AM_ReplyShort0(token, handler("wrong_reply"), 0);
  } else if (in_handler == "reply_group") {
    gex_AM_ReplyMedium0(token, handler("payload"), local, 8, GEX_EVENT_GROUP, 0);
  } else if (in_handler == "prepare_group") {
    gex_AM_PrepareReplyMedium(token, local, 8, 8, GEX_EVENT_GROUP, 0, 0);
  } else if (in_handler == "prepare_and_leave") {
    gex_AM_PrepareReplyMedium(token, nullptr, 8, 8, nullptr, 0, 0);
  } else if (in_handler == "prepare_twice") {
    gex_AM_PrepareReplyMedium(token, nullptr, 8, 8, nullptr, 0, 0);
    gex_AM_PrepareReplyMedium(token, nullptr, 8, 8, nullptr, 0, 0);
  } else if (in_handler == "reply_after_commit") {
    gex_AM_CommitReplyMedium0(gex_AM_PrepareReplyMedium(token, nullptr, 8, 8, nullptr, 0, 0),
                              handler("payload"), 8);
    gex_AM_ReplyShort0(token, handler("reply"), 0);
  } else if (in_handler == "reply_while_prepared") {
    gex_AM_PrepareReplyLong(token, nullptr, 8, 8, nullptr, nullptr, 0, 0);
    gex_AM_ReplyShort0(token, handler("reply"), 0);
  } else if (in_handler == "commit_as_request") {
    gex_AM_CommitRequestMedium0(gex_AM_PrepareReplyMedium(token, nullptr, 8, 8, nullptr, 0, 0),
                                handler("payload"), 8);
  } else if (in_handler == "reply_medium_too_long") {
    const std::vector<char> payload(gex_Token_MaxReplyMedium(token, GEX_EVENT_NOW, 0, 0) + 1);
    gex_AM_ReplyMedium0(token, handler("payload"), payload.data(), payload.size(), GEX_EVENT_NOW,
                        0);
  } else if (in_handler == "keeps_a_lock") {
    keep_a_lock();
  } else if (in_handler == "stale_token") {
    kept_token = token;
  } else {
    communication().at(in_handler)();
  }
  replies.fetch_add(1, std::memory_order_release);
}

bool call(const Calls& calls, const std::string& name) {
  const auto found = calls.find(name);
  if (found == calls.end()) return false;
  found->second();
  return true;
}

}  // namespace

void register_handlers() {
  if (gex_EP_RegisterHandlers(job.ep, table, std::size(table)) != GASNET_OK) gasnet_exit(94);
}

gex_AM_Index_t handler(const char* name) {
  for (const gex_AM_Entry_t& entry : table)
    if (std::strcmp(entry.gex_name, name) == 0) return entry.gex_index;
  return 0;
}

bool misuse(const char* scenario) {
  const std::string name = scenario;
  if (name.rfind("outside.", 0) == 0) return call(outside(), name.substr(8));
  if (name.rfind("negotiate.", 0) == 0) return call(negotiation(), name.substr(10));
  if (name.rfind("assert.", 0) == 0) return call(assertions(), name.substr(7));
  if (name.rfind("flags.", 0) == 0) return call(flags(), name.substr(6));
  if (name.rfind("ep.", 0) == 0) return call(endpoints(), name.substr(3));
  if (name.rfind("tm.", 0) == 0) return call(teams(), name.substr(3));
  if (name.rfind("hsl.", 0) == 0) {
    static gex_HSL_t lock = GEX_HSL_INITIALIZER;
    // Needed by the call under test, and not allowed under the lock itself.
    peer_segment(job.peer());
    an_event = gex_RMA_GetNB(job.tm, local, job.peer(), peer_segment(job.peer()), 8, 0);
    gex_HSL_Lock(&lock);
    return call(communication(), name.substr(4));
  }
  return call(arguments(), name) || misuse_checked(name);
}

bool misuse_in_handler(const char* scenario) {
  in_handler = scenario;
  an_event = gex_RMA_GetNB(job.tm, local, job.peer(), peer_segment(job.peer()), 8, 0);
  gex_AM_RequestShort0(job.tm, job.rank, handler("wrong_request"), 0);
  if (in_handler == "stale_token") {
    GASNET_BLOCKUNTIL(replies.load(std::memory_order_acquire) > 0);
    gex_Token_Info_t info;
    gex_Token_Info(kept_token, &info, GEX_TI_ALL);
    return true;
  }
  GASNET_BLOCKUNTIL(replies.load(std::memory_order_acquire) > 1);
  return true;
}

}  // namespace victim
