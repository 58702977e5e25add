// The older collectives: every member gets what it is to get, whatever the sizes, flags and roots.
#include <gasnet_coll.h>

#include <atomic>
#include <cstring>
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
