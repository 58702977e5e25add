// TeamIds: the numbers by which messages name teams. All members of a team know it by one number,
// and no process has two teams with one number at a time.
//
// No process hands numbers out alone: the members of a new team propose, take the highest
// proposal, claim it each in its own process, and try again with higher ones when some process
// had given it to another team meanwhile (process/team_create.cpp). Proposals are above all numbers
// that were ever in use, and a number that was outrun while its proposal was under way is not
// claimed any more: no process knows two teams by one number, one after the other either, so that a
// late message does not find another team.
//
// All members have claimed the number before any of them has the team. So a message for a number
// that nobody here has claimed is for a team that has ended here.
#pragma once

#include <causeway/direct.h>

#include <cstdint>
#include <vector>

namespace causeway {

class Team;

namespace team_ids {

// Never a client's: the ranks of the job, for the core's own calls.
inline constexpr uint32_t kJob = 0;
// The primordial team of the first client.
inline constexpr uint32_t kFirst = 1;

// The lowest number that was never used here.
uint32_t next();
// From now on next() is at least `id`.
void raise(uint32_t id);
// `tag` names the creation: members of one team in one process claim it together. False: another
// team of this process has the number, or it is not above all numbers whose teams have ended here.
bool claim(uint32_t id, uint64_t tag);
// Has a member here claimed it and not released it? Those of the start are in use all the time.
bool in_use(uint32_t id);
void release(uint32_t id);

// Local members of the team `id` that the builder among `readers` callers of gex_TM_Create in this
// process made for all of them, itself included. take() is empty until then, and answers each
// reader once: also when the builder has gone on and destroyed the team meanwhile. Handles, because
// the team may be gone.
void deposit(uint32_t id, uint64_t tag, std::vector<gex_TM_t> members, uint32_t readers);
std::vector<gex_TM_t> take(uint32_t id, uint64_t tag);

// Destruction of teams with several members in this process: the last of `locals` calls receives
// all of them, the others nothing.
std::vector<Team*> collect(uint32_t id, Team* member, uint32_t locals);

}  // namespace team_ids
}  // namespace causeway
