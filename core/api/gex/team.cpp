// gex_TM_* and gex_EP_* queries.
#include "object/team.h"

#include <gasnetex.h>

#include "am/send.h"
#include "api/gex/export.h"
#include "object/client.h"
#include "object/endpoint.h"
#include "object/fatal.h"
#include "object/runtime.h"
#include "object/segment.h"

using namespace causeway;

CAUSEWAY_API gex_Client_t gex_TM_QueryClient(gex_TM_t tm) {
  return as_c(Team::of(tm)->client());
}
CAUSEWAY_API gex_EP_t gex_TM_QueryEP(gex_TM_t tm) {
  return as_c(Team::of(tm)->ep());
}
CAUSEWAY_API gex_Flags_t gex_TM_QueryFlags(gex_TM_t tm) {
  return Team::of(tm)->flags();
}
CAUSEWAY_API void gex_TM_SetCData(gex_TM_t tm, const void* val) {
  Team::of(tm)->cdata = val;
}
CAUSEWAY_API void* gex_TM_QueryCData(gex_TM_t tm) {
  return const_cast<void*>(Team::of(tm)->cdata);
}

CAUSEWAY_API gex_TM_t gex_TM_Pair(gex_EP_t local_ep, gex_EP_Index_t remote_ep_index) {
  if (remote_ep_index >= GASNET_MAXEPS) {
    fatal("gex_TM_Pair()", "endpoint index {} is not below GASNET_MAXEPS, {}", remote_ep_index,
          GASNET_MAXEPS);
  }
  return as(local_ep)->pair(remote_ep_index)->handle();
}

CAUSEWAY_API gex_Rank_t gex_TM_TranslateRankToJobrank(gex_TM_t tm, gex_Rank_t rank) {
  if (runtime().checks()) require_rank("gex_TM_TranslateRankToJobrank()", tm, rank);
  return Team::of(tm)->member(rank).rank;
}
CAUSEWAY_API gex_Rank_t gex_TM_TranslateJobrankToRank(gex_TM_t tm, gex_Rank_t jobrank) {
  const Team& team = *Team::of(tm);
  for (uint32_t r = 0; r < team.size(); ++r) {
    if (team.member(r).rank == jobrank) return r;
  }
  return GEX_RANK_INVALID;
}
CAUSEWAY_API gex_EP_Location_t gex_TM_TranslateRankToEP(gex_TM_t tm, gex_Rank_t rank,
                                                        gex_Flags_t flags) {
  constexpr const char* kCall = "gex_TM_TranslateRankToEP()";
  if (flags != 0) fatal(kCall, "flags must be 0; {:#x} was passed", flags);
  if (runtime().checks()) require_rank(kCall, tm, rank);
  const Peer& peer = Team::of(tm)->member(rank);
  return {peer.rank, peer.ep_index};
}

CAUSEWAY_API gex_Client_t gex_EP_QueryClient(gex_EP_t ep) {
  return as_c(as(ep)->client());
}
CAUSEWAY_API gex_Flags_t gex_EP_QueryFlags(gex_EP_t ep) {
  return as(ep)->flags();
}
CAUSEWAY_API gex_Segment_t gex_EP_QuerySegment(gex_EP_t ep) {
  return as_c(as(ep)->segment());
}
CAUSEWAY_API gex_EP_Index_t gex_EP_QueryIndex(gex_EP_t ep) {
  return as(ep)->index();
}
CAUSEWAY_API void gex_EP_SetCData(gex_EP_t ep, const void* val) {
  as(ep)->cdata = val;
}
CAUSEWAY_API void* gex_EP_QueryCData(gex_EP_t ep) {
  return const_cast<void*>(as(ep)->cdata);
}
