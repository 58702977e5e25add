// Shared by sending of any kind: context checks, waiting under back-pressure, local completion.
#pragma once

#include <gasnetex.h>

#include "am/handler_checks.h"
#include "am/token.h"
#include "connection/peer.h"
#include "connection/post_flags.h"
#include "object/endpoint.h"
#include "progress/poll.h"
#include "progress/waiter.h"
#include "thread/op.h"
#include "thread/thread_state.h"

namespace causeway {

// Ends the job: `call` is not allowed inside a handler, or while a handler-safe lock is held.
[[noreturn]] void forbidden_here(const char* call, const ThreadState& thread);
[[noreturn]] void locks_held(const char* call, const ThreadState& thread);

// Calls that communicate are for client context only ("Calls from restricted context").
inline bool may_communicate(const ThreadState& thread) {
  return thread.context == Context::client && thread.hsl_held == 0;
}
inline void require_client_context(const char* call, const ThreadState& thread) {
  if (__builtin_expect(!may_communicate(thread), 0)) forbidden_here(call, thread);
}

// The same for a call that may be the thread's first, and come before gex_Client_Init().
inline void require_client_context(const char* call) {
  require_client_context(call, thread_state(call));
}

// A rank outside the team, diagnosed with `checks: full`.
void require_rank(const char* call, gex_TM_t tm, gex_Rank_t rank);

// With `checks: full`: ends the job unless the flags fit a message's payload and what they assert
// of its addresses is true. `dest` is the resolved destination of a long, else nullptr.
struct PayloadFacts {
  const char* call;
  const Peer& peer;
  const void* src;  // resolved
  size_t length;
  bool is_long;
  const void* dest;
  gex_Flags_t flags;
};
void check_payload(const PayloadFacts& facts);
inline void require_sendable(const char* call, gex_AM_Index_t handler, const Peer& peer,
                             const void* src, size_t length, bool is_long, const void* dest,
                             gex_Flags_t flags) {
  if (__builtin_expect(!context().checks(), 1)) return;
  check_handler_index(call, handler);
  check_payload({call, peer, src, length, is_long, dest, flags});
}

// Ends the job unless a payload is within the limit.
[[noreturn]] void payload_too_long(const char* call, size_t nbytes, size_t limit);
inline void require_within(const char* call, size_t nbytes, size_t limit) {
  if (__builtin_expect(nbytes > limit, 0)) payload_too_long(call, nbytes, limit);
}

// The peer's connection for messages, or nullptr while it is being wired up.
cwyc_conn* connect_for_messages(Peer& peer);
inline cwyc_conn* am_connection(Peer& peer) {
  // Acquire: a connection that has been swapped in is complete.
  cwyc_conn* conn = peer.am.load(std::memory_order_acquire);
  if (__builtin_expect(conn != &peer.stub, 1)) return conn;
  return connect_for_messages(peer);
}

// A client's flags as the conduit's; replies add their lane.
inline uint32_t conduit_flags(gex_Flags_t flags) {
  uint32_t out = 0;
  if (flags & GEX_FLAG_IMMEDIATE) out |= kImmediate;
  if (flags & GEX_FLAG_LC_COPY_YES) out |= CWYC_SRC_VOLATILE;
  // For longs; conduits ignore these.
  if (flags & GEX_FLAG_PEER_SEG_UNKNOWN) out |= kUnbound | kAnywhere;
  if (flags & GEX_FLAG_PEER_SEG_SOME) out |= kUnbound;
  return out;
}

// Waits for room to send: from client context any progress may make it; in a handler only replies
// may be delivered.
class SendingWait {
 public:
  explicit SendingWait(Endpoint& ep)
      : ep_(ep), in_handler_(thread_state().context != Context::client) {}
  void step() {
    if (in_handler_)
      poll_replies(ep_.conduit_eps());
    else
      waiter_.step();
  }

 private:
  Endpoint& ep_;
  bool in_handler_;
  WaiterFor waiter_{
      {"room to send a message", [](const void*) -> std::string { return "a peer"; }}};
};

inline bool is_leaf_pointer(const gex_Event_t* lc_opt) {
  return reinterpret_cast<uintptr_t>(lc_opt) > reinterpret_cast<uintptr_t>(GEX_EVENT_GROUP);
}

// Every kPollInterval-th request polls.
inline constexpr uint32_t kPollInterval = 16;

// Requests make progress: a program that only sends must still receive.
inline bool poll_is_due(const ThreadState& thread) {
  return (thread.sends + 1) % kPollInterval == 0;
}
inline void occasional_poll(ThreadState& thread) {
  if (__builtin_expect(poll_is_due(thread), 0)) poll_once();
  ++thread.sends;
}

// Ends the job unless `token` may be replied to now: `call` runs in its request handler, for the
// first time, with no handler-safe lock held.
[[noreturn]] void refuse_reply(const char* call, gex_Token_t token);
inline void require_reply(const char* call, gex_Token_t token) {
  const ThreadState& thread = thread_state();
  if (__builtin_expect(!token->is_request || token->replied ||
                           thread.context != Context::request_handler || thread.hsl_held != 0,
                       0))
    refuse_reply(call, token);
}

}  // namespace causeway
