#include "process/linger.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "base/clock.h"
#include "object/client.h"
#include "process/interrupted.h"
#include "process/runtime.h"
#include "progress/poll.h"
#include "thread/thread_state.h"

namespace causeway {
namespace {

// Relaxed: nothing else is to be seen by who reads it.
std::atomic<bool> g_over{false};
static_assert(std::atomic<bool>::is_always_lock_free, "set in signal handlers");

// Sleeps are short, because the news that all leave comes from another thread and ends none. Where
// ranks share processors they grow, so that hundreds that have left do not keep the last ones back.
constexpr uint32_t kYields = 32, kNapUs = 200, kLongestUs = 20'000;

useconds_t nap_us(uint32_t naps) {
  const uint32_t most = std::min(runtime().job().ranks_per_cpu() * kNapUs, kLongestUs);
  return naps < most / kNapUs ? naps * kNapUs : most;
}

uint32_t answer(ThreadState& thread) {
  if (!thread.polls() && thread.context == Context::client) return poll_once();
  if (!runtime().clients.empty())
    poll_replies(runtime().clients.front()->endpoint()->conduit_eps());
  return 0;
}

}  // namespace

void end_lingering() {
  g_over.store(true, std::memory_order_relaxed);
}

void linger(uint64_t patience_ns) {
  // A thread that leaves is not counted among the client's any more.
  if (tls_thread_state == nullptr) enter_as_internal_thread();
  ThreadState& thread = thread_state();
  const bool answers = may_enter_conduits();  // a handler does not end meanwhile
  const uint64_t until = now_ns() + patience_ns;
  uint32_t idle = 0;
  while (!g_over.load(std::memory_order_relaxed) && now_ns() < until)
    if (answers && answer(thread) != 0)
      idle = 0;
    else if (++idle < kYields)
      ::sched_yield();
    else
      ::usleep(nap_us(idle - kYields + 1));
}

}  // namespace causeway
