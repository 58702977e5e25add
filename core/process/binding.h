// Binding: making bound segments known to the members of a team, and mapping those that can be.
#pragma once

#include <functional>
#include <vector>

namespace causeway {

class Client;
class Endpoint;
class Team;

// Collective over `team`: every member binds or publishes with `own` (which returns the endpoints
// whose bound segments are to be told to the others, or throws), learns the others' segments, and
// republishes its windows. Returns when all have. When `own` failed on any member, every member
// throws an Error that names the rank and its reason, so that nobody waits for one who gave up.
void publish_segments(const char* call, Team& team,
                      const std::function<std::vector<Endpoint*>()>& own);

// GASNET_SEGMENT_EVERYTHING: binds the client's primordial endpoint to the whole address space,
// for good, on every rank. Collective over its primordial team.
void bind_everything(Client& client);

}  // namespace causeway
