// ThreadState: what the core keeps per thread, reached through one initial-exec TLS pointer.
// Created when a thread first enters; freed when it exits, or once the operations that it left
// behind are complete.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "thread/op.h"

namespace causeway {

// Where the thread is, as far as the specification restricts calls ("Calls from restricted
// context").
enum class Context : uint32_t {
  client = 0,
  request_handler = 1,
  reply_handler = 2,
  negotiating = 3,  // between gex_AM_Prepare*() and its Commit or Cancel, wherever that began
  reduction = 4     // in a reduction operator of the client's
};

// In ThreadState::hsl_held: inside gasnet_hold_interrupts()/gasnet_resume_interrupts(), which
// forbids the same calls as a lock does.
inline constexpr uint32_t kNoInterrupts = 1u << 31;

// State that a room above keeps per thread: made when first needed, destroyed with this.
class ThreadPart {
 public:
  virtual ~ThreadPart() = default;
  // The thread exits.
  virtual void leave() {}
};
enum class ThreadSlot : size_t { am, process, count };

struct ThreadState {
  Context context = Context::client;  // changed by enter()
  uint32_t hsl_held = 0;              // handler-safe locks held; counted with `checks: full` only
  uint32_t sends = 0;                 // requests sent; every kPollInterval-th one polls
  uint32_t vain_polls = 0;            // the client's that found nothing, in a row
  OpPool ops;
  ImplicitOps implicit;              // NBI operations outside access regions
  ImplicitOps* nbi = &implicit;      // where NBI operations count now: `implicit` or an open region
  std::atomic<bool> in_poll{false};  // written by the thread; see end_polls()
  bool internal = false;             // a progress thread: not one of the client's
  std::array<std::unique_ptr<ThreadPart>, static_cast<size_t>(ThreadSlot::count)> parts;

  // Relaxed: other threads look (threads_in_handlers()), and nothing hangs on what they see.
  void enter(Context now) { std::atomic_ref(context).store(now, std::memory_order_relaxed); }
  bool polls() const { return in_poll.load(std::memory_order_relaxed); }
  // NULL: not made yet.
  ThreadPart* part(ThreadSlot slot) const { return parts[static_cast<size_t>(slot)].get(); }
};

// Ends the job when the process has more client threads than it may.
ThreadState* create_thread_state();
// The same, or the end of the job when there is no runtime yet, for a call of the client's.
ThreadState* first_thread_state(const char* call);
// The calling thread is the library's: it does not count against the limit.
void enter_as_internal_thread();

extern thread_local constinit ThreadState* tls_thread_state
    __attribute__((tls_model("initial-exec")));

inline ThreadState& thread_state() {
  ThreadState* state = tls_thread_state;
  return *(__builtin_expect(state != nullptr, 1) ? state : create_thread_state());
}

// For calls that a client may make too early: a thread's first entry is off the fast path anyhow.
inline ThreadState& thread_state(const char* call) {
  ThreadState* state = tls_thread_state;
  return *(__builtin_expect(state != nullptr, 1) ? state : first_thread_state(call));
}

// Client threads that may have a ThreadState at once.
inline constexpr uint32_t kDefaultThreadLimit = 65536;
void set_thread_limit(uint32_t limit);
uint32_t thread_limit();
// Client threads that have a ThreadState now.
uint32_t live_threads();
// Whether a thread but the calling one is in a poll.
bool others_poll();
// How many threads run handlers of messages. Where it may not wait, as in a handler of a signal, 0
// is the answer while the list of threads is in use.
[[gnu::cold]] uint32_t threads_in_handlers(bool waits);
// Threads that exited with implicit operations still under way; what is kept for them is released
// when those are complete and anybody asks, or a new thread comes.
uint32_t left_threads();

}  // namespace causeway
