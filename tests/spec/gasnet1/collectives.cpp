// The older collectives: every member gets what it is to get, whatever the sizes, flags and roots.
#include <gasnet_coll.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "gasnet1.h"

using spec::job;

namespace {

constexpr size_t kSizes[] = {0, 1, 8, 1000, 70000};
constexpr int kMy = GASNET_COLL_IN_MYSYNC | GASNET_COLL_OUT_MYSYNC | GASNET_COLL_LOCAL;
constexpr int kAll = GASNET_COLL_IN_ALLSYNC | GASNET_COLL_OUT_ALLSYNC | GASNET_COLL_LOCAL;
constexpr int kNo = GASNET_COLL_IN_NOSYNC | GASNET_COLL_OUT_NOSYNC | GASNET_COLL_LOCAL;
constexpr int kFlags[] = {kMy, kAll, kNo, GASNET_COLL_IN_ALLSYNC | GASNET_COLL_OUT_MYSYNC,
                          GASNET_COLL_IN_MYSYNC | GASNET_COLL_OUT_ALLSYNC};

using Bytes = std::vector<char>;
// The block that `from` sends to `to`; broadcasts and gathers have one for all.
uint64_t seed(gex_Rank_t from, gex_Rank_t to = 0) {
  return from * 1000 + to + 1;
}
Bytes own_blocks(size_t n) {
  Bytes out(n * job().size + 1, 'x');
  for (gex_Rank_t r = 0; r < job().size; ++r) spec::fill(&out[r * n], n, seed(job().rank, r));
  return out;
}
size_t total(size_t n) {
  return n * job().size;
}

std::atomic<unsigned> entered{0};
void on_entered(gasnet_token_t) {
  entered.fetch_add(1, std::memory_order_release);
}
g1::Handler entered_handler(&on_entered);

}  // namespace

SPEC_CASE(collectives, broadcast) {
  for (const size_t n : kSizes)
    for (const int flags : kFlags)
      for (gex_Rank_t root = 0; root < job().size; root += 1 + root) {
        Bytes src(n + 1), dst(n + 1, 'x');
        if (job().rank == root) spec::fill(src.data(), n, seed(root));
        gasnet_coll_broadcast(GASNET_TEAM_ALL, dst.data(), root, src.data(), n, flags);
        CHECK_PATTERN(dst.data(), n, seed(root));
        CHECK_EQ(dst[n], 'x');
      }
  // In place, as one known client does it.
  uint64_t word = job().rank == 0 ? 4711 : 0;
  gasnet_coll_broadcast(GASNET_TEAM_ALL, &word, 0, &word, sizeof word, kMy);
  CHECK_EQ(word, 4711u);
}

SPEC_CASE(collectives, gather) {
  for (const size_t n : kSizes)
    for (const int flags : kFlags) {
      const gex_Rank_t root = static_cast<gex_Rank_t>(n) % job().size;
      Bytes src(n + 1), dst(total(n) + 1, 'x');
      spec::fill(src.data(), n, seed(job().rank));
      gasnet_coll_gather(GASNET_TEAM_ALL, root, dst.data(), src.data(), n, flags);
      CHECK_EQ(dst[total(n)], 'x');
      if (job().rank == root) {
        for (gex_Rank_t r = 0; r < job().size; ++r) CHECK_PATTERN(&dst[r * n], n, seed(r));
      }
      // The source is the caller's again.
      std::fill(src.begin(), src.end(), 'y');
    }
}

SPEC_CASE(collectives, gather_all) {
  for (const size_t n : kSizes)
    for (const int flags : kFlags)
      for (const bool in_place : {false, true}) {
        Bytes src(n + 1), dst(total(n) + 1, 'x');
        char* from = in_place ? &dst[job().rank * n] : src.data();
        spec::fill(from, n, seed(job().rank));
        gasnet_coll_gather_all(GASNET_TEAM_ALL, dst.data(), from, n, flags);
        for (gex_Rank_t r = 0; r < job().size; ++r) CHECK_PATTERN(&dst[r * n], n, seed(r));
        CHECK_EQ(dst[total(n)], 'x');
      }
}

SPEC_CASE(collectives, scatter) {
  for (const size_t n : kSizes)
    for (const int flags : kFlags) {
      const gex_Rank_t root = static_cast<gex_Rank_t>(n + 1) % job().size;
      const Bytes src = job().rank == root ? own_blocks(n) : Bytes(1);
      Bytes dst(n + 1, 'x');
      gasnet_coll_scatter(GASNET_TEAM_ALL, dst.data(), root, src.data(), n, flags);
      CHECK_PATTERN(dst.data(), n, seed(root, job().rank));
      CHECK_EQ(dst[n], 'x');
    }
}

SPEC_CASE(collectives, exchange) {
  for (const size_t n : kSizes)
    for (const int flags : kFlags) {
      const Bytes src = own_blocks(n);
      Bytes dst(total(n) + 1, 'x');
      gasnet_coll_exchange(GASNET_TEAM_ALL, dst.data(), src.data(), n, flags);
      for (gex_Rank_t r = 0; r < job().size; ++r)
        CHECK_PATTERN(&dst[r * n], n, seed(r, job().rank));
      CHECK_EQ(dst[total(n)], 'x');
    }
}

// Several under way, waited for in every way, and one that nobody but the root could finish early.
SPEC_CASE(collectives, non_blocking) {
  constexpr unsigned kCount = 5;
  const size_t n = 600;
  for (int way = 0; way < 5; ++way) {
    std::vector<Bytes> dst(kCount, Bytes(total(n) + 1, 'x'));
    Bytes src(n);
    spec::fill(src.data(), n, seed(job().rank));
    const Bytes blocks = own_blocks(n);
    gasnet_coll_handle_t handles[kCount] = {
        gasnet_coll_broadcast_nb(GASNET_TEAM_ALL, dst[0].data(), 0, src.data(), n, kMy),
        gasnet_coll_gather_nb(GASNET_TEAM_ALL, 0, dst[1].data(), src.data(), n, kMy),
        gasnet_coll_gather_all_nb(GASNET_TEAM_ALL, dst[2].data(), src.data(), n, kAll),
        gasnet_coll_scatter_nb(GASNET_TEAM_ALL, dst[3].data(), 0, blocks.data(), n, kMy),
        gasnet_coll_exchange_nb(GASNET_TEAM_ALL, dst[4].data(), blocks.data(), n, kAll)};
    switch (way) {
      case 0:
        for (unsigned i = kCount; i-- > 0;) gasnet_coll_wait_sync(handles[i]);
        break;
      case 1:
        for (gasnet_coll_handle_t handle : handles)
          while (gasnet_coll_try_sync(handle) == GASNET_ERR_NOT_READY) continue;
        break;
      case 2:
        gasnet_coll_wait_sync_all(handles, kCount);
        break;
      case 3:
        while (gasnet_coll_try_sync_all(handles, kCount) == GASNET_ERR_NOT_READY) continue;
        break;
      case 4:
        gasnet_coll_wait_sync_some(handles, kCount);
        while (gasnet_coll_try_sync_some(handles, kCount) == GASNET_ERR_NOT_READY) continue;
        gasnet_coll_wait_sync_all(handles, kCount);
        break;
    }
    CHECK_PATTERN(dst[0].data(), n, seed(0));
    if (job().rank == 0)
      for (gex_Rank_t r = 0; r < job().size; ++r) CHECK_PATTERN(&dst[1][r * n], n, seed(r));
    for (gex_Rank_t r = 0; r < job().size; ++r) CHECK_PATTERN(&dst[2][r * n], n, seed(r));
    CHECK_PATTERN(dst[3].data(), n, seed(0, job().rank));
    for (gex_Rank_t r = 0; r < job().size; ++r)
      CHECK_PATTERN(&dst[4][r * n], n, seed(r, job().rank));
  }
}

// With ALLSYNC on either side nobody is through before all have come.
SPEC_CASE(collectives, all_sync, 2) {
  for (const int flags : {kAll, GASNET_COLL_IN_ALLSYNC | GASNET_COLL_OUT_MYSYNC,
                          GASNET_COLL_IN_MYSYNC | GASNET_COLL_OUT_ALLSYNC}) {
    entered.store(0);
    gasnet_barrier(1, 0);
    const gex_Rank_t late = job().size - 1;
    char byte = 'b', got = 0;
    if (job().rank == late) {
      GASNET_BLOCKUNTIL(entered.load(std::memory_order_acquire) == job().size - 1);
      gasnet_coll_broadcast(GASNET_TEAM_ALL, &got, 0, &byte, 1, flags);
    } else {
      const auto handle = gasnet_coll_broadcast_nb(GASNET_TEAM_ALL, &got, 0, &byte, 1, flags);
      for (int i = 0; i < 50; ++i) {
        gasnet_AMPoll();
        if (!CHECK(handle != GASNET_COLL_INVALID_HANDLE && gex_Event_Test(handle) != 0)) return;
      }
      gasnet_AMRequestShort0(late, entered_handler);
      gasnet_coll_wait_sync(handle);
    }
    CHECK_EQ(got, 'b');
  }
  gasnet_barrier(1, 0);
}

// ---- what the flags promise ----

namespace {

// Buffers that every rank reaches: sources, then destinations, of blocks for all ranks.
constexpr size_t kBlock = 600;
constexpr size_t kPlaces = 16384;
static_assert(kPlaces >= kBlock * 7);
std::byte* sources(gex_Rank_t rank) {
  return spec::segment_of(rank, spec::kScratchOffset);
}
std::byte* destinations(gex_Rank_t rank) {
  return spec::segment_of(rank, spec::kScratchOffset + kPlaces);
}

// An operation with root 0, with the blocks of own_blocks() as sources.
enum class What { broadcast, gather, gather_all, scatter, exchange };
constexpr What kWhat[] = {What::broadcast, What::gather, What::gather_all, What::scatter,
                          What::exchange};

gasnet_coll_handle_t start_with(What what, int flags) {
  std::byte *const dst = destinations(job().rank), *const src = sources(job().rank);
  switch (what) {
    case What::broadcast:
      return gasnet_coll_broadcast_nb(GASNET_TEAM_ALL, dst, 0, src, kBlock, flags);
    case What::gather:
      return gasnet_coll_gather_nb(GASNET_TEAM_ALL, 0, dst, src, kBlock, flags);
    case What::gather_all:
      return gasnet_coll_gather_all_nb(GASNET_TEAM_ALL, dst, src, kBlock, flags);
    case What::scatter:
      return gasnet_coll_scatter_nb(GASNET_TEAM_ALL, dst, 0, src, kBlock, flags);
    case What::exchange:
      return gasnet_coll_exchange_nb(GASNET_TEAM_ALL, dst, src, kBlock, flags);
  }
  return GASNET_COLL_INVALID_HANDLE;
}

// The content of block `place` of that rank's destination in the end; 0: as it was before.
uint64_t wanted(What what, gex_Rank_t rank, gex_Rank_t place) {
  switch (what) {
    case What::broadcast:
      return place == 0 ? seed(0) : 0;
    case What::gather:
      return rank == 0 ? seed(place) : 0;
    case What::gather_all:
      return seed(place);
    case What::scatter:
      return place == 0 ? seed(0, rank) : 0;
    case What::exchange:
      return seed(place, rank);
  }
  return 0;
}

constexpr std::byte kUntouched{0x5A};

Bytes destinations_of(gex_Rank_t rank) {
  Bytes out(total(kBlock));
  gex_RMA_GetBlocking(job().tm, out.data(), rank, destinations(rank), out.size(), 0);
  return out;
}
bool is_untouched(gex_Rank_t rank) {
  const Bytes found = destinations_of(rank);
  return std::all_of(found.begin(), found.end(), [](char c) { return std::byte(c) == kUntouched; });
}
bool is_complete(What what, gex_Rank_t rank) {
  const Bytes found = destinations_of(rank);
  for (gex_Rank_t place = 0; place < job().size; ++place) {
    const char* const at = &found[place * kBlock];
    const uint64_t want = wanted(what, rank, place);
    const bool good =
        want != 0 ? spec::first_difference(at, kBlock, want) == kBlock
                  : std::all_of(at, at + kBlock, [](char c) { return std::byte(c) == kUntouched; });
    if (!good) return false;
  }
  return true;
}

// The source of that rank gets what it is to hold.
void write_sources(gex_Rank_t rank) {
  Bytes blocks(total(kBlock));
  for (gex_Rank_t to = 0; to < job().size; ++to)
    spec::fill(&blocks[to * kBlock], kBlock, seed(rank, to));
  gex_RMA_PutBlocking(job().tm, rank, sources(rank), blocks.data(), blocks.size(), 0);
}

// The last rank comes when all others have been in the operation for a while; until the moment that
// `in` names, sources hold what nobody may read.
void late_rank(What what, int in, int out) {
  GASNET_BLOCKUNTIL(entered.load(std::memory_order_acquire) == job().size - 1);
  for (int i = 0; i < 20; ++i) gasnet_AMPoll();
  // Not even a block that a rank keeps for itself.
  for (gex_Rank_t r = 0; in == GASNET_COLL_IN_ALLSYNC && r + 1 < job().size; ++r) {
    CHECK(is_untouched(r));
    write_sources(r);
  }
  if (in != GASNET_COLL_IN_NOSYNC) {
    CHECK(is_untouched(job().rank));
    write_sources(job().rank);
  }
  const gasnet_coll_handle_t handle = start_with(what, in | out | GASNET_COLL_LOCAL);
  // Others that do not wait for this rank's data have the time to say that they are through.
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  gasnet_coll_wait_sync(handle);
}

void other_rank(What what, int in, int out) {
  if (in == GASNET_COLL_IN_MYSYNC) write_sources(job().rank);
  const gasnet_coll_handle_t handle = start_with(what, in | out | GASNET_COLL_LOCAL);
  gasnet_AMRequestShort0(job().size - 1, entered_handler);
  gasnet_coll_wait_sync(handle);
}

void in_and_out(What what, int in, int out) {
  entered.store(0);
  std::fill_n(destinations(job().rank), total(kBlock), kUntouched);
  std::fill_n(sources(job().rank), total(kBlock), std::byte{0xBD});
  if (in == GASNET_COLL_IN_NOSYNC) write_sources(job().rank);
  gasnet_barrier(1, 0);
  if (job().rank + 1 == job().size) {
    late_rank(what, in, out);
  } else {
    other_rank(what, in, out);
  }
  for (gex_Rank_t r = 0; out == GASNET_COLL_OUT_ALLSYNC && r < job().size; ++r)
    CHECK(is_complete(what, r));
  if (out == GASNET_COLL_OUT_MYSYNC) CHECK(is_complete(what, job().rank));
  gasnet_barrier(1, 0);
  CHECK(is_complete(what, job().rank));
  gasnet_barrier(1, 0);
}

}  // namespace

// Every pair of flags with every operation. IN_ALLSYNC: no rank's data, its own block included, is
// read or written before all have entered; IN_MYSYNC: not before that rank has. OUT_ALLSYNC: who is
// through finds everybody's data in place; OUT_MYSYNC: its own. Would catch data that moves too
// early (a block that its owner copies at the call, a source that is sent at once) and calls that
// end too early.
SPEC_CASE(collectives, in_and_out, 2) {
  for (const What what : kWhat)
    for (const int in : {GASNET_COLL_IN_NOSYNC, GASNET_COLL_IN_MYSYNC, GASNET_COLL_IN_ALLSYNC})
      for (const int out :
           {GASNET_COLL_OUT_NOSYNC, GASNET_COLL_OUT_MYSYNC, GASNET_COLL_OUT_ALLSYNC})
        in_and_out(what, in, out);
}

SPEC_CASE(collectives, barriers) {
  CHECK_EQ(gasnet_coll_barrier(GASNET_TEAM_ALL, 3, 0), GASNET_OK);
  gasnet_coll_barrier_notify(GASNET_TEAM_ALL, 4, 0);
  CHECK_EQ(gasnet_coll_barrier_wait(GASNET_TEAM_ALL, 4, 0), GASNET_OK);
  int id = 0;
  CHECK_EQ(gasnet_coll_barrier_result(GASNET_TEAM_ALL, &id), 0);
  CHECK_EQ(id, 4);
  gasnet_coll_barrier_notify(GASNET_TEAM_ALL, 0, GASNET_BARRIERFLAG_UNNAMED);
  int status;
  do status = gasnet_coll_barrier_try(GASNET_TEAM_ALL, 0, GASNET_BARRIERFLAG_UNNAMED);
  while (status == GASNET_ERR_NOT_READY);
  CHECK_EQ(status, GASNET_OK);
  CHECK_EQ(sizeof(gasnet_image_t), 4u);
  const gasnet_team_handle_t team = GASNET_TEAM_ALL;
  CHECK(team == job().tm);
  gasnet_coll_dumpProfile("none", team);
  gasnet_coll_dumpTuningState("none", team);
  gasnet_coll_loadTuningState("none", team);
}
