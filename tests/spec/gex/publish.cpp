// Publication of bound segments over teams of every kind, and what queries tell before and after.
#include <cstring>
#include <vector>

#include "extra_endpoints.h"

using spec::extra;
using spec::job;

namespace {

struct Bound {
  void* owner = nullptr;
  void* local = nullptr;
  uintptr_t size = 0;
};

Bound query(gex_TM_t tm, gex_Rank_t rank) {
  Bound b;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, rank, &b.owner, &b.local, &b.size, 0));
  return b;
}

gex_EP_t new_endpoint() {
  gex_EP_t ep = GEX_EP_INVALID;
  CHECK_EQ(gex_EP_Create(&ep, job().client, GEX_EP_CAPABILITY_RMA, 0), GASNET_OK);
  return ep;
}

gex_Segment_t new_segment(gex_EP_t ep, size_t bytes) {
  gex_Segment_t segment = GEX_SEGMENT_INVALID;
  CHECK_EQ(gex_Segment_Create(&segment, job().client, nullptr, bytes, GEX_MK_HOST, 0), GASNET_OK);
  CHECK_EQ(gex_EP_BindSegment(ep, segment, 0), GASNET_OK);
  return segment;
}

gex_EP_t reusable_endpoint() {
  static const gex_EP_t ep = new_endpoint();
  return ep;
}

}  // namespace

// Every endpoint's segment is known to every rank, through every local endpoint.
SPEC_CASE(publish, queries_by_pair) {
  extra();
  for (unsigned from = 0; from < spec::kEndpoints; ++from)
    for (unsigned to = 0; to < spec::kEndpoints; ++to)
      for (gex_Rank_t rank = 0; rank < job().size; ++rank) {
        const gex_TM_t pair = gex_TM_Pair(extra().ep[from], extra().index[to]);
        const Bound b = query(pair, rank);
        CHECK(b.size >= spec::kExtraBytes);
        CHECK(b.owner != nullptr);
        if (rank == job().rank) {
          const gex_Segment_t own = gex_EP_QuerySegment(extra().ep[to]);
          CHECK(b.owner == gex_Segment_QueryAddr(own));
          CHECK(b.local == b.owner);
          CHECK_EQ(b.size, gex_Segment_QuerySize(own));
        }
        Bound old;
        CHECK_EQ(gex_Segment_QueryBound(pair, rank, &old.owner, &old.local, &old.size), 0);
        CHECK(old.owner == b.owner && old.local == b.local && old.size == b.size);
      }
  spec::barrier();
}

// Bound but not published: the own process knows at once; a query elsewhere ends either way.
// Published, then destroyed, then bound and published anew: the new one counts, for windows too.
SPEC_CASE(publish, again_with_another_segment) {
  const gex_EP_t ep = reusable_endpoint();
  const gex_TM_t pair = gex_TM_Pair(job().ep, gex_EP_QueryIndex(ep));
  for (unsigned round = 0; round < 3; ++round) {
    const gex_Segment_t segment = new_segment(ep, 8192 + 4096 * round);
    CHECK(gex_EP_QuerySegment(ep) == segment);
    CHECK(query(pair, job().rank).owner == gex_Segment_QueryAddr(segment));
    spec::barrier();
    gex_EP_t eps[] = {ep};
    CHECK_EQ(gex_EP_PublishBoundSegment(job().tm, eps, 1, 0), GASNET_OK);
    const gex_Rank_t peer = job().peer();
    const Bound b = query(pair, peer);
    CHECK_EQ(b.size, 8192u + 4096u * round);
    auto* last = static_cast<std::byte*>(b.owner) + b.size - 8;
    gex_RMA_PutBlockingVal(pair, peer, last, 500 + round * 10 + job().rank, 8, 0);
    spec::barrier();
    uint64_t got = 0;
    std::memcpy(&got,
                static_cast<std::byte*>(gex_Segment_QueryAddr(segment)) +
                    gex_Segment_QuerySize(segment) - 8,
                8);
    CHECK_EQ(got, 500 + round * 10 + job().behind());
    spec::barrier();
    gex_Segment_Destroy(segment, 0);
    CHECK(gex_EP_QuerySegment(ep) == GEX_SEGMENT_INVALID);
    Bound gone;
    CHECK(gex_EP_QueryBoundSegmentNB(pair, job().rank, nullptr, nullptr, &gone.size,
                                     GEX_FLAG_IMMEDIATE) == GEX_EVENT_INVALID);
    CHECK_EQ(gone.size, 0u);
    spec::barrier();
    // Published without a segment: then nothing is known of one.
    CHECK_EQ(gex_EP_PublishBoundSegment(job().tm, eps, round % 2, 0), GASNET_OK);
    if (round % 2 == 1) CHECK_EQ(query(pair, peer).size, 0u);
    spec::barrier();
  }
}

// A team of some ranks publishes among these; a later publication over all reaches the rest.
SPEC_CASE(publish, over_a_part, 2) {
  const gex_EP_t ep = new_endpoint();
  const gex_Segment_t segment = new_segment(ep, 4096);
  gex_TM_t half = GEX_TM_INVALID;
  gex_TM_Split(&half, job().tm, static_cast<int>(job().rank % 2), 0, nullptr, 0,
               GEX_FLAG_TM_NO_SCRATCH);
  gex_EP_t eps[] = {ep};
  CHECK_EQ(gex_EP_PublishBoundSegment(half, eps, 1, 0), GASNET_OK);
  const gex_TM_t pair = gex_TM_Pair(job().ep, gex_EP_QueryIndex(ep));
  for (gex_Rank_t r = 0; r < gex_TM_QuerySize(half); ++r)
    CHECK_EQ(query(pair, gex_TM_TranslateRankToJobrank(half, r)).size, 4096u);
  // Ends with or without an answer.
  query(pair, job().peer());
  gex_TM_Destroy(half, nullptr, 0);  // publication outlives the team
  for (gex_Rank_t r = job().rank % 2; r < job().size; r += 2) CHECK_EQ(query(pair, r).size, 4096u);
  CHECK_EQ(gex_EP_PublishBoundSegment(job().tm, eps, 1, 0), GASNET_OK);
  for (gex_Rank_t r = 0; r < job().size; ++r) CHECK_EQ(query(pair, r).size, 4096u);
  const Bound b = query(pair, job().peer());
  gex_RMA_PutBlockingVal(pair, job().peer(), b.owner, 42, 8, 0);
  CHECK_EQ(gex_RMA_GetBlockingVal(pair, job().peer(), b.owner, 8, 0), 42u);
  spec::barrier();
  gex_Segment_Destroy(segment, 0);
  spec::barrier();
}

// An endpoint that a publication over all ranks does not name stays known as it was published last:
// over all, or over a part. Ranks with which nothing was exchanged ask for the first time.
SPEC_CASE(publish, stays_known, 2) {
  const gex_EP_t named_once = new_endpoint(), other = new_endpoint();
  const gex_Segment_t first = new_segment(named_once, 4096), rest = new_segment(other, 8192);
  gex_EP_t eps[] = {named_once, other};
  CHECK_EQ(gex_EP_PublishBoundSegment(job().tm, eps, 1, 0), GASNET_OK);
  CHECK_EQ(gex_EP_PublishBoundSegment(job().tm, eps + 1, 1, 0), GASNET_OK);
  const gex_TM_t pair = gex_TM_Pair(job().ep, gex_EP_QueryIndex(named_once));
  const gex_TM_t other_pair = gex_TM_Pair(other, gex_EP_QueryIndex(other));
  for (gex_Rank_t r = 0; r < job().size; ++r) {
    CHECK_EQ(query(pair, r).size, 4096u);
    CHECK_EQ(query(other_pair, r).size, 8192u);
  }
  const gex_Rank_t peer = job().peer();
  gex_RMA_PutBlockingVal(pair, peer, query(pair, peer).owner, 1000 + job().rank, 8, 0);
  gex_RMA_PutBlockingVal(other_pair, peer, query(other_pair, peer).owner, 2000 + job().rank, 8, 0);
  spec::barrier();
  CHECK_EQ(*static_cast<uint64_t*>(gex_Segment_QueryAddr(first)), 1000 + job().behind());
  CHECK_EQ(*static_cast<uint64_t*>(gex_Segment_QueryAddr(rest)), 2000 + job().behind());

  spec::barrier();
  gex_Segment_Destroy(first, 0);
  const gex_Segment_t second = new_segment(named_once, 12288);
  gex_TM_t half = GEX_TM_INVALID;
  gex_TM_Split(&half, job().tm, static_cast<int>(job().rank % 2), 0, nullptr, 0,
               GEX_FLAG_TM_NO_SCRATCH);
  CHECK_EQ(gex_EP_PublishBoundSegment(half, eps, 1, 0), GASNET_OK);
  CHECK_EQ(gex_EP_PublishBoundSegment(job().tm, eps + 1, 1, 0), GASNET_OK);
  for (gex_Rank_t r = job().rank % 2; r < job().size; r += 2) {
    const Bound b = query(pair, r);
    CHECK_EQ(b.size, 12288u);
    gex_RMA_PutBlockingVal(pair, r, static_cast<std::byte*>(b.owner) + 8 * job().rank, 3000 + r, 8,
                           0);
  }
  spec::barrier();
  for (gex_Rank_t r = job().rank % 2; r < job().size; r += 2)
    CHECK_EQ(static_cast<uint64_t*>(gex_Segment_QueryAddr(second))[r], 3000 + job().rank);
  gex_TM_Destroy(half, nullptr, 0);
  spec::barrier();
  gex_Segment_Destroy(second, 0);
  gex_Segment_Destroy(rest, 0);
  spec::barrier();
}

// Numbers of endpoints differ from rank to rank, down to none.
SPEC_CASE(publish, uneven) {
  extra();
  gex_EP_t eps[] = {extra().ep[1], extra().ep[2], extra().ep[3]};
  CHECK_EQ(gex_EP_PublishBoundSegment(job().tm, eps, job().rank % 4, 0), GASNET_OK);
  gex_EP_t unbound = new_endpoint();
  CHECK_EQ(gex_EP_PublishBoundSegment(job().tm, &unbound, 1, 0), GASNET_OK);
  const gex_TM_t pair = gex_TM_Pair(job().ep, gex_EP_QueryIndex(unbound));
  for (gex_Rank_t r = 0; r < job().size; ++r) CHECK_EQ(query(pair, r).size, 0u);
}

// One rank's mistake is everybody's answer, and nobody waits for ever.
SPEC_CASE(publish, mistake_of_one) {
  extra();
  const int verbose = gex_System_GetVerboseErrors();
  gex_System_SetVerboseErrors(0);
  gex_EP_t eps[] = {extra().ep[1], extra().ep[1]};
  CHECK(gex_EP_PublishBoundSegment(job().tm, eps, job().rank == 0 ? 2 : 1, 0) != GASNET_OK);
  gex_EP_t* const none = job().rank == job().size - 1 ? nullptr : eps;
  CHECK(gex_EP_PublishBoundSegment(job().tm, none, 1, 0) != GASNET_OK);
  gex_System_SetVerboseErrors(verbose != 0);
  CHECK_EQ(gex_EP_PublishBoundSegment(job().tm, eps, 1, 0), GASNET_OK);
}
