// Binding: making bound segments known to the members of a team, and mapping those that can be.
#pragma once

#include <functional>

namespace causeway {

class Segment;
class Team;

// Collective over `team`: every member binds or publishes with `own` (which returns the segment to
// tell the others of, or NULL for none, or throws), learns the others' segments, and republishes
// its windows. Returns when all have. When `own` failed on any member, every member throws an
// Error that names the rank and its reason, so that nobody waits for one who gave up.
void publish_segments(Team& team, const std::function<Segment*()>& own);

}  // namespace causeway
