// How a team ends.
#include "base/fatal.h"
#include "base/flags.h"
#include "collective/engine.h"
#include "collective/exchange.h"
#include "object/client.h"
#include "object/segment.h"
#include "object/team_ids.h"
#include "process/runtime.h"
#include "process/team_create.h"
#include "progress/waiter.h"
#include "thread/event.h"

namespace causeway {
namespace {

uint32_t local_members(const Team& team) {
  uint32_t n = 0;
  for (const TeamMember& member : team.members()) n += member.rank() == runtime().rank();
  return n;
}

// A barrier over a team with several members in some process, where one thread may end one after
// the other: only the last of them waits, for all.
void end_together(Team& team, uint32_t locals) {
  team.set_farewell(start_barrier(team));
  for (Team* member : team_ids::collect(team.id(), &team, locals)) {
    const gex_Event_t event = member->farewell();
    WaiterFor waiter(
        {"gex_TM_Destroy()", [](const void*) -> std::string { return "the other members"; }});
    while (event != GEX_EVENT_INVALID && !happened(event)) waiter.step();
    if (event != GEX_EVENT_INVALID) recycle(event);
    delete member;
  }
}

}  // namespace

int destroy_team(Team& team, gex_Memvec_t* scratch, gex_Flags_t flags) {
  constexpr const char* kCall = "gex_TM_Destroy()";
  constexpr gex_Flags_t kKnown = GEX_FLAG_GLOBALLY_QUIESCED | GEX_FLAG_SCRATCH_SEG_OFFSET;
  const gex_Flags_t own = flags_of_call(kCall, flags, kKnown);
  if (own & ~kKnown) fatal(kCall, "flags {:#x} contain unknown bits {:#x}", flags, own & ~kKnown);
  if (&team == team.client()->team()) fatal(kCall, "the primordial team cannot be destroyed");
  int written = 0;
  if (scratch != nullptr && team.scratch_size() != 0) {
    uint64_t at = team.scratch(team.rank());
    if (own & GEX_FLAG_SCRATCH_SEG_OFFSET) {
      const Segment* segment = team.ep()->segment();
      if (segment == nullptr) fatal(kCall, "the segment that the scratch was in is gone");
      at -= reinterpret_cast<uint64_t>(segment->addr());
    }
    scratch->gex_addr = reinterpret_cast<void*>(at);
    scratch->gex_len = team.scratch_size();
    written = 1;
  }
  if (own & GEX_FLAG_GLOBALLY_QUIESCED) {
    delete &team;
  } else if (team.shares_processes()) {
    end_together(team, local_members(team));
  } else {
    // Members may still be inside their last collective here: nobody's scratch is given back, and
    // no number released, before all have come this far.
    causeway::exchange(team, "", kCall);
    delete &team;
  }
  return written;
}

}  // namespace causeway
