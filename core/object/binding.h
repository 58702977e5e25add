// Binding: making bound segments known to the members of a team, and mapping those that can be.
#pragma once

#include <functional>
#include <vector>

namespace causeway {

class Endpoint;
class Team;

// Collective over `team`: every member binds or publishes with `own` (which returns the endpoints
// whose bound segments are to be told to the others, or throws), learns the others' segments, and
// republishes its windows. Returns when all have. When `own` failed on any member, every member
// throws an Error that names the rank and its reason, so that nobody waits for one who gave up.
void publish_segments(Team& team, const std::function<std::vector<Endpoint*>()>& own);

}  // namespace causeway
