// gex_AM_Request*: "Fixed-payload AM APIs" of the GASNet-EX specification.
#include <gasnetex.h>

#include "am/completion.h"
#include "am/handler_checks.h"
#include "am/internal.h"
#include "am/limits.h"
#include "am/post_long.h"
#include "am/send.h"
#include "api/export.h"
#include "base/call_arguments.h"
#include "connection/word.h"
#include "object/endpoint.h"
#include "object/local.h"
#include "object/team.h"
#include "process/runtime.h"
#include "progress/poll.h"
#include "progress/waiter.h"

namespace causeway {
namespace {

// Back-pressure: makes progress and posts again until the message is out, or passes it on.
template <typename Post>
__attribute__((cold, noinline)) int retry(Peer& peer, gex_Flags_t flags, cwy_status status,
                                          Post&& post) {
  WaiterFor waiter(wait_for("gex_AM_Request*()", peer));
  while (status == CWY_RETRY) {
    if (flags & GEX_FLAG_IMMEDIATE) {
      poll_for_client();
      return 1;
    }
    waiter.step();
    status = post();
  }
  if (is_error(status)) send_failed(peer, status);
  return 0;
}

// Posts until accepted. 0, or 1 for the no-op answer of GEX_FLAG_IMMEDIATE.
template <typename Post>
int post_payload(Peer& peer, gex_Flags_t flags, RequestCompletion& completion, Post&& post) {
  cwy_status status = post();
  if (__builtin_expect(status == CWY_RETRY, 0)) {
    const int no_op = retry(peer, flags, status, [&] { return status = post(); });
    if (no_op) {
      completion.refused();
      return 1;
    }
  } else if (is_error(status)) {
    send_failed(peer, status);
  }
  completion.accepted(status);
  return 0;
}

// A short request as far as posting it again needs it. In memory rather than in registers that
// the sender's common path would have to save.
struct ShortRequest {
  Peer& peer;
  uint64_t word;
  const gex_AM_Arg_t* args;
  unsigned nargs;
  gex_Flags_t flags;

  __attribute__((always_inline)) cwy_status post() const {
    // Acquire: a connection that has been swapped in is complete.
    cwyc_conn* conn = peer.am.load(std::memory_order_acquire);
    return conn->ops->am_short(conn, word, args, nargs, conduit_flags(flags));
  }
};

__attribute__((cold, noinline)) int retry_short(const ShortRequest& request, cwy_status status) {
  return retry(request.peer, request.flags, status, [&] { return request.post(); });
}

__attribute__((always_inline)) inline int post_short(gex_TM_t tm, gex_Rank_t rank,
                                                     gex_AM_Index_t handler, gex_Flags_t flags,
                                                     unsigned nargs, const gex_AM_Arg_t* args) {
  Team& team = *Team::of(tm);
  const ShortRequest request{team.member(rank), client_word(handler, team.ep()->index()), args,
                             nargs, flags};
  const cwy_status status = request.post();
  if (__builtin_expect(status == CWY_OK, 1)) return 0;
  return retry_short(request, status);
}

// Every so many requests, on a thread's first one, with checks, and where the call is forbidden.
__attribute__((noinline)) int post_short_in_full(gex_TM_t tm, gex_Rank_t rank,
                                                 gex_AM_Index_t handler, gex_Flags_t flags,
                                                 unsigned nargs, const gex_AM_Arg_t* args) {
  note_call("gex_AM_RequestShort()", "tm, rank, handler, flags, nargs", tm, rank, handler, flags,
            nargs);
  ThreadState& thread = thread_state();
  require_client_context("gex_AM_RequestShort()", thread);
  if (runtime().checks()) {
    require_rank("gex_AM_RequestShort()", tm, rank);
    require_capability("gex_AM_RequestShort()", *Team::of(tm)->ep(), GEX_EP_CAPABILITY_AM, "AM");
    check_handler_index("gex_AM_RequestShort()", handler);
  }
  occasional_poll(thread);
  return post_short(tm, rank, handler, flags, nargs, args);
}

}  // namespace
}  // namespace causeway

using namespace causeway;

CAUSEWAY_API int cwy_am_request_short_v1(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,
                                         gex_Flags_t flags, unsigned nargs,
                                         const gex_AM_Arg_t* args) {
  ThreadState* const thread = tls_thread_state;
  if (__builtin_expect(thread == nullptr || !may_communicate(*thread) || poll_is_due(*thread) ||
                           runtime().checks(),
                       0))
    return post_short_in_full(tm, rank, handler, flags, nargs, args);
  ++thread->sends;
  return post_short(tm, rank, handler, flags, nargs, args);
}

CAUSEWAY_API int cwy_am_request_medium_v1(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,
                                          const void* source_addr, size_t nbytes,
                                          gex_Event_t* lc_opt, gex_Flags_t flags, unsigned nargs,
                                          const gex_AM_Arg_t* args) {
  constexpr const char* kCall = "gex_AM_RequestMedium()";
  note_call(kCall, "tm, rank, handler, source_addr, nbytes, lc_opt, flags, nargs", tm, rank,
            handler, source_addr, nbytes, lc_opt, flags, nargs);
  ThreadState& thread = thread_state();
  require_client_context(kCall, thread);
  if (__builtin_expect(runtime().checks(), 0)) require_rank(kCall, tm, rank);
  Team& team = *Team::of(tm);
  Peer& peer = team.member(rank);
  require_within(kCall, nbytes, limits_of(peer).medium);
  occasional_poll(thread);
  source_addr = local_address(team, source_addr, flags);
  require_sendable(kCall, handler, peer, source_addr, nbytes, false, nullptr, flags);
  const uint64_t word = client_word(handler, team.ep()->index());
  RequestCompletion completion(kCall, thread, lc_opt);
  return post_payload(peer, flags, completion, [&]() -> cwy_status {
    cwyc_conn* conn = am_connection(peer);
    if (__builtin_expect(conn == nullptr, 0)) return CWY_RETRY;
    return conn->ops->am_medium(conn, word, args, nargs, source_addr,
                                local_registration(conn, source_addr, nbytes), nbytes,
                                conduit_flags(flags) | completion.flags(flags), completion.op());
  });
}

CAUSEWAY_API int cwy_am_request_long_v1(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,
                                        const void* source_addr, size_t nbytes, void* dest_addr,
                                        gex_Event_t* lc_opt, gex_Flags_t flags, unsigned nargs,
                                        const gex_AM_Arg_t* args) {
  constexpr const char* kCall = "gex_AM_RequestLong()";
  note_call(kCall, "tm, rank, handler, source_addr, nbytes, dest_addr, lc_opt, flags, nargs", tm,
            rank, handler, source_addr, nbytes, dest_addr, lc_opt, flags, nargs);
  ThreadState& thread = thread_state();
  require_client_context(kCall, thread);
  if (__builtin_expect(runtime().checks(), 0)) require_rank(kCall, tm, rank);
  Team& team = *Team::of(tm);
  Peer& peer = team.member(rank);
  require_within(kCall, nbytes, limits_of(peer).long_max);
  occasional_poll(thread);
  source_addr = local_address(team, source_addr, flags);
  dest_addr = remote_address(peer, dest_addr, flags);
  require_sendable(kCall, handler, peer, source_addr, nbytes, true, dest_addr, flags);
  const uint64_t word = client_word(handler, team.ep()->index());
  RequestCompletion completion(kCall, thread, lc_opt);
  return post_payload(peer, flags, completion, [&]() -> cwy_status {
    cwyc_conn* conn = am_connection(peer);
    if (__builtin_expect(conn == nullptr, 0)) return CWY_RETRY;
    return post_long(conn, word, args, nargs, source_addr, nbytes, dest_addr,
                     conduit_flags(flags) | completion.flags(flags), completion.op());
  });
}
