// The split-phase barrier with names: 3.5.
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "gasnet1.h"

using spec::job;

namespace {

constexpr int kAnon = GASNET_BARRIERFLAG_ANONYMOUS;
constexpr int kMismatch = GASNET_BARRIERFLAG_MISMATCH;
constexpr int kUnnamed = GASNET_BARRIERFLAG_UNNAMED;
static_assert((kUnnamed & kAnon) && kUnnamed != kAnon);

// Each way of finishing a phase.
enum class End { wait, spin };
int finish(End end, int id, int flags) {
  if (end == End::wait) return gasnet_barrier_wait(id, flags);
  int status;
  while ((status = gasnet_barrier_try(id, flags)) == GASNET_ERR_NOT_READY) continue;
  return status;
}

std::atomic<unsigned> arrivals{0};
void on_arrival(gasnet_token_t) {
  arrivals.fetch_add(1, std::memory_order_release);
}
g1::Handler arrival(&on_arrival);

}  // namespace

SPEC_CASE(barrier, matching_names) {
  int id = 0;
  for (int i = 0; i < 20; ++i) {
    const End end = i % 2 ? End::wait : End::spin;
    const int name = i % 4 ? i * 1000003 : -i - 1;
    gasnet_barrier_notify(name, 0);
    CHECK_EQ(finish(end, name, 0), GASNET_OK);
    CHECK_EQ(gasnet_barrier_result(&id), 0);
    CHECK_EQ(id, name);
    gasnet_barrier_notify(name, kAnon);  // the name is ignored
    CHECK_EQ(finish(end, i, kAnon), GASNET_OK);
    CHECK(gasnet_barrier_result(&id) != 0);
    gasnet_barrier_notify(i, kUnnamed);
    CHECK_EQ(finish(end, i + 1, kUnnamed), GASNET_OK);
    CHECK(gasnet_barrier_result(nullptr) != 0);
  }
  CHECK_EQ(gasnet_barrier(3, 0), GASNET_OK);
  CHECK_EQ(gasnet_barrier(0, kAnon), GASNET_OK);
}

// Anonymous nodes match any name.
SPEC_CASE(barrier, names_and_anonymous) {
  for (gasnet_node_t named = 0; named < job().size; ++named) {
    const int flags = job().rank == named ? 0 : kAnon;
    gasnet_barrier_notify(77, flags);
    CHECK_EQ(gasnet_barrier_wait(77, flags), GASNET_OK);
    int id = 0;
    CHECK_EQ(gasnet_barrier_result(&id), 0);
    CHECK_EQ(id, 77);
  }
}

// One node with another name is seen by all, and the next barrier is none the worse for it.
SPEC_CASE(barrier, different_names, 2) {
  for (gasnet_node_t odd = 0; odd < job().size; ++odd) {
    const int id = job().rank == odd ? 5 : 4;
    gasnet_barrier_notify(id, 0);
    CHECK_EQ(finish(odd % 2 ? End::wait : End::spin, id, 0), GASNET_ERR_BARRIER_MISMATCH);
    CHECK_EQ(gasnet_barrier_result(nullptr), 0);
    CHECK_EQ(gasnet_barrier(6, 0), GASNET_OK);
  }
  // Two names among anonymous ones.
  if (job().size > 2) {
    const int flags = job().rank < 2 ? 0 : kAnon;
    gasnet_barrier_notify(static_cast<int>(job().rank), flags);
    CHECK_EQ(gasnet_barrier_wait(static_cast<int>(job().rank), flags), GASNET_ERR_BARRIER_MISMATCH);
  }
}

SPEC_CASE(barrier, forced_mismatch) {
  for (gasnet_node_t forcing = 0; forcing < job().size; ++forcing) {
    const int flags = job().rank == forcing ? kMismatch : forcing % 2 ? kAnon : 0;
    gasnet_barrier_notify(1, flags);
    CHECK_EQ(gasnet_barrier_wait(1, flags), GASNET_ERR_BARRIER_MISMATCH);
  }
  CHECK_EQ(gasnet_barrier(1, 0), GASNET_OK);
}

// A wait that differs from its own notify is a mismatch at this node only.
SPEC_CASE(barrier, wait_differs_from_notify) {
  const bool odd = job().rank == 0;
  gasnet_barrier_notify(10, 0);
  CHECK_EQ(gasnet_barrier_wait(odd ? 11 : 10, 0), odd ? GASNET_ERR_BARRIER_MISMATCH : GASNET_OK);
  gasnet_barrier_notify(10, 0);
  CHECK_EQ(gasnet_barrier_wait(10, odd ? kMismatch : 0),
           odd ? GASNET_ERR_BARRIER_MISMATCH : GASNET_OK);
}

// Catches: clients that give a name at one end of a barrier only told of a mismatch where all names
// agree, and a name accepted that is not the others'.
SPEC_CASE(barrier, named_at_one_end) {
  const bool odd = job().rank == 0;
  gasnet_barrier_notify(10, 0);
  CHECK_EQ(gasnet_barrier_wait(11, odd ? kAnon : 0), odd ? GASNET_OK : GASNET_ERR_BARRIER_MISMATCH);
  gasnet_barrier_notify(10, kAnon);
  CHECK_EQ(finish(End::spin, 10, odd ? 0 : kAnon), GASNET_OK);
  if (job().size == 1) return;
  gasnet_barrier_notify(10, odd ? kAnon : 0);
  CHECK_EQ(finish(End::wait, 11, odd ? 0 : kAnon), odd ? GASNET_ERR_BARRIER_MISMATCH : GASNET_OK);
}

// Does not end before all have come; notify does not wait; the one that is late is late each time.
SPEC_CASE(barrier, nobody_through_early, 2) {
  for (unsigned round = 0; round < 10; ++round) {
    const gasnet_node_t late = round % job().size;
    arrivals.store(0);
    gasnet_barrier(100, 0);
    if (job().rank == late) {
      GASNET_BLOCKUNTIL(arrivals.load(std::memory_order_acquire) == job().size - 1);
      gasnet_barrier_notify(static_cast<int>(round), 0);
    } else {
      gasnet_barrier_notify(static_cast<int>(round), 0);
      for (int i = 0; i < 50; ++i)
        CHECK_EQ(gasnet_barrier_try(static_cast<int>(round), 0), GASNET_ERR_NOT_READY);
      gasnet_AMRequestShort0(late, arrival);
    }
    CHECK_EQ(gasnet_barrier_wait(static_cast<int>(round), 0), GASNET_OK);
  }
}

// A node that has notified and is busy with messages does not hold up the others: their waits end
// although it has not called wait yet. Would deadlock if only wait and try made progress.
SPEC_CASE(barrier, progress_between_notify_and_wait, 3) {
  const gasnet_node_t busy = job().size / 2;
  for (unsigned round = 0; round < 5; ++round) {
    arrivals.store(0);
    gasnet_barrier(200, 0);
    gasnet_barrier_notify(1, 0);
    if (job().rank == busy) {
      GASNET_BLOCKUNTIL(arrivals.load(std::memory_order_acquire) == job().size - 1);
      CHECK_EQ(gasnet_barrier_wait(1, 0), GASNET_OK);
    } else {
      CHECK_EQ(gasnet_barrier_wait(1, 0), GASNET_OK);
      gasnet_AMRequestShort0(busy, arrival);
    }
  }
}

// Puts before the barrier are seen by plain loads after it, on every node.
SPEC_CASE(barrier, orders_puts) {
  const auto flag = [](gasnet_node_t at, gasnet_node_t of) {
    return spec::segment_of(at, spec::kScratchOffset + size_t{of} * 8);
  };
  for (uint64_t round = 1; round <= spec::scaled(200, 10); ++round) {
    for (gasnet_node_t node = 0; node < job().size; ++node)
      gasnet_put_val(node, flag(node, job().rank), round, 8);
    gasnet_barrier(static_cast<int>(round), 0);
    for (gasnet_node_t node = 0; node < job().size; ++node) {
      uint64_t seen;
      std::memcpy(&seen, flag(job().rank, node), 8);
      if (!CHECK_EQ(seen, round)) break;
    }
    gasnet_barrier(0, kAnon);
  }
}

// Quick succession, mixed with the team barrier of GASNet-EX, none outstanding at the same time.
SPEC_CASE(barrier, many_rounds) {
  unsigned state = job().rank * 2654435761u + 1;
  for (unsigned round = 0; round < spec::scaled(2000, 60); ++round) {
    state = state * 1664525u + 1013904223u;
    if (state >> 29 == 0 && job().size <= 8) usleep(state >> 20 & 63);
    gasnet_barrier_notify(static_cast<int>(round), 0);
    if (!CHECK_EQ(gasnet_barrier_wait(static_cast<int>(round), 0), GASNET_OK)) return;
    if (round % 16 == 0) spec::barrier();
  }
}

#ifndef GASNET_SEQ
// Notify and wait may come from different threads.
SPEC_CASE(barrier, across_threads) {
  for (int round = 0; round < 10; ++round) {
    std::thread notifier([&] { gasnet_barrier_notify(round, 0); });
    notifier.join();
    int status = -1;
    std::thread waiter([&] { status = gasnet_barrier_wait(round, 0); });
    waiter.join();
    CHECK_EQ(status, GASNET_OK);
  }
}
#endif
