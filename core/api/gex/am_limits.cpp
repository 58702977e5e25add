// Handler registration and payload limits.
#include <gasnetex.h>

#include "am/limits.h"
#include "am/send.h"
#include "am/token.h"
#include "api/export.h"
#include "api/refuse.h"
#include "base/fatal.h"
#include "base/handles.h"
#include "object/client.h"
#include "object/endpoint.h"
#include "object/team.h"
#include "process/runtime.h"

namespace causeway {
namespace {

constexpr gex_Flags_t kLeast = GEX_FLAG_AM_PREPARE_LEAST_CLIENT | GEX_FLAG_AM_PREPARE_LEAST_ALLOC;

// With `checks: full`: the arguments that every query of the family has.
void check_query(const char* call, bool reply, const gex_Event_t* lc_opt, gex_Flags_t flags,
                 unsigned numargs) {
  if (numargs > gex_AM_MaxArgs())
    fatal(call, "numargs is {}; a message has at most {}", numargs, gex_AM_MaxArgs());
  if (lc_opt == GEX_EVENT_DEFER || (reply && lc_opt == GEX_EVENT_GROUP)) {
    fatal(call, "lc_opt must be GEX_EVENT_NOW, {}NULL or the address of an event",
          reply ? "" : "GEX_EVENT_GROUP, ");
  }
  if ((flags & kLeast) == kLeast)
    fatal(call, "GEX_FLAG_AM_PREPARE_LEAST_CLIENT and _ALLOC exclude each other");
  if ((flags & GEX_FLAG_AM_PREPARE_LEAST_ALLOC) && lc_opt != nullptr) {
    fatal(call,
          "with GEX_FLAG_AM_PREPARE_LEAST_ALLOC lc_opt must be NULL, as it must be for "
          "gex_AM_Prepare*()");
  }
}

struct Family {
  const char* call;
  bool medium, reply;
};

size_t answer(const Family& family, gex_TM_t tm, gex_Rank_t rank, const gex_Event_t* lc_opt,
              gex_Flags_t flags, unsigned numargs) {
  if (__builtin_expect(g_checks, 0)) {
    check_started(family.call);
    if (tm == GEX_TM_INVALID || rank != GEX_RANK_INVALID) require_rank(family.call, tm, rank);
    require_capability(family.call, *Team::of(tm)->ep(), GEX_EP_CAPABILITY_AM, "AM");
    check_query(family.call, family.reply, lc_opt, flags, numargs);
  }
  Team& team = *Team::of(tm);
  const AmLimits limits = rank == GEX_RANK_INVALID ? limits_of(team) : limits_of(team.member(rank));
  return payload_limit(limits, family.medium, flags);
}

size_t answer(const Family& family, gex_Token_t token, const gex_Event_t* lc_opt, gex_Flags_t flags,
              unsigned numargs) {
  if (__builtin_expect(g_checks, 0)) {
    check_started(family.call);
    if (token == nullptr || !token->is_request)
      fatal(family.call, "called outside a request handler, the only place with a reply to send");
    check_query(family.call, true, lc_opt, flags, numargs);
  }
  return payload_limit(limits_of(*token->from), family.medium, flags);
}

// The LUB queries. Asked before the job is known, as task runtimes do, they answer with what every
// conduit takes (causeway/conduit.h, am_medium_max): later answers are no smaller.
AmLimits promised_limits() {
  constexpr size_t kEveryConduit = 512;
  return g_runtime != nullptr ? least_limits() : AmLimits{kEveryConduit, kEveryConduit};
}

}  // namespace
}  // namespace causeway

using namespace causeway;

CAUSEWAY_API int gex_EP_RegisterHandlers(gex_EP_t ep, gex_AM_Entry_t* table, size_t numentries) {
  if (ep == GEX_EP_INVALID) {
    return refuse("gex_EP_RegisterHandlers()", GASNET_ERR_BAD_ARG,
                  "the endpoint is GEX_EP_INVALID");
  }
  return as(ep)->handlers().register_handlers(table, numentries);
}

CAUSEWAY_API size_t gex_AM_MaxRequestLong(gex_TM_t tm, gex_Rank_t other_rank,
                                          const gex_Event_t* lc_opt, gex_Flags_t flags,
                                          unsigned int numargs) {
  return answer({"gex_AM_MaxRequestLong()", false, false}, tm, other_rank, lc_opt, flags, numargs);
}
CAUSEWAY_API size_t gex_AM_MaxReplyLong(gex_TM_t tm, gex_Rank_t other_rank,
                                        const gex_Event_t* lc_opt, gex_Flags_t flags,
                                        unsigned int numargs) {
  return answer({"gex_AM_MaxReplyLong()", false, true}, tm, other_rank, lc_opt, flags, numargs);
}
CAUSEWAY_API size_t gex_AM_MaxRequestMedium(gex_TM_t tm, gex_Rank_t other_rank,
                                            const gex_Event_t* lc_opt, gex_Flags_t flags,
                                            unsigned int numargs) {
  return answer({"gex_AM_MaxRequestMedium()", true, false}, tm, other_rank, lc_opt, flags, numargs);
}
CAUSEWAY_API size_t gex_AM_MaxReplyMedium(gex_TM_t tm, gex_Rank_t other_rank,
                                          const gex_Event_t* lc_opt, gex_Flags_t flags,
                                          unsigned int numargs) {
  return answer({"gex_AM_MaxReplyMedium()", true, true}, tm, other_rank, lc_opt, flags, numargs);
}
CAUSEWAY_API size_t gex_Token_MaxReplyLong(gex_Token_t token, const gex_Event_t* lc_opt,
                                           gex_Flags_t flags, unsigned int numargs) {
  return answer({"gex_Token_MaxReplyLong()", false, true}, token, lc_opt, flags, numargs);
}
CAUSEWAY_API size_t gex_Token_MaxReplyMedium(gex_Token_t token, const gex_Event_t* lc_opt,
                                             gex_Flags_t flags, unsigned int numargs) {
  return answer({"gex_Token_MaxReplyMedium()", true, true}, token, lc_opt, flags, numargs);
}
CAUSEWAY_API size_t gex_AM_LUBRequestLong(void) {
  return promised_limits().long_max;
}
CAUSEWAY_API size_t gex_AM_LUBReplyLong(void) {
  return promised_limits().long_max;
}
CAUSEWAY_API size_t gex_AM_LUBRequestMedium(void) {
  return promised_limits().medium;
}
CAUSEWAY_API size_t gex_AM_LUBReplyMedium(void) {
  return promised_limits().medium;
}
