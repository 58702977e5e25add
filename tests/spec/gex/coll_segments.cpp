// Collectives whose buffers lie in a bound segment that nobody was told of, or not all: others know
// nothing of it, or an earlier one of the same endpoint.
#include <vector>

#include "coll_testing.h"

using coll::wait;
using spec::job;

namespace {

// Around posts, messages, and what is read from where it lies.
constexpr size_t kCounts[] = {1, 700, 6000, 130000};
constexpr size_t kMost = 130000 * sizeof(int64_t);

struct Bound {
  gex_EP_t ep = GEX_EP_INVALID;
  gex_TM_t tm = GEX_TM_INVALID;  // of these endpoints of all ranks
};

// Made once: endpoints stay.
const Bound& bound() {
  static const Bound made = [] {
    Bound b;
    CHECK_EQ(gex_EP_Create(&b.ep, job().client, GEX_EP_CAPABILITY_ALL, 0), GASNET_OK);
    std::vector<gex_EP_Location_t> all(job().size);
    for (gex_Rank_t r = 0; r < job().size; ++r) all[r] = {r, gex_EP_QueryIndex(b.ep)};
    spec::barrier();  // everybody's exists
    gex_TM_Create(&b.tm, 1, job().tm, all.data(), all.size(), nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
    return b;
  }();
  return made;
}

gex_Segment_t bind_segment(size_t bytes) {
  gex_Segment_t segment = GEX_SEGMENT_INVALID;
  CHECK_EQ(gex_Segment_Create(&segment, job().client, nullptr, bytes, GEX_MK_HOST, 0), GASNET_OK);
  CHECK_EQ(gex_EP_BindSegment(bound().ep, segment, 0), GASNET_OK);
  return segment;
}

void publish(gex_TM_t over) {
  gex_EP_t eps[] = {bound().ep};
  CHECK_EQ(gex_EP_PublishBoundSegment(over, eps, 1, 0), GASNET_OK);
}

// Every operation, with both buffers at the end of the segment.
void every_operation(gex_Segment_t segment) {
  const gex_TM_t tm = bound().tm;
  const gex_Rank_t n = job().size;
  auto* const end =
      static_cast<std::byte*>(gex_Segment_QueryAddr(segment)) + gex_Segment_QuerySize(segment);
  auto* const src = reinterpret_cast<int64_t*>(end - 2 * kMost);
  auto* const dst = reinterpret_cast<int64_t*>(end - kMost);
  for (const size_t count : kCounts) {
    const auto refill = [&](int64_t step) {
      for (size_t i = 0; i < count; ++i) {
        src[i] = static_cast<int64_t>(i) * step + job().rank;
        dst[i] = -1;
      }
    };
    const auto sums_are_there = [&](int64_t step) {
      for (size_t i = 0; i < count; ++i)
        if (dst[i] != n * static_cast<int64_t>(i) * step + n * (n - 1) / 2) return false;
      return true;
    };
    refill(3);
    wait(gex_Coll_ReduceToAllNB(tm, dst, src, GEX_DT_I64, 8, count, GEX_OP_ADD, nullptr, nullptr,
                                0));
    CHECK(sums_are_there(3));
    const gex_Rank_t root = static_cast<gex_Rank_t>(count) % n;
    refill(5);
    wait(gex_Coll_ReduceToOneNB(tm, root, dst, src, GEX_DT_I64, 8, count, GEX_OP_ADD, nullptr,
                                nullptr, 0));
    if (job().rank == root) CHECK(sums_are_there(5));
    if (job().rank == root) spec::fill(src, count * 8, 70 + count);
    wait(gex_Coll_BroadcastNB(tm, root, dst, src, count * 8, 0));
    CHECK_PATTERN(dst, count * 8, 70 + count);
  }
}

// Nobody is inside of a collective any more.
void end(gex_Segment_t segment) {
  spec::barrier();
  gex_Segment_Destroy(segment, 0);
  spec::barrier();
}

}  // namespace

// The peers know the segment before this one. Would catch whatever remembers where an endpoint's
// memory is without asking which segment that was: the sums of other memory, or none.
SPEC_CASE(coll_segments, replaced) {
  for (const size_t earlier : {size_t{1} << 20, 3 * kMost, 5 * kMost}) {
    const gex_Segment_t first = bind_segment(earlier);
    publish(job().tm);
    std::memset(gex_Segment_QueryAddr(first), 7, earlier);
    end(first);
    const gex_Segment_t second = bind_segment(3 * kMost);
    spec::barrier();
    every_operation(second);
    end(second);
  }
}

// Some members know the segment, others the one before it; then all do. Would catch algorithms that
// take all members for equal in that.
SPEC_CASE(coll_segments, known_to_some, 2) {
  const gex_Segment_t first = bind_segment(3 * kMost);
  publish(job().tm);
  end(first);
  const gex_Segment_t second = bind_segment(4 * kMost);
  gex_TM_t half = GEX_TM_INVALID;
  gex_TM_Split(&half, job().tm, static_cast<int>(job().rank % 2), 0, nullptr, 0,
               GEX_FLAG_TM_NO_SCRATCH);
  publish(half);
  gex_TM_Destroy(half, nullptr, 0);
  spec::barrier();
  every_operation(second);
  publish(job().tm);
  every_operation(second);
  end(second);
}
