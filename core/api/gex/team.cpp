// gex_TM_*.
#include "object/team.h"

#include "am/send.h"
#include "api/export.h"
#include "base/call_arguments.h"
#include "base/fatal.h"
#include "base/flags.h"
#include "base/handles.h"
#include "object/client.h"
#include "object/endpoint.h"
#include "process/runtime.h"
#include "process/team_create.h"
#include "thread/thread_state.h"

using namespace causeway;

CAUSEWAY_API gex_Client_t gex_TM_QueryClient(gex_TM_t tm) {
  return as_c(Team::of(valid("gex_TM_QueryClient()", "GEX_TM_INVALID", tm))->client());
}
CAUSEWAY_API gex_EP_t gex_TM_QueryEP(gex_TM_t tm) {
  return as_c(Team::of(valid("gex_TM_QueryEP()", "GEX_TM_INVALID", tm))->ep());
}
CAUSEWAY_API gex_Flags_t gex_TM_QueryFlags(gex_TM_t tm) {
  return Team::of(valid("gex_TM_QueryFlags()", "GEX_TM_INVALID", tm))->flags();
}
CAUSEWAY_API void gex_TM_SetCData(gex_TM_t tm, const void* val) {
  Team::of(valid("gex_TM_SetCData()", "GEX_TM_INVALID", tm))->cdata = val;
}
CAUSEWAY_API void* gex_TM_QueryCData(gex_TM_t tm) {
  return const_cast<void*>(Team::of(valid("gex_TM_QueryCData()", "GEX_TM_INVALID", tm))->cdata);
}

namespace {

// Collective calls take a team, not a TM-pair, and are made in client context.
Team& collective_team(const char* call, gex_TM_t tm) {
  require_client_context(call, thread_state());
  if (tm == GEX_TM_INVALID) fatal(call, "the team is GEX_TM_INVALID");
  Team& team = *Team::of(tm);
  if (team.is_pair()) fatal(call, "a TM-pair is not a team");
  return team;
}

// With `checks: full`, queries that the specification keeps from TM-pairs, and from where nothing
// may communicate, say so.
const Team& queried_team(const char* call, gex_TM_t tm) {
  if (runtime().checks()) {
    require_client_context(call, thread_state());
    if (tm == GEX_TM_INVALID) fatal(call, "the team is GEX_TM_INVALID");
    if (Team::of(tm)->is_pair()) fatal(call, "a TM-pair is not a team");
  }
  return *Team::of(tm);
}

}  // namespace

CAUSEWAY_API size_t gex_TM_Split(gex_TM_t* new_tm_p, gex_TM_t parent_tm, int color, int key,
                                 void* scratch_addr, size_t scratch_size, gex_Flags_t flags) {
  constexpr const char* kCall = "gex_TM_Split()";
  note_call(kCall, "new_tm_p, parent_tm, color, key, scratch_addr, scratch_size, flags", new_tm_p,
            parent_tm, color, key, scratch_addr, scratch_size, flags);
  Team& parent = collective_team(kCall, parent_tm);
  return or_fatal(kCall, [&] {
    return split_team(new_tm_p, parent, color, key, scratch_addr, scratch_size, flags);
  });
}

CAUSEWAY_API size_t gex_TM_Create(gex_TM_t* new_tms, size_t num_new_tms, gex_TM_t parent_tm,
                                  gex_EP_Location_t* args, size_t numargs,
                                  gex_Addr_t* scratch_addrs, size_t scratch_size,
                                  gex_Flags_t flags) {
  constexpr const char* kCall = "gex_TM_Create()";
  note_call(kCall,
            "new_tms, num_new_tms, parent_tm, args, numargs, scratch_addrs, scratch_size, flags",
            new_tms, num_new_tms, parent_tm, args, numargs, scratch_addrs, scratch_size, flags);
  Team& parent = collective_team(kCall, parent_tm);
  return or_fatal(kCall, [&] {
    return create_teams(new_tms, num_new_tms, parent, args, numargs, scratch_addrs, scratch_size,
                        flags);
  });
}

CAUSEWAY_API size_t gex_TM_Dup(gex_TM_t* new_tm_p, gex_TM_t orig_tm, gex_Addr_t scratch_addr,
                               size_t scratch_len, gex_Flags_t flags) {
  constexpr const char* kCall = "gex_TM_Dup()";
  note_call(kCall, "new_tm_p, orig_tm, scratch_addr, scratch_len, flags", new_tm_p, orig_tm,
            scratch_addr, scratch_len, flags);
  Team& original = collective_team(kCall, orig_tm);
  return or_fatal(
      kCall, [&] { return duplicate_team(new_tm_p, original, scratch_addr, scratch_len, flags); });
}

CAUSEWAY_API int gex_TM_Destroy(gex_TM_t tm, gex_Memvec_t* scratch_p, gex_Flags_t flags) {
  constexpr const char* kCall = "gex_TM_Destroy()";
  note_call(kCall, "tm, scratch_p, flags", tm, scratch_p, flags);
  Team& team = collective_team(kCall, tm);
  return or_fatal(kCall, [&] { return destroy_team(team, scratch_p, flags); });
}

CAUSEWAY_API gex_TM_t gex_TM_Pair(gex_EP_t local_ep, gex_EP_Index_t remote_ep_index) {
  note_call("gex_TM_Pair()", "local_ep, remote_ep_index", local_ep, remote_ep_index);
  if (remote_ep_index >= GASNET_MAXEPS) {
    fatal("gex_TM_Pair()", "endpoint index {} is not below GASNET_MAXEPS, {}", remote_ep_index,
          GASNET_MAXEPS);
  }
  return as(valid("gex_TM_Pair()", "GEX_EP_INVALID", local_ep))->pair(remote_ep_index)->handle();
}

CAUSEWAY_API gex_Rank_t gex_TM_TranslateRankToJobrank(gex_TM_t tm, gex_Rank_t rank) {
  constexpr const char* kCall = "gex_TM_TranslateRankToJobrank()";
  note_call(kCall, "tm, rank", tm, rank);
  queried_team(kCall, tm);
  if (runtime().checks()) require_rank(kCall, tm, rank);
  return Team::of(tm)->job_rank(rank);
}
CAUSEWAY_API gex_Rank_t gex_TM_TranslateJobrankToRank(gex_TM_t tm, gex_Rank_t jobrank) {
  constexpr const char* kCall = "gex_TM_TranslateJobrankToRank()";
  note_call(kCall, "tm, jobrank", tm, jobrank);
  const Team& team = queried_team(kCall, tm);
  if (runtime().checks() && jobrank >= runtime().size())
    fatal(kCall, "job rank {} does not exist in a job of {} ranks", jobrank, runtime().size());
  // Where a process has several members the lowest of their ranks is the answer.
  for (uint32_t r = 0; r < team.size(); ++r)
    if (team.job_rank(r) == jobrank) return r;
  return GEX_RANK_INVALID;
}
CAUSEWAY_API gex_EP_Location_t gex_TM_TranslateRankToEP(gex_TM_t tm, gex_Rank_t rank,
                                                        gex_Flags_t flags) {
  constexpr const char* kCall = "gex_TM_TranslateRankToEP()";
  note_call(kCall, "tm, rank, flags", tm, rank, flags);
  require_no_flags(kCall, flags);
  queried_team(kCall, tm);
  if (runtime().checks()) require_rank(kCall, tm, rank);
  const TeamMember& member = Team::of(tm)->members()[rank];
  return {member.rank(), member.index()};
}
