// What flags say of address arguments: GEX_FLAG_{SELF,PEER}_SEG_*, GEX_FLAG_LC_COPY_*, and
// GEX_FLAG_PEER_NEVER_*. Wrong assertions are in tests/fault.
#include <gasnet_vis.h>

#include <atomic>
#include <cstring>
#include <initializer_list>
#include <utility>
#include <vector>

#include "extra_endpoints.h"

using spec::extra;
using spec::job;

namespace {

constexpr size_t kBytes = 40000;  // several messages where messages have to do it
// Memory of each rank in no segment; every rank learns where.
char outside[kBytes + 64];

// Where a rank keeps `outside`: told through its segment.
char* outside_of(gex_Rank_t rank) {
  const uint64_t mine = reinterpret_cast<uint64_t>(outside);
  spec::barrier();
  std::memcpy(spec::my_segment(64), &mine, sizeof mine);
  spec::barrier();
  return reinterpret_cast<char*>(
      gex_RMA_GetBlockingVal(job().tm, rank, spec::segment_of(rank, 64), 8, 0));
}

// Puts by every form and reads back by every form, with the given flags.
void round_trip(gex_Rank_t rank, void* there, gex_Flags_t flags, uint64_t seed,
                size_t bytes = kBytes) {
  std::vector<char> data(bytes), got(bytes);
  for (unsigned form = 0; form < 3; ++form) {
    spec::fill(data.data(), bytes, seed + form);
    gex_Event_t leaf = GEX_EVENT_INVALID;
    switch (form) {
      case 0:
        gex_RMA_PutBlocking(job().tm, rank, there, data.data(), bytes, flags);
        break;
      case 1: {
        const gex_Event_t root =
            gex_RMA_PutNB(job().tm, rank, there, data.data(), bytes, &leaf, flags);
        gex_Event_Wait(leaf);
        gex_Event_Wait(root);
        break;
      }
      case 2:
        gex_RMA_PutNBI(job().tm, rank, there, data.data(), bytes, GEX_EVENT_NOW, flags);
        gex_NBI_Wait(GEX_EC_PUT, 0);
        break;
    }
    std::memset(got.data(), 0, bytes);
    switch (form) {
      case 0:
        gex_RMA_GetBlocking(job().tm, got.data(), rank, there, bytes, flags);
        break;
      case 1:
        gex_Event_Wait(gex_RMA_GetNB(job().tm, got.data(), rank, there, bytes, flags));
        break;
      case 2:
        gex_RMA_GetNBI(job().tm, got.data(), rank, there, bytes, flags);
        gex_NBI_Wait(GEX_EC_GET, 0);
        break;
    }
    CHECK_PATTERN(got.data(), bytes, seed + form);
  }
  const uint64_t value = 0x1234567890ABCDEFull + seed;
  gex_RMA_PutBlockingVal(job().tm, rank, there, value, 8, flags);
  CHECK_EQ(gex_RMA_GetBlockingVal(job().tm, rank, there, 8, flags), value);
}

std::byte* inside(gex_Rank_t rank) {
  return spec::segment_of(rank, (size_t{1} << 20) + job().rank * size_t{1 << 16});
}

}  // namespace

// All four promises about the peer hold for memory of its bound segment.
SPEC_CASE(seg_flags, peer_inside) {
  const gex_Rank_t peer = job().peer();
  uint64_t seed = job().rank;
  for (const gex_Flags_t flags :
       {gex_Flags_t{0}, GEX_FLAG_PEER_SEG_UNKNOWN, GEX_FLAG_PEER_SEG_SOME, GEX_FLAG_PEER_SEG_BOUND})
    round_trip(peer, inside(peer), flags, seed += 10);
  const auto offset = reinterpret_cast<void*>(inside(peer) - spec::segment_of(peer));
  round_trip(peer, offset, GEX_FLAG_PEER_SEG_OFFSET, seed + 10);
  spec::barrier();
}

// SOME: another segment of the peer's process, over the primordial team.
SPEC_CASE(seg_flags, peer_in_another_segment) {
  const gex_Rank_t peer = job().peer();
  for (const unsigned i : {1u, 2u}) {
    spec::barrier();
    for (const gex_Flags_t flags : {GEX_FLAG_PEER_SEG_SOME, GEX_FLAG_PEER_SEG_UNKNOWN})
      round_trip(peer, spec::extra_segment(peer, i, 64), flags, job().rank * 7u + i);
  }
  spec::barrier();
}

// UNKNOWN: memory in no segment at all.
SPEC_CASE(seg_flags, peer_in_no_segment) {
  const gex_Rank_t peer = job().peer();
  round_trip(peer, outside_of(peer) + 3, GEX_FLAG_PEER_SEG_UNKNOWN, 99 + job().rank);
  spec::barrier();
  if (job().size > 1) CHECK(spec::first_difference(outside + 11, 100, 0) != 100);
}

// Vector, indexed and strided puts and gets of pieces of `at`, every other one of them.
static void vis_round_trip(gex_Rank_t rank, char* at, gex_Flags_t flags, uint64_t seed,
                           size_t piece, size_t pieces) {
  const size_t bytes = piece * pieces;
  const ptrdiff_t far_stride[] = {static_cast<ptrdiff_t>(2 * piece)};
  const ptrdiff_t near_stride[] = {static_cast<ptrdiff_t>(piece)};
  std::vector<char> data(bytes), got(bytes);
  std::vector<gex_Memvec_t> far;
  std::vector<void*> far_list;
  for (size_t i = 0; i < pieces; ++i) {
    far.push_back({at + 2 * i * piece, piece});
    far_list.push_back(at + 2 * i * piece);
  }
  const gex_TM_t tm = job().tm;
  for (unsigned form = 0; form < 3; ++form) {
    spec::fill(data.data(), bytes, seed + form);
    std::memset(got.data(), 0, bytes);
    void* const from[] = {data.data()};
    void* const to[] = {got.data()};
    const gex_Memvec_t from_vector = {data.data(), bytes}, to_vector = {got.data(), bytes};
    switch (form) {
      case 0:
        gex_Event_Wait(gex_VIS_VectorPutNB(tm, rank, pieces, far.data(), 1, &from_vector, flags));
        gex_Event_Wait(gex_VIS_VectorGetNB(tm, 1, &to_vector, rank, pieces, far.data(), flags));
        break;
      case 1:
        gex_VIS_IndexedPutBlocking(tm, rank, pieces, far_list.data(), piece, 1, from, bytes, flags);
        gex_VIS_IndexedGetBlocking(tm, 1, to, bytes, rank, pieces, far_list.data(), piece, flags);
        break;
      case 2:
        gex_VIS_StridedPutNBI(tm, rank, at, far_stride, data.data(), near_stride, piece, &pieces, 1,
                              flags);
        gex_NBI_Wait(GEX_EC_PUT, 0);
        gex_VIS_StridedGetNBI(tm, got.data(), near_stride, rank, at, far_stride, piece, &pieces, 1,
                              flags);
        gex_NBI_Wait(GEX_EC_GET, 0);
        break;
    }
    CHECK_PATTERN(got.data(), bytes, seed + form);
  }
}

// The same promises in non-contiguous transfers, with pieces below and above what one message
// holds. Would catch pieces that are taken for memory of the bound segment: refused by
// `checks: full`, or written to wherever that segment's mapping is.
SPEC_CASE(seg_flags, vis_elsewhere) {
  const gex_Rank_t peer = job().peer();
  char* const nowhere = outside_of(peer);
  const uint64_t seed = 3000 + job().rank;
  for (const auto& [piece, pieces] :
       {std::pair<size_t, size_t>{8, 40}, {600, 9}, {kBytes / 4, 2}, {kBytes, 1}}) {
    for (const gex_Flags_t flags : {gex_Flags_t{0}, GEX_FLAG_PEER_SEG_BOUND, GEX_FLAG_PEER_SEG_SOME,
                                    GEX_FLAG_PEER_SEG_UNKNOWN})
      if (2 * pieces * piece <= size_t{1} << 16)
        vis_round_trip(peer, reinterpret_cast<char*>(inside(peer)), flags, seed, piece, pieces);
    vis_round_trip(peer, nowhere, GEX_FLAG_PEER_SEG_UNKNOWN, seed + 1, piece, pieces);
    if (2 * pieces * piece <= 32768)
      for (const gex_Flags_t flags : {GEX_FLAG_PEER_SEG_SOME, GEX_FLAG_PEER_SEG_UNKNOWN})
        vis_round_trip(peer, reinterpret_cast<char*>(spec::extra_segment(peer, 1, 0)), flags,
                       seed + 2, piece, pieces);
  }
  spec::barrier();
}

// One list with pieces in the bound segment, in another one and in none.
SPEC_CASE(seg_flags, vis_mixed) {
  const gex_Rank_t peer = job().peer();
  char* const nowhere = outside_of(peer);
  char* const there = reinterpret_cast<char*>(spec::extra_segment(peer, 2, 256));
  std::vector<char> data(600), got(600);
  const gex_Memvec_t from = {data.data(), 600}, to = {got.data(), 600};
  const gex_Memvec_t segments[] = {{inside(peer), 200}, {there, 200}, {inside(peer) + 900, 200}};
  const gex_Memvec_t all[] = {{there, 200}, {nowhere + 1, 200}, {inside(peer), 200}};
  uint64_t seed = 5000 + job().rank;
  const auto move = [&](const gex_Memvec_t* far, gex_Flags_t flags) {
    spec::fill(data.data(), 600, ++seed);
    std::memset(got.data(), 0, 600);
    gex_VIS_VectorPutBlocking(job().tm, peer, 3, far, 1, &from, flags);
    gex_VIS_VectorGetBlocking(job().tm, 1, &to, peer, 3, far, flags);
    CHECK_PATTERN(got.data(), 600, seed);
  };
  move(segments, GEX_FLAG_PEER_SEG_SOME);
  move(segments, GEX_FLAG_PEER_SEG_UNKNOWN);
  move(all, GEX_FLAG_PEER_SEG_UNKNOWN);
  spec::barrier();
}

// Long messages to memory beyond the bound segment, inline and in pieces.
static std::atomic<unsigned> longs{0}, bad_longs{0};
static void on_long(gex_Token_t, void* data, size_t length, gex_AM_Arg_t seed) {
  if (spec::first_difference(data, length, static_cast<uint64_t>(seed)) != length)
    bad_longs.fetch_add(1);
  longs.fetch_add(1, std::memory_order_release);
}
static const spec::Handler long_handler(&on_long, GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST,
                                        "seg_flags.long");
SPEC_CASE(seg_flags, long_elsewhere) {
  const gex_Rank_t peer = job().peer();
  char* const there = outside_of(peer) + 5;
  longs = bad_longs = 0;
  spec::barrier();
  unsigned sent = 0;
  for (const size_t bytes : {size_t{0}, size_t{16}, size_t{600}, kBytes}) {
    std::vector<char> data(bytes);
    spec::fill(data.data(), bytes, sent);
    gex_AM_RequestLong1(job().tm, peer, long_handler, data.data(), bytes, there, GEX_EVENT_NOW,
                        GEX_FLAG_PEER_SEG_UNKNOWN, static_cast<gex_AM_Arg_t>(sent));
    ++sent;
    GASNET_BLOCKUNTIL(longs.load(std::memory_order_acquire) == sent);
    spec::barrier();
    const auto seed = sent + 100;
    spec::fill(data.data(), bytes, seed);
    gex_AM_RequestLong1(job().tm, peer, long_handler, data.data(), bytes,
                        spec::extra_segment(peer, 1, 3), GEX_EVENT_NOW, GEX_FLAG_PEER_SEG_SOME,
                        static_cast<gex_AM_Arg_t>(seed));
    ++sent;
    GASNET_BLOCKUNTIL(longs.load(std::memory_order_acquire) == sent);
    spec::barrier();
  }
  CHECK_EQ(bad_longs.load(), 0u);
}

// The same with a negotiated payload, of the client's or the library's, and with the destination
// named at Prepare or only at Commit. Would catch flags that are forgotten between the two.
SPEC_CASE(seg_flags, negotiated_long_elsewhere) {
  const gex_Rank_t peer = job().peer();
  char* const there = outside_of(peer) + 5;
  const struct {
    void* dest;
    gex_Flags_t flags;
  } places[] = {{there, GEX_FLAG_PEER_SEG_UNKNOWN},
                {spec::extra_segment(peer, 1, 3), GEX_FLAG_PEER_SEG_SOME}};
  longs = bad_longs = 0;
  spec::barrier();
  unsigned sent = 0;
  for (const auto& place : places)
    for (const bool library : {true, false})
      for (const bool at_prepare : {true, false})
        for (const size_t bytes : {size_t{16}, size_t{600}, size_t{4000}}) {
          std::vector<char> own(library ? 0 : bytes);
          const gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestLong(
              job().tm, peer, library ? nullptr : own.data(), 512 < bytes ? 512 : bytes, bytes,
              at_prepare ? place.dest : nullptr, library ? nullptr : GEX_EVENT_NOW, place.flags, 1);
          const size_t granted = gex_AM_SrcDescSize(sd);
          spec::fill(gex_AM_SrcDescAddr(sd), granted, sent);
          gex_AM_CommitRequestLong1(sd, long_handler, granted, place.dest,
                                    static_cast<gex_AM_Arg_t>(sent));
          ++sent;
          GASNET_BLOCKUNTIL(longs.load(std::memory_order_acquire) == sent);
          spec::barrier();
        }
  CHECK_EQ(bad_longs.load(), 0u);
}

SPEC_CASE(seg_flags, self) {
  const gex_Rank_t peer = job().peer();
  std::byte* const mine = spec::my_segment(size_t{1} << 16);
  spec::barrier();
  spec::fill(mine, 4096, job().rank);
  const auto put = [&](void* from, gex_Flags_t flags) {
    gex_RMA_PutBlocking(job().tm, peer, inside(peer), from, 4096, flags);
    std::vector<char> got(4096);
    gex_RMA_GetBlocking(job().tm, got.data(), peer, inside(peer), 4096, 0);
    CHECK_PATTERN(got.data(), got.size(), job().rank);
    gex_RMA_PutBlockingVal(job().tm, peer, inside(peer), 0, 8, 0);
  };
  put(mine, GEX_FLAG_SELF_SEG_BOUND);
  put(mine, GEX_FLAG_SELF_SEG_SOME | GEX_FLAG_PEER_SEG_BOUND);
  put(mine, GEX_FLAG_SELF_SEG_UNKNOWN);
  put(reinterpret_cast<void*>(mine - spec::my_segment(0)), GEX_FLAG_SELF_SEG_OFFSET);
  std::memcpy(spec::extra_segment(job().rank, 1, 0), mine, 4096);
  put(spec::extra_segment(job().rank, 1, 0), GEX_FLAG_SELF_SEG_SOME);
  std::vector<std::byte> stack(mine, mine + 4096);
  put(stack.data(), GEX_FLAG_SELF_SEG_UNKNOWN);
  // As destinations.
  std::byte* const to = mine + 8192;
  gex_RMA_PutBlocking(job().tm, peer, inside(peer), mine, 4096, 0);
  for (const gex_Flags_t flags : {GEX_FLAG_SELF_SEG_BOUND, GEX_FLAG_SELF_SEG_OFFSET}) {
    std::memset(to, 0, 4096);
    gex_RMA_GetBlocking(
        job().tm,
        flags == GEX_FLAG_SELF_SEG_BOUND ? to : reinterpret_cast<void*>(to - spec::my_segment(0)),
        peer, inside(peer), 4096, flags);
    CHECK_PATTERN(to, 4096, job().rank);
  }
  spec::barrier();
}

// With a copy wanted the source is free once the leaf says so, without one too.
SPEC_CASE(seg_flags, copies) {
  const gex_Rank_t peer = job().peer();
  for (const gex_Flags_t flags : {GEX_FLAG_LC_COPY_YES, GEX_FLAG_LC_COPY_NO})
    for (const size_t bytes : {size_t{8}, size_t{1000}, kBytes}) {
      std::vector<char> data(bytes), got(bytes);
      spec::fill(data.data(), bytes, bytes + flags);
      gex_Event_t leaf = GEX_EVENT_INVALID;
      const gex_Event_t root =
          gex_RMA_PutNB(job().tm, peer, inside(peer), data.data(), bytes, &leaf, flags);
      gex_Event_Wait(leaf);
      std::memset(data.data(), 0, bytes);
      gex_Event_Wait(root);
      gex_RMA_GetBlocking(job().tm, got.data(), peer, inside(peer), bytes, 0);
      CHECK_PATTERN(got.data(), bytes, bytes + flags);
    }
  spec::barrier();
}

// Peers that are where the flags say they are not are misuse; elsewhere they change nothing.
SPEC_CASE(seg_flags, peer_never) {
  gex_RankInfo_t* nbrhd = nullptr;
  gex_Rank_t neighbors = 0;
  gex_System_QueryNbrhdInfo(&nbrhd, &neighbors, nullptr);
  for (gex_Rank_t r = 0; r < job().size; ++r) {
    if (r == job().rank) continue;
    gex_RMA_PutBlockingVal(job().tm, r, inside(r), 5 + r, 8, GEX_FLAG_PEER_NEVER_SELF);
    CHECK_EQ(gex_RMA_GetBlockingVal(job().tm, r, inside(r), 8, GEX_FLAG_PEER_NEVER_SELF), 5 + r);
    bool near = false;
    for (gex_Rank_t i = 0; i < neighbors; ++i) near = near || nbrhd[i].gex_jobrank == r;
    if (near) continue;
    gex_RMA_PutBlockingVal(job().tm, r, inside(r), 6 + r, 8, GEX_FLAG_PEER_NEVER_NBRHD);
    CHECK_EQ(gex_RMA_GetBlockingVal(job().tm, r, inside(r), 8, GEX_FLAG_PEER_NEVER_NBRHD), 6 + r);
  }
  spec::barrier();
}
