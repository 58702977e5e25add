// Sections, locks, wait modes, thread hints.
#include <atomic>
#include <memory>
#include <thread>

#include "gasnet1.h"

using spec::job;

namespace {

gasnet_hsl_t static_lock = GASNET_HSL_INITIALIZER;
struct Guarded {
  gasnet_hsl_t lock = GASNET_HSL_INITIALIZER;
  long first = 0, second = 0;
  unsigned torn = 0;
  void step() {
    gasnet_hsl_lock(&lock);
    if (first != second) ++torn;
    ++first;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    ++second;
    gasnet_hsl_unlock(&lock);
  }
} guarded;
std::atomic<unsigned> steps{0};
void on_step(gasnet_token_t token) {
  gasnet_hold_interrupts();  // ignored here
  guarded.step();
  gasnet_resume_interrupts();
  gasnet_node_t from;
  if (gasnet_AMGetMsgSource(token, &from) == GASNET_OK && gasnet_mynode() < gasnet_nodes())
    steps.fetch_add(1, std::memory_order_release);
}
g1::Handler step(&on_step);

}  // namespace

SPEC_CASE(control, lock_life) {
  gasnet_hsl_lock(&static_lock);
  gasnet_hsl_unlock(&static_lock);
  CHECK_EQ(gasnet_hsl_trylock(&static_lock), GASNET_OK);
  gasnet_hsl_unlock(&static_lock);
  auto lock = std::make_unique<gasnet_hsl_t>();
  gasnet_hsl_init(lock.get());
  gasnet_hsl_lock(lock.get());
#ifndef GASNET_SEQ
  int status = GASNET_OK;
  std::thread([&] { status = gasnet_hsl_trylock(lock.get()); }).join();
  CHECK_EQ(status, GASNET_ERR_NOT_READY);
#endif
  gasnet_hsl_unlock(lock.get());
  gasnet_hsl_destroy(lock.get());
}

SPEC_CASE(control, locks_and_handlers) {
  const unsigned count = spec::scaled(1000, 50);
  const long before = guarded.first;
  steps.store(0);
  gasnet_barrier(1, 0);
  for (unsigned i = 0; i < count; ++i) {
    gasnet_AMRequestShort0(job().peer(), step);
    guarded.step();
  }
  GASNET_BLOCKUNTIL(steps.load(std::memory_order_acquire) == count);
  gasnet_hsl_lock(&guarded.lock);
  CHECK_EQ(guarded.first, before + 2 * static_cast<long>(count));
  CHECK_EQ(guarded.torn, 0u);
  gasnet_hsl_unlock(&guarded.lock);
  gasnet_barrier(1, 0);
}

// Inside a section only the calls that 2.4.3 lists; afterwards all of them again.
SPEC_CASE(control, sections) {
  for (int i = 0; i < 3; ++i) {
    gasnet_hold_interrupts();
    CHECK(gasnet_mynode() < gasnet_nodes());
    gasnet_hsl_lock(&static_lock);
    gasnet_hold_interrupts();  // ignored while a lock is held
    gasnet_resume_interrupts();
    gasnet_hsl_unlock(&static_lock);
    gasnet_resume_interrupts();
    gasnet_AMPoll();
  }
}

// Messages and waits work in every mode.
SPEC_CASE(control, wait_modes) {
  for (const int mode : {GASNET_WAIT_SPIN, GASNET_WAIT_BLOCK, GASNET_WAIT_SPINBLOCK}) {
    CHECK_EQ(gasnet_set_waitmode(mode), GASNET_OK);
    steps.store(0);
    gasnet_barrier(mode, 0);
    for (int i = 0; i < 5; ++i) gasnet_AMRequestShort0(job().peer(), step);
    GASNET_BLOCKUNTIL(steps.load(std::memory_order_acquire) == 5);
    gasnet_barrier(mode, 0);
  }
  gex_System_SetVerboseErrors(0);
  CHECK_EQ(gasnet_set_waitmode(4711), GASNET_ERR_BAD_ARG);
  gex_System_SetVerboseErrors(1);
}

namespace {
unsigned with_begin_function() {
  GASNET_BEGIN_FUNCTION();
  unsigned polls = 0;
  for (; polls < 3; ++polls) gasnet_AMPoll();
  return polls;
}
unsigned with_posted(gasnet_threadinfo_t info) {
  GASNET_POST_THREADINFO(info);
  {
    GASNET_POST_THREADINFO(info);
    gasnet_AMPoll();
  }
  return with_begin_function();
}
}  // namespace
SPEC_CASE(control, thread_info) {
  gasnet_threadinfo_t const info = GASNET_GET_THREADINFO();
  CHECK_EQ(with_posted(info), 3u);
}

// Evaluates its condition before anything else, and each time after progress.
SPEC_CASE(control, blockuntil) {
  int evaluations = 0;
  GASNET_BLOCKUNTIL(++evaluations > 0);
  CHECK_EQ(evaluations, 1);
  GASNET_BLOCKUNTIL(++evaluations >= 5);
  CHECK_EQ(evaluations, 5);
}
