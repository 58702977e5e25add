// gex_AM_Prepare*, _Commit*, _Cancel*: "Negotiated-payload AM APIs" of the GASNet-EX specification.
#include "am/negotiated.h"

#include <gasnetex.h>

#include "am/handler_checks.h"
#include "am/send.h"
#include "am/token.h"
#include "api/export.h"
#include "base/call_arguments.h"
#include "base/fatal.h"
#include "object/team.h"
#include "process/runtime.h"

namespace causeway {
namespace {

template <typename... Rest>
gex_AM_SrcDesc_t prepare_request(const char* call, Negotiation kind, gex_TM_t tm, gex_Rank_t rank,
                                 Rest... rest) {
  ThreadState& thread = thread_state();
  require_client_context(call, thread);
  if (__builtin_expect(runtime().checks(), 0)) require_rank(call, tm, rank);
  occasional_poll(thread);
  return prepare({call, kind, Team::of(tm)->member(rank), nullptr, rest...}, thread);
}

int commit_noted(const CommitCall& call) {
  note_call(call.name, "sd, handler, nbytes, dest_addr, flags, nargs", call.sd, call.handler,
            call.nbytes, call.dest_addr, call.flags, call.nargs);
  return commit(call);
}

int cancel_noted(const char* call, Negotiation kind, gex_AM_SrcDesc_t sd, gex_Flags_t flags) {
  note_call(call, "sd, flags", sd, flags);
  cancel(call, kind, sd, flags);
  return GASNET_OK;
}

// The request counts as replied to from here on, so that a second reply is noticed; a no-op or a
// Cancel takes that back.
template <typename... Rest>
gex_AM_SrcDesc_t prepare_reply(const char* call, Negotiation kind, gex_Token_t token,
                               Rest... rest) {
  require_live_token(call, token);
  require_reply(call, token);
  const gex_AM_SrcDesc_t sd = prepare({call, kind, *token->from, token, rest...}, thread_state());
  token->replied = sd != GEX_AM_SRCDESC_NO_OP;
  return sd;
}

}  // namespace
}  // namespace causeway

using namespace causeway;

CAUSEWAY_API gex_AM_SrcDesc_t gex_AM_PrepareRequestMedium(gex_TM_t tm, gex_Rank_t rank,
                                                          const void* client_buf,
                                                          size_t least_payload, size_t most_payload,
                                                          gex_Event_t* lc_opt, gex_Flags_t flags,
                                                          unsigned int numargs) {
  constexpr const char* kCall = "gex_AM_PrepareRequestMedium()";
  note_call(kCall, "tm, rank, client_buf, least_payload, most_payload, lc_opt, flags, numargs", tm,
            rank, client_buf, least_payload, most_payload, lc_opt, flags, numargs);
  return prepare_request(kCall, Negotiation::request_medium, tm, rank, client_buf, least_payload,
                         most_payload, nullptr, lc_opt, flags, numargs);
}

CAUSEWAY_API gex_AM_SrcDesc_t gex_AM_PrepareRequestLong(gex_TM_t tm, gex_Rank_t rank,
                                                        const void* client_buf,
                                                        size_t least_payload, size_t most_payload,
                                                        void* dest_addr, gex_Event_t* lc_opt,
                                                        gex_Flags_t flags, unsigned int numargs) {
  constexpr const char* kCall = "gex_AM_PrepareRequestLong()";
  note_call(kCall,
            "tm, rank, client_buf, least_payload, most_payload, dest_addr, lc_opt, flags, numargs",
            tm, rank, client_buf, least_payload, most_payload, dest_addr, lc_opt, flags, numargs);
  return prepare_request(kCall, Negotiation::request_long, tm, rank, client_buf, least_payload,
                         most_payload, dest_addr, lc_opt, flags, numargs);
}

CAUSEWAY_API gex_AM_SrcDesc_t gex_AM_PrepareReplyMedium(gex_Token_t token, const void* client_buf,
                                                        size_t least_payload, size_t most_payload,
                                                        gex_Event_t* lc_opt, gex_Flags_t flags,
                                                        unsigned int numargs) {
  constexpr const char* kCall = "gex_AM_PrepareReplyMedium()";
  note_call(kCall, "token, client_buf, least_payload, most_payload, lc_opt, flags, numargs", token,
            client_buf, least_payload, most_payload, lc_opt, flags, numargs);
  return prepare_reply(kCall, Negotiation::reply_medium, token, client_buf, least_payload,
                       most_payload, nullptr, lc_opt, flags, numargs);
}

CAUSEWAY_API gex_AM_SrcDesc_t gex_AM_PrepareReplyLong(gex_Token_t token, const void* client_buf,
                                                      size_t least_payload, size_t most_payload,
                                                      void* dest_addr, gex_Event_t* lc_opt,
                                                      gex_Flags_t flags, unsigned int numargs) {
  constexpr const char* kCall = "gex_AM_PrepareReplyLong()";
  note_call(kCall,
            "token, client_buf, least_payload, most_payload, dest_addr, lc_opt, flags, numargs",
            token, client_buf, least_payload, most_payload, dest_addr, lc_opt, flags, numargs);
  return prepare_reply(kCall, Negotiation::reply_long, token, client_buf, least_payload,
                       most_payload, dest_addr, lc_opt, flags, numargs);
}

CAUSEWAY_API int cwy_am_commit_request_medium_v1(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler,
                                                 size_t nbytes, gex_Flags_t flags, unsigned nargs,
                                                 const gex_AM_Arg_t* args) {
  return commit_noted({"gex_AM_CommitRequestMedium()", Negotiation::request_medium, sd, handler,
                       nbytes, nullptr, flags, nargs, args});
}
CAUSEWAY_API int cwy_am_commit_request_long_v1(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler,
                                               size_t nbytes, void* dest_addr, gex_Flags_t flags,
                                               unsigned nargs, const gex_AM_Arg_t* args) {
  return commit_noted({"gex_AM_CommitRequestLong()", Negotiation::request_long, sd, handler, nbytes,
                       dest_addr, flags, nargs, args});
}
CAUSEWAY_API int cwy_am_commit_reply_medium_v1(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler,
                                               size_t nbytes, gex_Flags_t flags, unsigned nargs,
                                               const gex_AM_Arg_t* args) {
  return commit_noted({"gex_AM_CommitReplyMedium()", Negotiation::reply_medium, sd, handler, nbytes,
                       nullptr, flags, nargs, args});
}
CAUSEWAY_API int cwy_am_commit_reply_long_v1(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler,
                                             size_t nbytes, void* dest_addr, gex_Flags_t flags,
                                             unsigned nargs, const gex_AM_Arg_t* args) {
  return commit_noted({"gex_AM_CommitReplyLong()", Negotiation::reply_long, sd, handler, nbytes,
                       dest_addr, flags, nargs, args});
}

CAUSEWAY_API int gex_AM_CancelRequestMedium(gex_AM_SrcDesc_t sd, gex_Flags_t flags) {
  return cancel_noted("gex_AM_CancelRequestMedium()", Negotiation::request_medium, sd, flags);
}
CAUSEWAY_API int gex_AM_CancelRequestLong(gex_AM_SrcDesc_t sd, gex_Flags_t flags) {
  return cancel_noted("gex_AM_CancelRequestLong()", Negotiation::request_long, sd, flags);
}
CAUSEWAY_API int gex_AM_CancelReplyMedium(gex_AM_SrcDesc_t sd, gex_Flags_t flags) {
  return cancel_noted("gex_AM_CancelReplyMedium()", Negotiation::reply_medium, sd, flags);
}
CAUSEWAY_API int gex_AM_CancelReplyLong(gex_AM_SrcDesc_t sd, gex_Flags_t flags) {
  return cancel_noted("gex_AM_CancelReplyLong()", Negotiation::reply_long, sd, flags);
}

CAUSEWAY_API void cwy_am_no_src_desc_v1(const char* call) {
  fatal(call, "the descriptor is GEX_AM_SRCDESC_NO_OP: nothing was prepared");
}
