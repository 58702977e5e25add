#include "progress/thread_state.h"

#include <gasnetex.h>
#include <pthread.h>

#include <atomic>
#include <memory>

#include "am/negotiated.h"

namespace causeway {

thread_local constinit ThreadState* tls_thread_state = nullptr;

namespace {

std::atomic<uint32_t> g_live{0};  // relaxed: a count for a query

// Runs when a thread exits. Its implicit operations may still be pending and will count their
// completion in its ThreadState, so a state with pending operations is kept.
void leave(void* pointer) {
  auto* state = static_cast<ThreadState*>(pointer);
  if (state->negotiated.kind != Negotiation::none) left_prepared(*state, "thread ended");
  tls_thread_state = nullptr;
  g_live.fetch_sub(1, std::memory_order_relaxed);
  if (state->implicit.done(GEX_EC_ALL)) delete state;
}

pthread_key_t exit_key() {
  static const pthread_key_t key = [] {
    pthread_key_t k{};
    ::pthread_key_create(&k, leave);
    return k;
  }();
  return key;
}

}  // namespace

ThreadState* create_thread_state() {
  auto* state = new ThreadState;
  tls_thread_state = state;
  g_live.fetch_add(1, std::memory_order_relaxed);
  ::pthread_setspecific(exit_key(), state);
  return state;
}

uint32_t live_threads() {
  return g_live.load(std::memory_order_relaxed);
}

}  // namespace causeway
