// gex_AM_Reply* and what a handler may ask of its token.
#include <gasnetex.h>

#include "am/internal.h"
#include "am/limits.h"
#include "am/send.h"
#include "am/token.h"
#include "am/word.h"
#include "api/gex/export.h"
#include "object/client.h"
#include "object/fatal.h"
#include "object/runtime.h"
#include "progress/poll.h"
#include "rma/local.h"

namespace causeway {
namespace {

[[noreturn]] __attribute__((cold, noinline)) void refuse_reply(const char* call,
                                                               gex_Token_t token) {
  const ThreadState& thread = thread_state();
  if (!token->is_request || thread.context != Context::request_handler) {
    fatal(call, "called outside a request handler; only a request can be replied to");
  }
  if (token->replied) {
    fatal(call, "this request has been replied to already; a handler may reply once");
  }
  forbidden_here(call, thread);
}

inline void require_reply(const char* call, gex_Token_t token) {
  const ThreadState& thread = thread_state();
  if (__builtin_expect(!token->is_request || token->replied ||
                           thread.context != Context::request_handler || thread.hsl_held != 0,
                       0)) {
    refuse_reply(call, token);
  }
}

void require_within(const char* call, size_t nbytes, size_t limit) {
  if (__builtin_expect(nbytes > limit, 0)) {
    fatal(call, "a payload of {} bytes is over the limit of {} (gex_Token_Max*() tells it)", nbytes,
          limit);
  }
}

// Replies wait for room on their own lane, which the receiver drains in every context, so this
// ends. 0, or 1 for the no-op answer of GEX_FLAG_IMMEDIATE.
template <typename Post>
__attribute__((cold, noinline)) int retry_reply(gex_Token_t token, gex_Flags_t flags,
                                                cwy_status status, Post&& post) {
  while (status == CWY_RETRY) {
    if (flags & GEX_FLAG_IMMEDIATE) return 1;
    poll_replies(*token->ep);
    status = post();
  }
  if (status < 0) send_failed(*token->from, status);
  token->replied = true;
  return 0;
}

template <typename Post>
inline int post_reply(gex_Token_t token, gex_Flags_t flags, Post&& post) {
  const cwy_status status = post();
  if (__builtin_expect(status == CWY_RETRY || status < 0, 0)) {
    return retry_reply(token, flags, status, post);
  }
  token->replied = true;
  return 0;
}

inline uint32_t conduit_flags(gex_Flags_t flags) {
  return CWYC_LANE_REPLY | (flags & GEX_FLAG_IMMEDIATE ? CWYC_IMMEDIATE : 0);
}

// Local completion of a reply's payload: at once, or by an event that only a later call outside
// the handler may wait for.
struct ReplyCompletion {
  ReplyCompletion(const char* call, gex_Event_t* lc) : lc_opt(lc) {
    if (lc_opt == GEX_EVENT_NOW) return;
    if (!is_leaf_pointer(lc_opt)) {
      fatal(call, "lc_opt must be GEX_EVENT_NOW or the address of an event");
    }
    op = thread_state().ops.take();
    op->arm_explicit(CWYC_DONE_LOCAL);
  }
  // Inside a handler nothing may be waited for, so NOW means: copy the source.
  uint32_t flags() const { return lc_opt == GEX_EVENT_NOW ? CWYC_SRC_VOLATILE : 0; }
  cwyc_op* conduit_op() { return op != nullptr ? &op->conduit : nullptr; }
  void settle(cwy_status status, bool no_op) {
    if (op == nullptr) return;
    if (!no_op && status == CWY_INPROGRESS) {
      *lc_opt = reinterpret_cast<gex_Event_t>(op);
      return;
    }
    if (!no_op) *lc_opt = GEX_EVENT_INVALID;
    thread_state().ops.give(op);
  }
  gex_Event_t* lc_opt;
  Op* op = nullptr;
};

// As in a request: what posting it again needs, out of the common path's way.
struct ShortReply {
  gex_Token_t token;
  uint64_t word;
  const gex_AM_Arg_t* args;
  unsigned nargs;
  gex_Flags_t flags;

  __attribute__((always_inline)) cwy_status post() const {
    // Acquire: a connection that has been swapped in is complete.
    cwyc_conn* conn = token->from->am.load(std::memory_order_acquire);
    return conn->ops->am_short(conn, word, args, nargs, conduit_flags(flags));
  }
};

__attribute__((cold, noinline)) int retry_short(const ShortReply& reply, cwy_status status) {
  return retry_reply(reply.token, reply.flags, status, [&] { return reply.post(); });
}

}  // namespace
}  // namespace causeway

using namespace causeway;

CAUSEWAY_API int cwy_am_reply_short_v1(gex_Token_t token, gex_AM_Index_t handler, gex_Flags_t flags,
                                       unsigned nargs, const gex_AM_Arg_t* args) {
  require_reply("gex_AM_ReplyShort()", token);
  const ShortReply reply{token, client_word(handler, token->ep->index()) | kWordReply, args, nargs,
                         flags};
  const cwy_status status = reply.post();
  if (__builtin_expect(status != CWY_OK, 0)) return retry_short(reply, status);
  token->replied = true;
  return 0;
}

CAUSEWAY_API int cwy_am_reply_medium_v1(gex_Token_t token, gex_AM_Index_t handler,
                                        const void* source_addr, size_t nbytes, gex_Event_t* lc_opt,
                                        gex_Flags_t flags, unsigned nargs,
                                        const gex_AM_Arg_t* args) {
  constexpr const char* kCall = "gex_AM_ReplyMedium()";
  require_reply(kCall, token);
  require_within(kCall, nbytes, limits_of(*token->from).medium);
  const Team& team = *token->ep->client()->team();
  source_addr = local_address(team, source_addr, flags);
  const uint64_t word = client_word(handler, token->ep->index()) | kWordReply;
  ReplyCompletion completion(kCall, lc_opt);
  cwy_status status = CWY_OK;
  const int no_op = post_reply(token, flags, [&] {
    cwyc_conn* conn = token->from->am.load(std::memory_order_acquire);
    status = conn->ops->am_medium(
        conn, word, args, nargs, source_addr, local_registration(team, conn, source_addr, nbytes),
        nbytes, conduit_flags(flags) | completion.flags(), completion.conduit_op());
    return status;
  });
  completion.settle(status, no_op != 0);
  return no_op;
}

CAUSEWAY_API int cwy_am_reply_long_v1(gex_Token_t token, gex_AM_Index_t handler,
                                      const void* source_addr, size_t nbytes, void* dest_addr,
                                      gex_Event_t* lc_opt, gex_Flags_t flags, unsigned nargs,
                                      const gex_AM_Arg_t* args) {
  constexpr const char* kCall = "gex_AM_ReplyLong()";
  require_reply(kCall, token);
  require_within(kCall, nbytes, limits_of(*token->from).long_max);
  const Team& team = *token->ep->client()->team();
  source_addr = local_address(team, source_addr, flags);
  dest_addr = remote_address(*token->from, dest_addr, flags);
  if (runtime().checks()) require_remote_range(kCall, *token->from, dest_addr, nbytes);
  const uint64_t word = client_word(handler, token->ep->index()) | kWordReply;
  ReplyCompletion completion(kCall, lc_opt);
  cwy_status status = CWY_OK;
  const int no_op = post_reply(token, flags, [&] {
    status = post_long(team, *token->from, word, args, nargs, source_addr, nbytes, dest_addr,
                       conduit_flags(flags) | completion.flags(), completion.conduit_op());
    return status;
  });
  completion.settle(status, no_op != 0);
  return no_op;
}

CAUSEWAY_API gex_TI_t gex_Token_Info(gex_Token_t token, gex_Token_Info_t* info, gex_TI_t) {
  info->gex_srcrank = token->from->rank;
  info->gex_ep = as_c(token->ep);
  info->gex_entry = token->entry;
  info->gex_is_req = token->is_request;
  info->gex_is_long = token->is_long;
  return GEX_TI_ALL;
}
