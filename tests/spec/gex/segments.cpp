// Attached segments and the queries about anybody's bound segment.
#include <cstring>

#include "../harness.h"

using spec::job;
using spec::Phase;

namespace {
struct Bound {
  void* owner = reinterpret_cast<void*>(0x11);
  void* local = reinterpret_cast<void*>(0x22);
  uintptr_t size = 0x33;
};
}  // namespace

SPEC_CASE(segments, limits, 1, Phase::unattached) {
  const uintptr_t local = gasnet_getMaxLocalSegmentSize();
  const uintptr_t global = gasnet_getMaxGlobalSegmentSize();
  CHECK(local > 0);
  CHECK_EQ(local % GASNET_PAGESIZE, 0u);
  CHECK(global > 0);
  CHECK_EQ(global % GASNET_PAGESIZE, 0u);
  CHECK(local >= (uintptr_t{32} << 20));
}

// Before there is a segment: unsuccessful, each in its way, and one's own is known at once.
SPEC_CASE(segments, queries_before_attach, 1, Phase::unattached) {
  for (gex_Rank_t rank = 0; rank < job().size; ++rank) {
    Bound bound;
    CHECK(gex_Segment_QueryBound(job().tm, rank, &bound.owner, &bound.local, &bound.size) != 0);
    // A failed query of the older kind leaves the outputs alone.
    CHECK(bound.owner == Bound{}.owner && bound.local == Bound{}.local);
    CHECK_EQ(bound.size, Bound{}.size);
    const gex_Event_t event =
        gex_EP_QueryBoundSegmentNB(job().tm, rank, &bound.owner, &bound.local, &bound.size, 0);
    CHECK(event != GEX_EVENT_NO_OP);
    gex_Event_Wait(event);
    CHECK_EQ(bound.size, 0u);
  }
  Bound bound;
  CHECK(gex_EP_QueryBoundSegmentNB(job().tm, job().rank, nullptr, nullptr, &bound.size,
                                   GEX_FLAG_IMMEDIATE) == GEX_EVENT_INVALID);
  CHECK_EQ(bound.size, 0u);
  spec::barrier();
}

// A runtime takes a neighborhood for what it may load from and store to.
SPEC_CASE(segments, neighbors_are_mapped) {
  gex_RankInfo_t* info = nullptr;
  gex_Rank_t count = 0;
  gex_System_QueryNbrhdInfo(&info, &count, nullptr);
  for (gex_Rank_t i = 0; i < count; ++i) {
    Bound bound;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(job().tm, info[i].gex_jobrank, &bound.owner,
                                              &bound.local, &bound.size, 0));
    CHECK(bound.size != 0);
    CHECK(bound.local != nullptr);
  }
  spec::barrier();
}

SPEC_CASE(segments, queries_agree) {
  for (gex_Rank_t rank = 0; rank < job().size; ++rank) {
    Bound old_way, new_way;
    CHECK_EQ(gex_Segment_QueryBound(job().tm, rank, &old_way.owner, &old_way.local, &old_way.size),
             0);
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(job().tm, rank, &new_way.owner, &new_way.local,
                                              &new_way.size, 0));
    CHECK(old_way.owner == new_way.owner);
    CHECK(old_way.local == new_way.local);
    CHECK_EQ(old_way.size, new_way.size);
    CHECK(old_way.size >= spec::segment_bytes());
    // Each output may be left out.
    CHECK_EQ(gex_Segment_QueryBound(job().tm, rank, nullptr, nullptr, nullptr), 0);
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(job().tm, rank, nullptr, nullptr, nullptr, 0));
    // Without communication: an answer or "would communicate", and the same answer.
    Bound at_once;
    const gex_Event_t event = gex_EP_QueryBoundSegmentNB(
        job().tm, rank, &at_once.owner, &at_once.local, &at_once.size, GEX_FLAG_IMMEDIATE);
    CHECK(event == GEX_EVENT_INVALID || event == GEX_EVENT_NO_OP);
    if (event == GEX_EVENT_INVALID) {
      CHECK(at_once.owner == new_way.owner && at_once.local == new_way.local);
      CHECK_EQ(at_once.size, new_way.size);
    }
  }
}

SPEC_CASE(segments, own) {
  Bound bound;
  CHECK(gex_EP_QueryBoundSegmentNB(job().tm, job().rank, &bound.owner, &bound.local, &bound.size,
                                   GEX_FLAG_IMMEDIATE) == GEX_EVENT_INVALID);
  CHECK(bound.owner == gex_Segment_QueryAddr(job().segment));
  CHECK(bound.local == bound.owner);
  CHECK_EQ(bound.size, gex_Segment_QuerySize(job().segment));
}

// Where a peer's segment is said to be mapped here, it is: a store through that address is the
// owner's memory.
SPEC_CASE(segments, local_addresses_are_the_owners_memory) {
  const size_t offset = spec::kScratchOffset + size_t{job().rank} * 8;
  bool any = false;
  for (gex_Rank_t rank = 0; rank < job().size; ++rank) {
    Bound bound;
    gex_Segment_QueryBound(job().tm, rank, &bound.owner, &bound.local, &bound.size);
    if (bound.local == nullptr) continue;
    any = true;
    const uint64_t value = 0xC0FFEE00u + job().rank * 100 + rank;
    std::memcpy(static_cast<std::byte*>(bound.local) + offset, &value, sizeof value);
  }
  CHECK(any);  // one's own at least
  spec::barrier();
  for (gex_Rank_t rank = 0; rank < job().size; ++rank) {
    Bound bound;
    gex_Segment_QueryBound(job().tm, rank, &bound.owner, &bound.local, &bound.size);
    if (bound.local == nullptr) continue;
    CHECK_EQ(gex_RMA_GetBlockingVal(job().tm, rank, spec::segment_of(rank, offset), 8, 0),
             0xC0FFEE00u + job().rank * 100 + rank);
  }
  spec::barrier();
}

// All of the segment is usable from the first moment, to the last byte.
SPEC_CASE(segments, first_and_last_byte) {
  for (gex_Rank_t rank = 0; rank < job().size; ++rank) {
    if (rank == job().peer()) {
      uintptr_t size = 0;
      gex_Segment_QueryBound(job().tm, rank, nullptr, nullptr, &size);
      for (size_t offset : {size_t{0}, size - 1}) {
        gex_RMA_PutBlockingVal(job().tm, rank, spec::segment_of(rank, offset), 0x40 + job().rank, 1,
                               0);
        CHECK_EQ(gex_RMA_GetBlockingVal(job().tm, rank, spec::segment_of(rank, offset), 1, 0),
                 (0x40 + job().rank) & 0xFF);
      }
    }
  }
  spec::barrier();
}

// Publishing again what attachment has published is allowed, and so is publishing nothing.
SPEC_CASE(segments, publish_again) {
  gex_EP_t ep = job().ep;
  CHECK_EQ(gex_EP_PublishBoundSegment(job().tm, &ep, 1, 0), GASNET_OK);
  CHECK_EQ(gex_EP_PublishBoundSegment(job().tm, nullptr, 0, 0), GASNET_OK);
  // The number of endpoints may differ between callers.
  CHECK_EQ(gex_EP_PublishBoundSegment(job().tm, &ep, job().rank % 2, 0), GASNET_OK);
  gex_RMA_PutBlockingVal(job().tm, job().peer(), spec::segment_of(job().peer(), 8), 1, 4, 0);
  spec::barrier();
}

// An endpoint may be published before anything is bound to it.
SPEC_CASE(segments, publish_nothing_bound, 1, Phase::unattached) {
  gex_EP_t ep = job().ep;
  CHECK_EQ(gex_EP_PublishBoundSegment(job().tm, &ep, 1, 0), GASNET_OK);
}

// Segments that are made but never bound: arguments are checked, objects answer, and go away.
SPEC_CASE(segments, create_and_destroy) {
  const int verbose = gex_System_GetVerboseErrors();
  gex_System_SetVerboseErrors(0);
  static char memory[10000];
  const auto untouched = reinterpret_cast<gex_Segment_t>(uintptr_t{0x55});
  gex_Segment_t segment = untouched;
  CHECK_EQ(gex_Segment_Create(&segment, job().client, memory, 0, GEX_MK_HOST, 0),
           GASNET_ERR_BAD_ARG);
  CHECK(segment == untouched);
  CHECK_EQ(gex_Segment_Create(&segment, job().client, nullptr, 0, GEX_MK_HOST, 0),
           GASNET_ERR_BAD_ARG);
  CHECK(segment == untouched);
  // No alignment is asked of address or length.
  CHECK_EQ(gex_Segment_Create(&segment, job().client, memory + 3, 4567, GEX_MK_HOST, 0), GASNET_OK);
  CHECK(gex_Segment_QueryAddr(segment) == memory + 3);
  CHECK_EQ(gex_Segment_QuerySize(segment), 4567u);
  CHECK_EQ(gex_Segment_QueryClient(segment), job().client);
  CHECK_EQ(gex_Segment_QueryFlags(segment), 0u);
  CHECK(gex_Segment_QueryCData(segment) == nullptr);
  gex_Segment_Destroy(segment, 0);
  CHECK_EQ(gex_Segment_Create(&segment, job().client, nullptr, 5000, GEX_MK_HOST, 0), GASNET_OK);
  CHECK(gex_Segment_QueryAddr(segment) != nullptr);
  CHECK(gex_Segment_QuerySize(segment) >= 5000);
  std::memset(gex_Segment_QueryAddr(segment), 1, gex_Segment_QuerySize(segment));
  gex_Segment_Destroy(segment, 0);
  gex_System_SetVerboseErrors(verbose != 0);
}
