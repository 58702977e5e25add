// Collectives beside each other and beside other traffic, split-phase, and from threads.
#include "coll_testing.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>

using coll::Guarded;
using coll::wait;
using spec::job;

namespace {

std::atomic<unsigned> arrived{0};
void on_arrival(gex_Token_t) {
  arrived.fetch_add(1, std::memory_order_release);
}
spec::Handler arrival(&on_arrival, GEX_FLAG_AM_REQUEST, "coll arrival");

uint64_t sum_of_ranks() {
  return uint64_t{job().size} * (job().size - 1) / 2;
}

}  // namespace

// Begins without waiting, and does not end while one rank has not come.
SPEC_CASE(coll_mixed, split_phase, 2) {
  const gex_Rank_t late = job().size - 1;
  arrived.store(0, std::memory_order_relaxed);
  spec::barrier();
  uint64_t mine = job().rank, all = 0;
  gex_Event_t event;
  if (job().rank == late) {
    GASNET_BLOCKUNTIL(arrived.load(std::memory_order_acquire) == job().size - 1);
    event = gex_Coll_ReduceToAllNB(job().tm, &all, &mine, GEX_DT_U64, 8, 1, GEX_OP_ADD, nullptr,
                                   nullptr, 0);
  } else {
    event = gex_Coll_ReduceToAllNB(job().tm, &all, &mine, GEX_DT_U64, 8, 1, GEX_OP_ADD, nullptr,
                                   nullptr, 0);
    CHECK(event != GEX_EVENT_INVALID);
    const double until = spec::seconds_now() + 0.02;
    while (spec::seconds_now() < until) {
      gasnet_AMPoll();
      if (!CHECK(gex_Event_Test(event) != 0)) {
        event = GEX_EVENT_INVALID;
        break;
      }
    }
    gex_AM_RequestShort0(job().tm, late, arrival, 0);
  }
  wait(event);
  CHECK_EQ(all, sum_of_ranks());
  spec::barrier();
}

// All four operations under way on one team, waited for in different orders on different ranks.
SPEC_CASE(coll_mixed, all_kinds_at_once) {
  constexpr size_t kCount = 9000;
  for (unsigned round = 0; round < spec::scaled(20, 3); ++round) {
    std::vector<uint64_t> a(kCount, job().rank), to_all(kCount), to_one(kCount), cast(kCount);
    if (job().rank == round % job().size) std::fill(cast.begin(), cast.end(), round + 3);
    gex_Event_t events[] = {
        gex_Coll_ReduceToAllNB(job().tm, to_all.data(), a.data(), GEX_DT_U64, 8, kCount, GEX_OP_ADD,
                               nullptr, nullptr, 0),
        gex_Coll_BarrierNB(job().tm, 0),
        gex_Coll_BroadcastNB(job().tm, round % job().size, cast.data(), cast.data(), kCount * 8, 0),
        gex_Coll_ReduceToOneNB(job().tm, 0, to_one.data(), a.data(), GEX_DT_U64, 8, kCount,
                               GEX_OP_MAX, nullptr, nullptr, 0),
        gex_Coll_BarrierNB(job().tm, 0),
    };
    if (job().rank % 2 != 0) std::reverse(std::begin(events), std::end(events));
    if (job().rank % 3 == 0) {
      gex_Event_WaitAll(events, 5, 0);
    } else {
      for (gex_Event_t event : events) wait(event);
    }
    CHECK_EQ(std::count(to_all.begin(), to_all.end(), sum_of_ranks()), kCount);
    CHECK_EQ(std::count(cast.begin(), cast.end(), round + 3), kCount);
    if (job().rank == 0) CHECK_EQ(std::count(to_one.begin(), to_one.end(), job().size - 1), kCount);
  }
}

// Puts, gets and messages go on while a large reduction is under way.
SPEC_CASE(coll_mixed, beside_other_traffic) {
  arrived.store(0, std::memory_order_relaxed);
  spec::barrier();
  constexpr size_t kCount = 60000;
  std::vector<uint64_t> mine(kCount, 2), all(kCount);
  const gex_Event_t event = gex_Coll_ReduceToAllNB(job().tm, all.data(), mine.data(), GEX_DT_U64, 8,
                                                   kCount, GEX_OP_MULT, nullptr, nullptr, 0);
  constexpr unsigned kMessages = 50;
  const size_t slot = spec::kScratchOffset + 8 * job().rank;
  for (uint64_t i = 1; i <= kMessages; ++i) {
    gex_AM_RequestShort0(job().tm, job().peer(), arrival, 0);
    gex_RMA_PutBlockingVal(job().tm, job().peer(), spec::segment_of(job().peer(), slot), i, 8, 0);
    CHECK_EQ(
        gex_RMA_GetBlockingVal(job().tm, job().peer(), spec::segment_of(job().peer(), slot), 8, 0),
        i);
  }
  GASNET_BLOCKUNTIL(arrived.load(std::memory_order_acquire) == kMessages);
  wait(event);
  uint64_t product = 1;
  for (gex_Rank_t r = 0; r < job().size; ++r) product *= 2;
  CHECK_EQ(std::count(all.begin(), all.end(), product), kCount);
  spec::barrier();
}

// Ranks that dawdle at random: nobody may be left behind or overtaken.
SPEC_CASE(coll_mixed, random_delays) {
  unsigned state = job().rank * 2654435761u + 7;
  for (uint64_t round = 0; round < spec::scaled(400, 30); ++round) {
    state = state * 1664525u + 1013904223u;
    if (state >> 28 == 0 && job().size <= 8) usleep(state >> 20 & 127);
    uint64_t value = job().rank + round, all = 0;
    wait(gex_Coll_ReduceToAllNB(job().tm, &all, &value, GEX_DT_U64, 8, 1, GEX_OP_ADD, nullptr,
                                nullptr, 0));
    if (!CHECK_EQ(all, sum_of_ranks() + job().size * round)) break;
  }
}

#ifdef GASNET_PAR
// Other threads poll and communicate while one waits for collectives: runs may be driven by any of
// them. Catches state that is not handed over between threads.
SPEC_CASE(coll_mixed, polled_by_other_threads) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> pollers;
  for (int i = 0; i < 2; ++i) {
    pollers.emplace_back([&] {
      while (!stop.load(std::memory_order_relaxed)) {
        gasnet_AMPoll();
        std::this_thread::yield();
      }
    });
  }
  constexpr size_t kCount = 5000;
  for (uint64_t round = 0; round < spec::scaled(100, 5); ++round) {
    std::vector<uint64_t> mine(kCount, job().rank + round), all(kCount);
    gex_Event_t events[2] = {gex_Coll_ReduceToAllNB(job().tm, all.data(), mine.data(), GEX_DT_U64,
                                                    8, kCount, GEX_OP_ADD, nullptr, nullptr, 0),
                             gex_Coll_BarrierNB(job().tm, 0)};
    gex_Event_WaitAll(events, 2, 0);
    const uint64_t want = sum_of_ranks() + job().size * round;
    if (!CHECK_EQ(std::count(all.begin(), all.end(), want), kCount)) break;
  }
  stop.store(true, std::memory_order_relaxed);
  for (std::thread& t : pollers) t.join();
  spec::barrier();
}
#endif
