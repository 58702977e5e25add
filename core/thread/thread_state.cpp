#include "thread/thread_state.h"

#include <gasnetex.h>
#include <pthread.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "base/fatal.h"
#include "base/handles.h"
#include "base/invariant.h"
#include "base/waits.h"
#include "thread/tsan_annotations.h"

namespace causeway {

#if defined(CAUSEWAY_THREAD_SANITIZER)
char what_was_sent, what_was_served;
#endif

thread_local constinit ThreadState* tls_thread_state = nullptr;

namespace {

// Relaxed, both: a count that nothing else hangs on, and a setting made before threads exist.
std::atomic<uint32_t> g_live_threads{0};
std::atomic<uint32_t> g_limit{kDefaultThreadLimit};

// States of the threads that there are.
std::mutex g_states_mutex;
auto& g_states = *new std::vector<ThreadState*>;  // threads may leave while libraries end

// States of threads that left with implicit operations under way, which still count their
// completion there. Kept until that has happened.
std::mutex g_left_mutex;
std::vector<std::unique_ptr<ThreadState>> g_left;

// The region that the thread left open, or NULL.
Region* open_region(const ThreadState& state) {
  if (state.nbi == &state.implicit) return nullptr;
  return reinterpret_cast<Region*>(reinterpret_cast<char*>(state.nbi) - offsetof(Region, ops));
}

bool finished(const ThreadState& state) {
  return state.implicit.done(GEX_EC_ALL) && state.nbi->done(GEX_EC_ALL);
}

void release(std::unique_ptr<ThreadState> state) {
  delete open_region(*state);
}

// Runs when a thread exits.
void leave(void* pointer) {
  std::unique_ptr<ThreadState> state(static_cast<ThreadState*>(pointer));
  for (const auto& part : state->parts)
    if (part != nullptr) part->leave();
  tls_thread_state = nullptr;
  forget_wait();
  {
    const std::lock_guard lock(g_states_mutex);
    std::erase(g_states, state.get());
  }
  if (!state->internal) {
    const uint32_t live = g_live_threads.fetch_sub(1, std::memory_order_relaxed);
    ensure("no more threads leave than came", [&] { return live != 0; });
  }
  if (finished(*state)) {
    release(std::move(state));
    return;
  }
  const std::lock_guard lock(g_left_mutex);
  g_left.push_back(std::move(state));
}

// New threads pay for those that left: the list cannot grow without bound.
void release_left() {
  std::vector<std::unique_ptr<ThreadState>> done;
  {
    const std::lock_guard lock(g_left_mutex);
    const auto first = std::partition(g_left.begin(), g_left.end(),
                                      [](const auto& state) { return !finished(*state); });
    std::move(first, g_left.end(), std::back_inserter(done));
    g_left.erase(first, g_left.end());
  }
  for (auto& state : done) release(std::move(state));
}

pthread_key_t exit_key() {
  static const pthread_key_t key = [] {
    pthread_key_t k{};
    ::pthread_key_create(&k, leave);
    return k;
  }();
  return key;
}

ThreadState* make_state(bool internal) {
  release_left();
  auto* state = new ThreadState;
  state->internal = internal;
  tls_thread_state = state;
  {
    const std::lock_guard lock(g_states_mutex);
    g_states.push_back(state);
  }
  ::pthread_setspecific(exit_key(), state);
  return state;
}

}  // namespace

ThreadState* create_thread_state() {
  const uint32_t limit = g_limit.load(std::memory_order_relaxed);
  const uint32_t number = g_live_threads.fetch_add(1, std::memory_order_relaxed) + 1;
  if (number > limit) {
    fatal("thread limit",
          "{} threads of this process would use the library at once, but {} may "
          "(gex_System_QueryMaxThreads() tells it; threads.max sets it, 1 holds for GASNET_SEQ)",
          number, limit);
  }
  return make_state(false);
}

ThreadState* first_thread_state(const char* call) {
  check_started(call);
  return create_thread_state();
}

void enter_as_internal_thread() {
  if (ThreadState* state = tls_thread_state) {
    if (!state->internal) g_live_threads.fetch_sub(1, std::memory_order_relaxed);
    state->internal = true;
    return;
  }
  make_state(true);
}

void set_thread_limit(uint32_t limit) {
  g_limit.store(limit, std::memory_order_relaxed);
}
uint32_t thread_limit() {
  return g_limit.load(std::memory_order_relaxed);
}
uint32_t live_threads() {
  return g_live_threads.load(std::memory_order_relaxed);
}
bool others_poll() {
  const std::lock_guard lock(g_states_mutex);
  return std::ranges::any_of(g_states, [](const ThreadState* state) {
    return state != tls_thread_state && state->in_poll.load(std::memory_order_acquire);
  });
}
uint32_t threads_in_handlers(bool waits) {
  std::unique_lock lock(g_states_mutex, std::defer_lock);
  if (waits)
    lock.lock();
  else if (!lock.try_lock())
    return 0;
  return static_cast<uint32_t>(std::ranges::count_if(g_states, [](auto* state) {
    const Context at = std::atomic_ref(state->context).load(std::memory_order_relaxed);
    return at == Context::request_handler || at == Context::reply_handler;
  }));
}
uint32_t left_threads() {
  release_left();
  const std::lock_guard lock(g_left_mutex);
  return static_cast<uint32_t>(g_left.size());
}

}  // namespace causeway
