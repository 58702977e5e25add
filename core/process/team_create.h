// Making and ending teams: gex_TM_Split, gex_TM_Create, gex_TM_Dup, gex_TM_Destroy. Arguments
// that cannot be right end the job with a line that names the call and the rank.
#pragma once

#include <gasnetex.h>

#include <cstddef>

namespace causeway {

class Team;

// Bytes of scratch that gex_TM_Split and its relatives ask for. Granted memory is kept for the
// team's life and returned by gex_TM_Destroy.
inline constexpr size_t kScratchLeast = 64;
inline constexpr size_t kScratchRecommended = 16384;

// All collective over `parent`; client context. Throw Error when members cannot be reached.
size_t split_team(gex_TM_t* new_tm, Team& parent, int color, int key, void* scratch,
                  size_t scratch_size, gex_Flags_t flags);
size_t duplicate_team(gex_TM_t* new_tm, Team& original, gex_Addr_t scratch, size_t scratch_size,
                      gex_Flags_t flags);
size_t create_teams(gex_TM_t* new_tms, size_t num_new_tms, Team& parent,
                    const gex_EP_Location_t* args, size_t numargs, const gex_Addr_t* scratch_addrs,
                    size_t scratch_size, gex_Flags_t flags);
// Collective over `team`. Non-zero when `scratch` was written.
int destroy_team(Team& team, gex_Memvec_t* scratch, gex_Flags_t flags);

// Agrees on a number for a new team; collective over `parent`. `highest` is the highest
// team_ids::next() of its members. The call makes `groups` teams; this member's is the one at
// `group`, or none when NULL. `tag` as in team_ids::claim(), which is called `claims` times.
uint32_t settle_team_id(Team& parent, uint32_t highest, uint32_t groups, const uint32_t* group,
                        uint32_t claims, uint64_t tag);

}  // namespace causeway
