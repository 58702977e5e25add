// gex_AM_Request*: "Fixed-payload AM APIs" of the GASNet-EX specification.
#include <gasnetex.h>

#include "am/internal.h"
#include "am/limits.h"
#include "am/send.h"
#include "am/word.h"
#include "api/gex/export.h"
#include "object/endpoint.h"
#include "object/fatal.h"
#include "object/runtime.h"
#include "object/team.h"
#include "progress/poll.h"
#include "progress/waiter.h"
#include "rma/local.h"

namespace causeway {
namespace {

// Requests make progress: a program that only sends must still receive.
inline bool poll_is_due(const ThreadState& thread) {
  return (thread.sends + 1) % kPollInterval == 0;
}
inline void occasional_poll(ThreadState& thread) {
  if (__builtin_expect(poll_is_due(thread), 0)) poll_once();
  ++thread.sends;
}

// Back-pressure: makes progress and posts again until the message is out, or passes it on.
template <typename Post>
__attribute__((cold, noinline)) int retry(Peer& peer, gex_Flags_t flags, cwy_status status,
                                          Post&& post) {
  Waiter waiter;
  while (status == CWY_RETRY) {
    if (flags & GEX_FLAG_IMMEDIATE) {
      poll_once();
      return 1;
    }
    waiter.step();
    status = post();
  }
  if (status < 0) send_failed(peer, status);
  return 0;
}

void require_within(const char* call, size_t nbytes, size_t limit) {
  if (__builtin_expect(nbytes > limit, 0)) {
    fatal(call, "a payload of {} bytes is over the limit of {} (gex_AM_Max*() tells it)", nbytes,
          limit);
  }
}

// Local completion of a medium or long, as `lc_opt` asks for it. Chooses the Op to post with and
// settles the client's event afterwards.
class LocalCompletion {
 public:
  LocalCompletion(const char* call, ThreadState& thread, gex_Event_t* lc_opt)
      : thread_(thread), lc_opt_(lc_opt), op_(thread.ops.take()) {
    if (lc_opt == GEX_EVENT_GROUP) {
      op_->arm_implicit(thread.nbi, kCategoryAm, false, 0, CWYC_DONE_LOCAL);
    } else if (lc_opt == GEX_EVENT_NOW || is_leaf_pointer(lc_opt)) {
      op_->arm_explicit(CWYC_DONE_LOCAL);
    } else {
      fatal(call, "lc_opt must be GEX_EVENT_NOW, GEX_EVENT_GROUP or the address of an event");
    }
  }
  cwyc_op* op() { return &op_->conduit; }

  // The message was accepted with `status` (CWY_OK or CWY_INPROGRESS).
  void accepted(cwy_status status) {
    const bool pending = status == CWY_INPROGRESS;
    if (lc_opt_ == GEX_EVENT_GROUP) {
      if (pending) {
        ++thread_.nbi->initiated[kCategoryAm];
        return;
      }
    } else if (lc_opt_ == GEX_EVENT_NOW) {
      Waiter waiter;
      while (pending && !op_->complete()) waiter.step();
    } else {
      *lc_opt_ = pending ? reinterpret_cast<gex_Event_t>(op_) : GEX_EVENT_INVALID;
      if (pending) return;
    }
    thread_.ops.give(op_);
  }
  void refused() { thread_.ops.give(op_); }

 private:
  ThreadState& thread_;
  gex_Event_t* lc_opt_;
  Op* op_;
};

// Posts until accepted. 0, or 1 for the no-op answer of GEX_FLAG_IMMEDIATE.
template <typename Post>
int post_payload(Peer& peer, gex_Flags_t flags, LocalCompletion& completion, Post&& post) {
  cwy_status status = post();
  if (__builtin_expect(status == CWY_RETRY, 0)) {
    const int no_op = retry(peer, flags, status, [&] { return status = post(); });
    if (no_op) {
      completion.refused();
      return 1;
    }
  } else if (status < 0) {
    send_failed(peer, status);
  }
  completion.accepted(status);
  return 0;
}

inline uint32_t conduit_flags(gex_Flags_t flags) {
  return flags & GEX_FLAG_IMMEDIATE ? CWYC_IMMEDIATE : 0;
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
  ThreadState& thread = thread_state();
  require_client_context("gex_AM_RequestShort()", thread);
  if (runtime().checks()) require_rank("gex_AM_RequestShort()", tm, rank);
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
                       0)) {
    return post_short_in_full(tm, rank, handler, flags, nargs, args);
  }
  ++thread->sends;
  return post_short(tm, rank, handler, flags, nargs, args);
}

CAUSEWAY_API int cwy_am_request_medium_v1(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,
                                          const void* source_addr, size_t nbytes,
                                          gex_Event_t* lc_opt, gex_Flags_t flags, unsigned nargs,
                                          const gex_AM_Arg_t* args) {
  constexpr const char* kCall = "gex_AM_RequestMedium()";
  ThreadState& thread = thread_state();
  require_client_context(kCall, thread);
  if (__builtin_expect(runtime().checks(), 0)) require_rank(kCall, tm, rank);
  Team& team = *Team::of(tm);
  Peer& peer = team.member(rank);
  require_within(kCall, nbytes, limits_of(peer).medium);
  occasional_poll(thread);
  source_addr = local_address(team, source_addr, flags);
  const uint64_t word = client_word(handler, team.ep()->index());
  LocalCompletion completion(kCall, thread, lc_opt);
  return post_payload(peer, flags, completion, [&] {
    cwyc_conn* conn = peer.am.load(std::memory_order_acquire);
    return conn->ops->am_medium(conn, word, args, nargs, source_addr,
                                local_registration(team, conn, source_addr, nbytes), nbytes,
                                conduit_flags(flags), completion.op());
  });
}

CAUSEWAY_API int cwy_am_request_long_v1(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,
                                        const void* source_addr, size_t nbytes, void* dest_addr,
                                        gex_Event_t* lc_opt, gex_Flags_t flags, unsigned nargs,
                                        const gex_AM_Arg_t* args) {
  constexpr const char* kCall = "gex_AM_RequestLong()";
  ThreadState& thread = thread_state();
  require_client_context(kCall, thread);
  if (__builtin_expect(runtime().checks(), 0)) require_rank(kCall, tm, rank);
  Team& team = *Team::of(tm);
  Peer& peer = team.member(rank);
  require_within(kCall, nbytes, limits_of(peer).long_max);
  occasional_poll(thread);
  source_addr = local_address(team, source_addr, flags);
  dest_addr = remote_address(peer, dest_addr, flags);
  if (__builtin_expect(runtime().checks(), 0)) require_remote_range(kCall, peer, dest_addr, nbytes);
  const uint64_t word = client_word(handler, team.ep()->index());
  LocalCompletion completion(kCall, thread, lc_opt);
  return post_payload(peer, flags, completion, [&] {
    return post_long(team, peer, word, args, nargs, source_addr, nbytes, dest_addr,
                     conduit_flags(flags), completion.op());
  });
}
