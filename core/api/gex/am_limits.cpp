// Handler registration and payload limits.
#include <gasnetex.h>

#include "am/limits.h"
#include "am/send.h"
#include "am/token.h"
#include "api/gex/export.h"
#include "object/client.h"
#include "object/runtime.h"
#include "object/team.h"

namespace causeway {
namespace {

AmLimits limits(gex_TM_t tm, gex_Rank_t rank) {
  Team& team = *Team::of(tm);
  if (rank == GEX_RANK_INVALID) return limits_of(team);
  if (runtime().checks()) require_rank("gex_AM_Max*()", tm, rank);
  return limits_of(team.member(rank));
}

AmLimits lub() {
  return least_limits(*runtime().clients.front()->endpoint());
}

}  // namespace
}  // namespace causeway

using namespace causeway;

CAUSEWAY_API int gex_EP_RegisterHandlers(gex_EP_t ep, gex_AM_Entry_t* table, size_t numentries) {
  return as(ep)->handlers().register_handlers(table, numentries);
}

CAUSEWAY_API size_t gex_AM_MaxRequestLong(gex_TM_t tm, gex_Rank_t other_rank, const gex_Event_t*,
                                          gex_Flags_t, unsigned int) {
  return limits(tm, other_rank).long_max;
}
CAUSEWAY_API size_t gex_AM_MaxReplyLong(gex_TM_t tm, gex_Rank_t other_rank, const gex_Event_t*,
                                        gex_Flags_t, unsigned int) {
  return limits(tm, other_rank).long_max;
}
CAUSEWAY_API size_t gex_AM_MaxRequestMedium(gex_TM_t tm, gex_Rank_t other_rank, const gex_Event_t*,
                                            gex_Flags_t, unsigned int) {
  return limits(tm, other_rank).medium;
}
CAUSEWAY_API size_t gex_AM_MaxReplyMedium(gex_TM_t tm, gex_Rank_t other_rank, const gex_Event_t*,
                                          gex_Flags_t, unsigned int) {
  return limits(tm, other_rank).medium;
}
CAUSEWAY_API size_t gex_Token_MaxReplyLong(gex_Token_t token, const gex_Event_t*, gex_Flags_t,
                                           unsigned int) {
  return limits_of(*token->from).long_max;
}
CAUSEWAY_API size_t gex_Token_MaxReplyMedium(gex_Token_t token, const gex_Event_t*, gex_Flags_t,
                                             unsigned int) {
  return limits_of(*token->from).medium;
}
CAUSEWAY_API size_t gex_AM_LUBRequestLong(void) {
  return lub().long_max;
}
CAUSEWAY_API size_t gex_AM_LUBReplyLong(void) {
  return lub().long_max;
}
CAUSEWAY_API size_t gex_AM_LUBRequestMedium(void) {
  return lub().medium;
}
CAUSEWAY_API size_t gex_AM_LUBReplyMedium(void) {
  return lub().medium;
}
