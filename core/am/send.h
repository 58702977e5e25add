// What sending of any kind shares: context checks, waiting under back-pressure, local completion.
#pragma once

#include <gasnetex.h>

#include "event/op.h"
#include "object/peer.h"
#include "progress/thread_state.h"

namespace causeway {

// Ends the job: `call` is not allowed inside a handler, or while a handler-safe lock is held.
[[noreturn]] void forbidden_here(const char* call, const ThreadState& thread);

// Calls that communicate are for client context only ("Calls from restricted context").
inline bool may_communicate(const ThreadState& thread) {
  return thread.context == Context::client && thread.hsl_held == 0;
}
inline void require_client_context(const char* call, const ThreadState& thread) {
  if (__builtin_expect(!may_communicate(thread), 0)) forbidden_here(call, thread);
}

// A rank outside the team, diagnosed with `checks: full`.
void require_rank(const char* call, gex_TM_t tm, gex_Rank_t rank);

inline bool is_leaf_pointer(const gex_Event_t* lc_opt) {
  return reinterpret_cast<uintptr_t>(lc_opt) > reinterpret_cast<uintptr_t>(GEX_EVENT_GROUP);
}

// Requests make progress too, one in this many.
inline constexpr uint32_t kPollInterval = 16;

}  // namespace causeway
