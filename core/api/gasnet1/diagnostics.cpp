// gasnett_run_diagnostics: the library tries itself in the place where it runs, for users who want
// to know whether it is to blame.
#include <gasnet.h>
#include <gasnet_coll.h>
#include <gasnet_tools.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include "api/export.h"

namespace {

std::atomic<int> g_failures{0};  // relaxed: summed up after the threads are joined

void failed(const char* what, int round) {
  g_failures.fetch_add(1, std::memory_order_relaxed);
  std::fprintf(stderr, "gasnett_run_diagnostics: %s failed in round %d\n", what, round);
}

template <typename Body>
void on_threads(int threads, Body&& body) {
  std::vector<std::thread> running;
  for (int t = 1; t < threads; ++t) running.emplace_back([&body, t] { body(t); });
  body(0);
  for (std::thread& thread : running) thread.join();
}

void try_atomics(int rounds, int threads) {
  static gasnett_atomic_t plain = gasnett_atomic_init(0);
  static gasnett_atomic32_t narrow = gasnett_atomic32_init(0);
  static gasnett_strongatomic64_t wide = gasnett_strongatomic64_init(0);
  gasnett_atomic_set(&plain, 0, 0);
  gasnett_atomic32_set(&narrow, 0, 0);
  gasnett_strongatomic64_set(&wide, 0, 0);
  on_threads(threads, [&](int) {
    for (int i = 0; i < rounds; ++i) {
      gasnett_atomic_increment(&plain, 0);
      gasnett_atomic32_add(&narrow, 3, GASNETT_ATOMIC_REL);
      for (;;) {
        const uint64_t seen = gasnett_strongatomic64_read(&wide, 0);
        if (gasnett_strongatomic64_compare_and_swap(&wide, seen, seen + 5, GASNETT_ATOMIC_ACQ))
          break;
      }
    }
  });
  const auto total = static_cast<uint32_t>(rounds) * static_cast<uint32_t>(threads);
  if (gasnett_atomic_read(&plain, 0) != total) failed("gasnett_atomic_increment", rounds);
  if (gasnett_atomic32_read(&narrow, 0) != 3 * total) failed("gasnett_atomic32_add", rounds);
  if (gasnett_strongatomic64_read(&wide, 0) != uint64_t{5} * total)
    failed("gasnett_strongatomic64_compare_and_swap", rounds);
}

void try_locks(int rounds, int threads) {
  static gasnett_mutex_t mutex = GASNETT_MUTEX_INITIALIZER;
  static gasnett_rwlock_t rwlock = GASNETT_RWLOCK_INITIALIZER;
  static gex_HSL_t hsl = GEX_HSL_INITIALIZER;
  static uint64_t by_mutex, by_rwlock, by_hsl;
  by_mutex = by_rwlock = by_hsl = 0;
  on_threads(threads, [&](int) {
    for (int i = 0; i < rounds; ++i) {
      gasnett_mutex_lock(&mutex);
      ++by_mutex;
      gasnett_mutex_unlock(&mutex);
      gasnett_rwlock_wrlock(&rwlock);
      ++by_rwlock;
      gasnett_rwlock_unlock(&rwlock);
      gasnett_rwlock_rdlock(&rwlock);
      if (by_rwlock == 0) failed("gasnett_rwlock", i);
      gasnett_rwlock_unlock(&rwlock);
      gex_HSL_Lock(&hsl);
      ++by_hsl;
      gex_HSL_Unlock(&hsl);
    }
  });
  const uint64_t total = static_cast<uint64_t>(rounds) * static_cast<uint64_t>(threads);
  if (by_mutex != total) failed("gasnett_mutex_lock", rounds);
  if (by_rwlock != total) failed("gasnett_rwlock_wrlock", rounds);
  if (by_hsl != total) failed("gex_HSL_Lock", rounds);
}

void try_timers(int rounds) {
  gasnett_tick_t before = gasnett_ticks_now();
  for (int i = 0; i < rounds; ++i) {
    const gasnett_tick_t now = gasnett_ticks_now();
    if (now < before) failed("gasnett_ticks_now", i);
    before = now;
  }
  if (gasnett_nsleep(1000) == 0 && gasnett_ticks_to_ns(gasnett_ticks_now() - before) < 1000)
    failed("gasnett_nsleep", rounds);
}

void try_data(int rounds) {
  unsigned char bytes[71], copy[71];
  for (int i = 0; i < rounds; ++i) {
    size_t zeros = 0;
    for (size_t k = 0; k < sizeof bytes; ++k) {
      bytes[k] = static_cast<unsigned char>((k * 7 + static_cast<size_t>(i)) % 4);
      zeros += bytes[k] == 0;
    }
    if (gasnett_count0s(bytes, sizeof bytes) != zeros) failed("gasnett_count0s", i);
    if (gasnett_count0s_copy(copy, bytes, sizeof bytes) != zeros ||
        gasnett_checksum(copy, sizeof copy) != gasnett_checksum(bytes, sizeof bytes))
      failed("gasnett_count0s_copy", i);
  }
}

void meet(gex_TM_t tm) {
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
}

// Every rank writes its own word into everybody's memory and reads all of its neighbor's.
void try_transfers(gex_TM_t tm, int rounds, const gasnet_seginfo_t* seginfo) {
  const gex_Rank_t me = gex_TM_QueryRank(tm), size = gex_TM_QuerySize(tm);
  const gex_Rank_t next = me + 1 == size ? 0 : me + 1;
  const auto word = [&](gex_Rank_t owner, gex_Rank_t of) {
    return static_cast<uint64_t*>(seginfo[owner].addr) + of;
  };
  for (gex_Rank_t r = 0; r < size; ++r)
    if (seginfo[r].size < size * sizeof(uint64_t)) return;  // some rank has no room: nobody tries
  std::vector<uint64_t> seen(size);
  for (int i = 0; i < rounds; ++i) {
    const auto mark = [&](gex_Rank_t r) { return (static_cast<uint64_t>(i) << 32) + r + 1; };
    const uint64_t mine = mark(me);
    for (gex_Rank_t r = 0; r < size; ++r)
      gex_RMA_PutNBI(tm, r, word(r, me), &mine, sizeof mine, GEX_EVENT_DEFER, 0);
    gex_NBI_Wait(GEX_EC_PUT, 0);
    meet(tm);
    gex_RMA_GetBlocking(tm, seen.data(), next, word(next, 0), size * sizeof(uint64_t), 0);
    for (gex_Rank_t r = 0; r < size; ++r)
      if (seen[r] != mark(r)) failed("gex_RMA_Put/Get", i);
    meet(tm);
  }
}

// ---- messages ----

std::atomic<int> g_answers{0};

void on_ask(gex_Token_t token, void* data, size_t bytes, gex_AM_Arg_t sum);
void on_answer(gex_Token_t, gex_AM_Arg_t right) {
  if (right == 0) failed("gex_AM_RequestMedium", 0);
  g_answers.fetch_add(1, std::memory_order_release);
}

gex_AM_Entry_t g_handlers[] = {
    {0, reinterpret_cast<gex_AM_Fn_t>(&on_ask), GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 1,
     nullptr, "gasnett_diagnostic_ask"},
    {0, reinterpret_cast<gex_AM_Fn_t>(&on_answer), GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 1,
     nullptr, "gasnett_diagnostic_answer"},
};

gex_AM_Arg_t sum_of(const void* data, size_t bytes) {
  return static_cast<gex_AM_Arg_t>(gasnett_checksum(data, static_cast<int>(bytes)));
}

void on_ask(gex_Token_t token, void* data, size_t bytes, gex_AM_Arg_t sum) {
  gex_AM_ReplyShort1(token, g_handlers[1].gex_index, 0, sum_of(data, bytes) == sum);
}

void try_messages(gex_TM_t tm, int rounds) {
  if (g_handlers[0].gex_index == 0) return;
  const gex_Rank_t size = gex_TM_QuerySize(tm);
  char data[200];
  int sent = 0;
  g_answers.store(0, std::memory_order_relaxed);
  meet(tm);
  for (int i = 0; i < rounds; ++i) {
    for (gex_Rank_t r = 0; r < size; ++r) {
      const size_t bytes = static_cast<size_t>(i) % sizeof data;
      std::memset(data, i, sizeof data);
      gex_AM_RequestMedium1(tm, r, g_handlers[0].gex_index, data, bytes, GEX_EVENT_NOW, 0,
                            sum_of(data, bytes));
      ++sent;
    }
  }
  GASNET_BLOCKUNTIL(g_answers.load(std::memory_order_acquire) == sent);
  meet(tm);
}

int try_all(gex_TM_t tm, int iter_cnt, int threadcnt, const char* testsections,
            const gasnet_seginfo_t* seginfo) {
  const auto wanted = [&](char letter) {
    return testsections == nullptr || *testsections == '\0' ||
           std::strchr(testsections, letter) != nullptr;
  };
  const int rounds = iter_cnt > 0 ? iter_cnt : 1, threads = threadcnt > 1 ? threadcnt : 1;
  g_failures.store(0, std::memory_order_relaxed);
  if (wanted('A')) try_atomics(rounds, threads);
  if (wanted('L')) try_locks(rounds, threads);
  if (wanted('T')) try_timers(rounds);
  if (wanted('D')) try_data(rounds);
  meet(tm);
  if (wanted('R') && seginfo != nullptr) try_transfers(tm, rounds, seginfo);
  if (wanted('M')) try_messages(tm, rounds);
  return g_failures.load(std::memory_order_relaxed);
}

// Each member's own memory as it gave it, with room for a word per member; no room where it is
// NULL.
std::vector<gasnet_seginfo_t> places_of(gex_TM_t tm, void* mine) {
  const gex_Rank_t size = gex_TM_QuerySize(tm);
  std::vector<gasnet_seginfo_t> places(size);
  const gasnet_seginfo_t own = {mine, mine != nullptr ? size * sizeof(uint64_t) : 0};
  gasnet_coll_gather_all(tm, places.data(), &own, sizeof own,
                         GASNET_COLL_IN_MYSYNC | GASNET_COLL_OUT_MYSYNC | GASNET_COLL_LOCAL);
  return places;
}

}  // namespace

CAUSEWAY_API void gasnett_diagnostic_gethandlers(gex_AM_Entry_t** htable, int* htable_cnt) {
  *htable = g_handlers;
  *htable_cnt = 2;
}

CAUSEWAY_API int cwy_tools_run_diagnostics_v1(int iter_cnt, int threadcnt, const char* testsections,
                                              const void* seginfo) {
  gex_TM_t tm = GEX_TM_INVALID;
  gasnet_QueryGexObjects(nullptr, nullptr, &tm, nullptr);
  return try_all(tm, iter_cnt, threadcnt, testsections,
                 static_cast<const gasnet_seginfo_t*>(seginfo));
}

CAUSEWAY_API int cwy_tools_run_diagnostics_over_v1(int iter_cnt, int threadcnt,
                                                   const char* testsections, gex_TM_t tm,
                                                   const void* seginfo, void* mine) {
  const std::vector<gasnet_seginfo_t> places = places_of(tm, mine);
  return try_all(
      tm, iter_cnt, threadcnt, testsections,
      seginfo != nullptr ? static_cast<const gasnet_seginfo_t*>(seginfo) : places.data());
}
