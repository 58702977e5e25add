// The split-phase barrier: nobody through before all have come, without blocking at the start,
// several at once, and with the memory ordering that programs build on.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <vector>

#include "../harness.h"

using spec::job;

namespace {

std::byte* flag(gex_Rank_t at, gex_Rank_t of, unsigned table = 0) {
  return spec::segment_of(at, spec::kScratchOffset + (size_t{table} * 1024 + of) * 8);
}
uint64_t& my_flag(gex_Rank_t of, unsigned table = 0) {
  return *reinterpret_cast<uint64_t*>(flag(job().rank, of, table));
}

std::atomic<unsigned> go{0};
void on_go(gex_Token_t) {
  go.fetch_add(1, std::memory_order_release);
}
spec::Handler go_handler(&on_go, GEX_FLAG_AM_REQUEST, "barrier go");

}  // namespace

// On one host the clock is common: the first to leave leaves after the last has come.
SPEC_CASE(barrier, times) {
  gex_Rank_t hosts = 0;
  gex_System_QueryMyPosition(nullptr, nullptr, &hosts, nullptr);
  if (hosts > 1) return spec::skip_case("clocks of several hosts cannot be compared");
  for (unsigned round = 0; round < spec::scaled(40, 4); ++round) {
    if (round % job().size == job().rank) usleep(2000);
    const auto now = [] {
      timespec t;
      clock_gettime(CLOCK_MONOTONIC, &t);
      return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
    };
    const uint64_t entered = now();
    spec::barrier();
    const uint64_t left = now();
    for (unsigned table = 0; table < 2; ++table)
      gex_RMA_PutBlockingVal(job().tm, 0, flag(0, job().rank, table), table ? left : entered, 8, 0);
    spec::barrier();
    if (job().rank == 0) {
      uint64_t last_in = 0, first_out = UINT64_MAX;
      for (gex_Rank_t rank = 0; rank < job().size; ++rank) {
        last_in = std::max(last_in, my_flag(rank, 0));
        first_out = std::min(first_out, my_flag(rank, 1));
      }
      CHECK(first_out >= last_in);
    }
    spec::barrier();
  }
}

// Blocking puts before a barrier are seen by plain loads after it, on every rank.
SPEC_CASE(barrier, orders_blocking_puts) {
  for (uint64_t round = 1; round <= spec::scaled(300, 10); ++round) {
    for (gex_Rank_t rank = 0; rank < job().size; ++rank)
      gex_RMA_PutBlockingVal(job().tm, rank, flag(rank, job().rank), round * 1000 + job().rank, 8,
                             0);
    spec::barrier();
    for (gex_Rank_t rank = 0; rank < job().size; ++rank)
      if (!CHECK_EQ(my_flag(rank), round * 1000 + rank)) break;
    spec::barrier();
  }
}

// The same for non-blocking puts that were synchronised before it, and for the owner's own
// stores, which a get after the barrier must return.
SPEC_CASE(barrier, orders_synchronised_puts_and_stores) {
  for (uint64_t round = 1; round <= spec::scaled(300, 10); ++round) {
    const uint64_t value = round << 20 | job().rank;
    my_flag(job().rank, 1) = value;
    for (gex_Rank_t rank = 0; rank < job().size; ++rank)
      gex_RMA_PutNBIVal(job().tm, rank, flag(rank, job().rank), value, 8, 0);
    gex_NBI_Wait(GEX_EC_PUT, 0);
    gex_Event_t event = gex_Coll_BarrierNB(job().tm, 0);
    if (round % 2)
      gex_Event_Wait(event);
    else
      while (gex_Event_Test(event) != 0) gasnet_AMPoll();
    for (gex_Rank_t rank = 0; rank < job().size; ++rank) {
      CHECK_EQ(my_flag(rank), round << 20 | rank);
      CHECK_EQ(gex_RMA_GetBlockingVal(job().tm, rank, flag(rank, rank, 1), 8, 0),
               round << 20 | rank);
    }
    spec::barrier();
  }
}

// It begins without waiting, and does not end while one rank has not come.
SPEC_CASE(barrier, split_phase, 2) {
  const gex_Rank_t late = job().size - 1;
  for (unsigned round = 0; round < 5; ++round) {
    go.store(0, std::memory_order_relaxed);
    spec::barrier();
    gex_Event_t event;
    if (job().rank == late) {
      GASNET_BLOCKUNTIL(go.load(std::memory_order_acquire) == job().size - 1);
      event = gex_Coll_BarrierNB(job().tm, 0);
    } else {
      event = gex_Coll_BarrierNB(job().tm, 0);
      CHECK(event != GEX_EVENT_INVALID);
      CHECK(event != GEX_EVENT_NO_OP);
      const double until = spec::seconds_now() + 0.02;
      while (spec::seconds_now() < until) {
        gasnet_AMPoll();
        if (!CHECK(gex_Event_Test(event) != 0)) {
          event = GEX_EVENT_INVALID;
          break;
        }
      }
      gex_AM_RequestShort0(job().tm, late, go_handler, 0);
    }
    gex_Event_Wait(event);
  }
  spec::barrier();
}

// Several outstanding: each ends with its own round, in whatever order they are waited for.
SPEC_CASE(barrier, several_outstanding) {
  constexpr unsigned kCount = 16;
  for (int order = 0; order < 4; ++order) {
    std::vector<gex_Event_t> events;
    for (unsigned i = 0; i < kCount; ++i) events.push_back(gex_Coll_BarrierNB(job().tm, 0));
    switch (order) {
      case 0:
        for (gex_Event_t event : events) gex_Event_Wait(event);
        break;
      case 1:
        for (unsigned i = kCount; i-- > 0;) gex_Event_Wait(events[i]);
        break;
      case 2:
        gex_Event_WaitAll(events.data(), kCount, 0);
        break;
      case 3:
        for (unsigned left = kCount; left > 0;) {
          gex_Event_WaitSome(events.data(), kCount, 0);
          left = static_cast<unsigned>(
              std::count_if(events.begin(), events.end(),
                            [](gex_Event_t event) { return event != GEX_EVENT_INVALID; }));
        }
        break;
    }
  }
}

// The first of three ends when everybody has begun one; the others must not.
SPEC_CASE(barrier, later_rounds_wait_for_their_own, 2) {
  const gex_Rank_t late = job().size - 1;
  go.store(0, std::memory_order_relaxed);
  spec::barrier();
  gex_Event_t events[3];
  if (job().rank == late) {
    gex_Event_Wait(gex_Coll_BarrierNB(job().tm, 0));
    GASNET_BLOCKUNTIL(go.load(std::memory_order_acquire) == job().size - 1);
    for (gex_Event_t& event : events) event = GEX_EVENT_INVALID;
    events[1] = gex_Coll_BarrierNB(job().tm, 0);
    events[2] = gex_Coll_BarrierNB(job().tm, 0);
  } else {
    for (gex_Event_t& event : events) event = gex_Coll_BarrierNB(job().tm, 0);
    gex_Event_Wait(events[0]);
    events[0] = GEX_EVENT_INVALID;
    const double until = spec::seconds_now() + 0.02;
    while (spec::seconds_now() < until) {
      gasnet_AMPoll();
      if (!CHECK(gex_Event_Test(events[1]) != 0)) {
        events[1] = GEX_EVENT_INVALID;
        break;
      }
    }
    gex_AM_RequestShort0(job().tm, late, go_handler, 0);
  }
  gex_Event_WaitAll(events, 3, 0);
}

// Quick succession with random delays: rounds must not be mixed up.
SPEC_CASE(barrier, many_rounds) {
  unsigned state = job().rank * 2654435761u + 1;
  for (uint64_t round = 1; round <= spec::scaled(2000, 60); ++round) {
    state = state * 1664525u + 1013904223u;
    if (state >> 29 == 0 && job().size <= 8) usleep(state >> 20 & 63);
    gex_RMA_PutBlockingVal(job().tm, job().peer(), flag(job().peer(), 0), round, 8, 0);
    spec::barrier();
    // The neighbor may already be one round ahead, never behind and never two ahead: so its next
    // put may come while this rank looks.
    const uint64_t seen = __atomic_load_n(&my_flag(0), __ATOMIC_ACQUIRE);
    CHECK(seen == round || seen == round + 1);
  }
  spec::barrier();
}

// Messages keep flowing while a barrier is pending.
SPEC_CASE(barrier, messages_meanwhile) {
  go.store(0, std::memory_order_relaxed);
  spec::barrier();
  const gex_Event_t event = gex_Coll_BarrierNB(job().tm, 0);
  for (gex_Rank_t rank = 0; rank < job().size; ++rank)
    gex_AM_RequestShort0(job().tm, rank, go_handler, 0);
  GASNET_BLOCKUNTIL(go.load(std::memory_order_acquire) == job().size);
  gex_Event_Wait(event);
  spec::barrier();
}
