// Vector, indexed and strided transfers with device memory at one end or both.
#include <gasnet_vis.h>

#include <array>
#include <vector>

#include "devices.h"

using mk::at;
using mk::kPlaces;
using mk::pair;
using spec::job;

namespace {

constexpr size_t kRows = 10, kNear = 48, kFar = 160;  // bytes of a row here, and its pitch there
constexpr size_t kThere = 200000;                     // where rows of rank 0 begin

size_t rows_of(gex_Rank_t sender) { return kThere + sender * kRows * kFar; }

// The rows lie close together on the sending side and apart on the other. The lists stay until their
// operations are complete, as the calls demand.
struct Lists {
  std::array<void*, kRows> near, far;
  gex_Memvec_t near_vector;
  std::array<gex_Memvec_t, kRows> far_vector;
  Lists(std::byte* here, std::byte* there) : near_vector{here, kRows * kNear} {
    for (size_t i = 0; i < kRows; ++i) {
      near[i] = here + i * kNear;
      far[i] = there + i * kFar;
      far_vector[i] = {far[i], kNear};
    }
  }
};

gex_Event_t put(gex_TM_t tm, gex_Rank_t rank, Lists& l, unsigned form) {
  const ptrdiff_t there = kFar, here = kNear;
  const size_t count = kRows;
  if (form == 0) {
    return gex_VIS_StridedPutNB(tm, rank, l.far[0], &there, l.near[0], &here, kNear, &count, 1, 0);
  }
  if (form == 1) {
    return gex_VIS_IndexedPutNB(tm, rank, kRows, l.far.data(), kNear, kRows, l.near.data(), kNear,
                                0);
  }
  return gex_VIS_VectorPutNB(tm, rank, kRows, l.far_vector.data(), 1, &l.near_vector, 0);
}
gex_Event_t get(gex_TM_t tm, gex_Rank_t rank, Lists& l, unsigned form) {
  const ptrdiff_t there = kFar, here = kNear;
  const size_t count = kRows;
  if (form == 0) {
    return gex_VIS_StridedGetNB(tm, l.near[0], &here, rank, l.far[0], &there, kNear, &count, 1, 0);
  }
  if (form == 1) {
    return gex_VIS_IndexedGetNB(tm, kRows, l.near.data(), kNear, rank, kRows, l.far.data(), kNear,
                                0);
  }
  return gex_VIS_VectorGetNB(tm, 1, &l.near_vector, rank, kRows, l.far_vector.data(), 0);
}

}  // namespace

// Catches rows in the wrong place, gaps that are overwritten, and packing that reads device memory.
SPEC_CASE(mk_vis, all_forms) {
  mk::devices();
  for (unsigned from = 0; from < kPlaces; ++from) {
    for (unsigned to = 0; to < kPlaces; ++to) {
      if (from == 0 && to == 0) continue;
      for (unsigned form = 0; form < 3; ++form) {
        for (gex_Rank_t d = 0; d < job().size; ++d) {
          const gex_Rank_t peer = job().peer(d);
          const uint64_t seed = (job().rank * 16 + from) * 16 + to + form * 4096;
          mk::fill(from, 0, kRows * kNear, seed);
          if (d == 0) mk::fill(to, rows_of(job().rank), kRows * kFar, 7);
          Lists lists(at(job().rank, from), at(peer, to, rows_of(job().rank)));
          gex_Event_Wait(put(pair(from, to), peer, lists, form));
          // Back again, to another place here.
          Lists back(at(job().rank, from, 100000), at(peer, to, rows_of(job().rank)));
          gex_Event_Wait(get(pair(from, to), peer, back, form));
          CHECK_PLACE(from, 100000, kRows * kNear, seed);
        }
        spec::barrier();
        // What lies between the rows is as it was, where this rank wrote to itself.
        std::vector<std::byte> expected(kRows * kFar), seen(kRows * kFar);
        spec::fill(expected.data(), expected.size(), 7);
        mk::read(to, rows_of(job().rank), seen.data(), seen.size());
        for (size_t i = 0; i < kRows; ++i) {
          for (size_t b = kNear; b < kFar; ++b) {
            if (seen[i * kFar + b] == expected[i * kFar + b]) continue;
            FAIL("a gap between rows was overwritten");
            return;
          }
        }
        spec::barrier();
      }
    }
  }
}
