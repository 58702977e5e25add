// Binding: making bound segments known to the members of a team, and mapping those that can be.
#pragma once

#include <gasnetex.h>

namespace causeway {

class Endpoint;
class Team;

// Collective over `team`: every member tells the segment bound to its endpoint (or none), learns
// the others', and republishes its windows. Returns when all have. Throws Error.
void publish_bound_segments(Team& team, bool publish_own);

}  // namespace causeway
