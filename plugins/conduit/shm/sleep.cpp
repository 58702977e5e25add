// Sleeping until something arrives, and waking who sleeps.
//
// The sleeper says so (`sleeping`), runs a membarrier, looks at every ring once more, and only
// then sleeps on that word. A sender stores its record's header and then loads `sleeping`, with no
// fence between. The membarrier makes every running sender execute a full barrier at some point of
// its program: if before the header's store, its load comes after our store and sees 1; if after,
// our second look sees the record. So one of the two always notices, and senders pay nothing.
// Where some process cannot register for membarrier, naps are short instead.
#include "sleep.h"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <ctime>

#include "endpoint.h"

namespace causeway::shm {
namespace {

constexpr uint64_t bounded_nap_ns = 100'000;
// A dead peer wakes nobody; it is noticed within about this time. The naps of more than 100 ranks
// together wake no more often than those of 100.
constexpr uint64_t per_rank_ns = 200'000, shortest_limit_ns = 20'000'000,
                   longest_limit_ns = 50'000'000;

long futex(std::atomic<uint32_t>& word, int operation, uint32_t value, const timespec* timeout) {
  return syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), operation, value, timeout, nullptr,
                 0);
}

bool global_barrier() {
  return syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) == 0;
}

}  // namespace

bool register_membarrier() {
  const long known = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
  return known > 0 && (known & MEMBARRIER_CMD_GLOBAL_EXPEDITED) != 0 &&
         syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

void Conduit::nap(cwyc_ep* ep, uint64_t max_ns) {
  auto& sleeping = ep->control->sleeping;
  {
    const std::lock_guard lock(ep->nap_mutex);
    ++ep->sleepers;
    // Relaxed: the barrier below orders it.
    sleeping.store(1, std::memory_order_relaxed);
  }
  const bool strong = ep->membarrier &&
                      ep->senders_have_membarrier.load(std::memory_order_relaxed) &&
                      global_barrier();
  // Order of our own store and looks. A bounded nap may still miss a sender's delayed store.
  if (!strong) full_fence();
  if (!anything_pending(ep)) {
    const uint64_t limit =
        std::clamp(services->job->local_count * per_rank_ns, shortest_limit_ns, longest_limit_ns);
    const uint64_t ns = std::min(max_ns, strong ? limit : bounded_nap_ns);
    const timespec timeout{static_cast<time_t>(ns / 1'000'000'000),
                           static_cast<long>(ns % 1'000'000'000)};
    // Returns at once when a sender has cleared the word since; early on a signal.
    futex(sleeping, FUTEX_WAIT, 1, &timeout);
    ep->naps.add_shared(1);
  }
  {
    const std::lock_guard lock(ep->nap_mutex);
    // Another thread may still sleep and rely on the word.
    if (--ep->sleepers == 0) sleeping.store(0, std::memory_order_relaxed);
  }
  check_liveness(ep);
}

void wake_slowly(Connection& c) {
  auto& sleeping = c.peer_control->sleeping;
  // Only the first sender wakes; the others find 0. Acquire-release: not before the record.
  if (sleeping.exchange(0, std::memory_order_acq_rel) == 0) return;
  futex(sleeping, FUTEX_WAKE, INT_MAX, nullptr);
  c.wakes.add_shared(1);
}

}  // namespace causeway::shm
