// Handler-safe locks.
#include <atomic>
#include <memory>
#include <thread>

#include "../harness.h"

using spec::job;

namespace {

gex_HSL_t static_lock = GEX_HSL_INITIALIZER;

// Two numbers that only agree outside the critical section.
struct Guarded {
  gex_HSL_t lock = GEX_HSL_INITIALIZER;
  long first = 0, second = 0;
  unsigned torn = 0;
  void step() {
    gex_HSL_Lock(&lock);
    if (first != second) ++torn;
    ++first;
    std::atomic_signal_fence(std::memory_order_seq_cst);  // keeps the two updates apart
    ++second;
    gex_HSL_Unlock(&lock);
  }
} guarded;
std::atomic<unsigned> steps_by_handlers{0};
void on_step(gex_Token_t) {
  guarded.step();
  steps_by_handlers.fetch_add(1, std::memory_order_release);
}
spec::Handler step_handler(&on_step, GEX_FLAG_AM_REQUEST, "hsl step");

}  // namespace

SPEC_CASE(hsl, life) {
  gex_HSL_Lock(&static_lock);
  gex_HSL_Unlock(&static_lock);
  CHECK_EQ(gex_HSL_Trylock(&static_lock), GASNET_OK);
  gex_HSL_Unlock(&static_lock);
  auto dynamic = std::make_unique<gex_HSL_t>();
  for (int round = 0; round < 3; ++round) {
    gex_HSL_Init(dynamic.get());
    CHECK_EQ(gex_HSL_Trylock(dynamic.get()), GASNET_OK);
    gex_HSL_Unlock(dynamic.get());
    gex_HSL_Destroy(dynamic.get());
  }
}

// Several locks at once, released in reverse order.
SPEC_CASE(hsl, several) {
  gex_HSL_t locks[4];
  for (gex_HSL_t& lock : locks) gex_HSL_Init(&lock);
  for (gex_HSL_t& lock : locks) gex_HSL_Lock(&lock);
  for (int i = 3; i >= 0; --i) gex_HSL_Unlock(&locks[i]);
  for (gex_HSL_t& lock : locks) {
    CHECK_EQ(gex_HSL_Trylock(&lock), GASNET_OK);
    gex_HSL_Unlock(&lock);
    gex_HSL_Destroy(&lock);
  }
}

// Would catch a lock that handlers pass by, or that a message in flight leaves locked.
SPEC_CASE(hsl, handlers_and_main_exclude_each_other) {
  const unsigned count = spec::scaled(2000, 50);
  const long before = guarded.first;
  steps_by_handlers.store(0, std::memory_order_relaxed);
  spec::barrier();
  for (unsigned i = 0; i < count; ++i) {
    gex_AM_RequestShort0(job().tm, job().peer(), step_handler, 0);
    guarded.step();
  }
  GASNET_BLOCKUNTIL(steps_by_handlers.load(std::memory_order_acquire) == count);
  gex_HSL_Lock(&guarded.lock);
  CHECK_EQ(guarded.first, before + 2 * static_cast<long>(count));
  CHECK_EQ(guarded.second, guarded.first);
  CHECK_EQ(guarded.torn, 0u);
  gex_HSL_Unlock(&guarded.lock);
  spec::barrier();
}

#ifndef GASNET_SEQ
// Trylock says NOT_READY while another thread holds the lock, and takes nothing.
SPEC_CASE(hsl, trylock_contended) {
  std::atomic<int> phase{0};
  gex_HSL_Lock(&static_lock);
  int status = GASNET_OK;
  std::thread other([&] {
    status = gex_HSL_Trylock(&static_lock);
    phase.store(1, std::memory_order_release);
  });
  while (phase.load(std::memory_order_acquire) == 0) std::this_thread::yield();
  CHECK_EQ(status, GASNET_ERR_NOT_READY);
  gex_HSL_Unlock(&static_lock);
  other.join();
  CHECK_EQ(gex_HSL_Trylock(&static_lock), GASNET_OK);
  gex_HSL_Unlock(&static_lock);
}
#endif
