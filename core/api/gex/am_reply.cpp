// gex_AM_Reply* and what a handler may ask of its token.
#include <gasnetex.h>

#include "am/completion.h"
#include "am/handler_checks.h"
#include "am/internal.h"
#include "am/limits.h"
#include "am/post_long.h"
#include "am/send.h"
#include "am/token.h"
#include "api/export.h"
#include "base/call_arguments.h"
#include "connection/word.h"
#include "object/endpoint.h"
#include "object/local.h"
#include "process/runtime.h"
#include "progress/poll.h"

namespace causeway {
namespace {

// Replies wait for room on their own lane, which the receiver drains in every context, so this
// ends. 0, or 1 for the no-op answer of GEX_FLAG_IMMEDIATE.
template <typename Post>
__attribute__((cold, noinline)) int retry_reply(gex_Token_t token, gex_Flags_t flags,
                                                cwy_status status, Post&& post) {
  while (status == CWY_RETRY) {
    if (flags & GEX_FLAG_IMMEDIATE) return 1;
    poll_replies(token->ep->conduit_eps());
    status = post();
  }
  if (is_error(status)) send_failed(*token->from, status);
  token->replied = true;
  return 0;
}

// Posts until accepted; `post` answers CWY_OK, CWY_INPROGRESS, CWY_RETRY or a failure.
template <typename Post>
inline int post_payload(gex_Token_t token, gex_Flags_t flags, ReplyCompletion& completion,
                        Post&& post) {
  cwy_status status = post();
  if (__builtin_expect(is_error(status), 0)) {
    if (retry_reply(token, flags, status, [&] { return status = post(); }) != 0) {
      completion.refused();
      return 1;
    }
  }
  token->replied = true;
  completion.accepted(status);
  return 0;
}

inline uint32_t reply_flags(gex_Flags_t flags) {
  return CWYC_LANE_REPLY | conduit_flags(flags);
}

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
    return conn->ops->am_short(conn, word, args, nargs, reply_flags(flags));
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
  note_call("gex_AM_ReplyShort()", "token, handler, flags, nargs", token, handler, flags, nargs);
  require_live_token("gex_AM_ReplyShort()", token);
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
  note_call(kCall, "token, handler, source_addr, nbytes, lc_opt, flags, nargs", token, handler,
            source_addr, nbytes, lc_opt, flags, nargs);
  require_live_token(kCall, token);
  require_reply(kCall, token);
  Peer& peer = *token->from;
  require_within(kCall, nbytes, limits_of(peer).medium);
  source_addr = local_address(*token->ep, source_addr, flags);
  require_sendable(kCall, handler, peer, source_addr, nbytes, false, nullptr, flags);
  const uint64_t word = client_word(handler, token->ep->index()) | kWordReply;
  ReplyCompletion completion(kCall, thread_state(), lc_opt);
  return post_payload(token, flags, completion, [&]() -> cwy_status {
    cwyc_conn* conn = am_connection(peer);
    if (__builtin_expect(conn == nullptr, 0)) return CWY_RETRY;
    return conn->ops->am_medium(conn, word, args, nargs, source_addr,
                                local_registration(conn, source_addr, nbytes), nbytes,
                                reply_flags(flags) | completion.flags(flags), completion.op());
  });
}

CAUSEWAY_API int cwy_am_reply_long_v1(gex_Token_t token, gex_AM_Index_t handler,
                                      const void* source_addr, size_t nbytes, void* dest_addr,
                                      gex_Event_t* lc_opt, gex_Flags_t flags, unsigned nargs,
                                      const gex_AM_Arg_t* args) {
  constexpr const char* kCall = "gex_AM_ReplyLong()";
  note_call(kCall, "token, handler, source_addr, nbytes, dest_addr, lc_opt, flags, nargs", token,
            handler, source_addr, nbytes, dest_addr, lc_opt, flags, nargs);
  require_live_token(kCall, token);
  require_reply(kCall, token);
  Peer& peer = *token->from;
  require_within(kCall, nbytes, limits_of(peer).long_max);
  source_addr = local_address(*token->ep, source_addr, flags);
  dest_addr = remote_address(peer, dest_addr, flags);
  require_sendable(kCall, handler, peer, source_addr, nbytes, true, dest_addr, flags);
  const uint64_t word = client_word(handler, token->ep->index()) | kWordReply;
  ReplyCompletion completion(kCall, thread_state(), lc_opt);
  return post_payload(token, flags, completion, [&]() -> cwy_status {
    cwyc_conn* conn = am_connection(peer);
    if (__builtin_expect(conn == nullptr, 0)) return CWY_RETRY;
    return post_long(conn, word, args, nargs, source_addr, nbytes, dest_addr,
                     reply_flags(flags) | completion.flags(flags), completion.op());
  });
}

CAUSEWAY_API gex_TI_t gex_Token_Info(gex_Token_t token, gex_Token_Info_t* info, gex_TI_t) {
  note_call("gex_Token_Info()", "token, info", token, info);
  require_live_token("gex_Token_Info()", token);
  info->gex_srcrank = token->from->rank;
  info->gex_ep = as_c(token->ep);
  info->gex_entry = token->entry;
  info->gex_is_req = token->is_request;
  info->gex_is_long = token->is_long;
  return GEX_TI_ALL;
}
