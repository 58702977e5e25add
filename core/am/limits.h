// Largest payloads: "Maximum payload size queries" and the LUB forms. Requests and replies, and
// both directions between two ranks, have the same limits, so the answers are symmetric by
// construction: each rank's card tells what its conduits take, and either side computes the least
// over both cards and over the conduits that either side chooses.
#pragma once

#include <gasnet_fwd.h>

#include <cstddef>

#include "connection/am_limits.h"

namespace causeway {

class Endpoint;
class Team;
struct Peer;

// For one peer; the same before and after it is wired up.
AmLimits limits_of(const Peer& peer);
// Min of maxes over the team. Every member gets the same answer, as far as it can know what others
// reach each other by: a rank without a neighbor counts the neighbors among the others too.
AmLimits limits_of(const Team& team);
// Over every conduit of every rank: what the LUB queries promise. The same on all ranks.
AmLimits least_limits();

// The limit that a query with these flags is about.
size_t payload_limit(const AmLimits& limits, bool medium, gex_Flags_t flags);

}  // namespace causeway
