// Largest payloads: "Maximum payload size queries" and the LUB forms. Requests and replies have
// the same limits, so the answers are symmetric by construction.
#pragma once

#include <cstddef>

namespace causeway {

class Endpoint;
class Team;
struct Peer;

struct AmLimits {
  size_t medium;
  size_t long_max;
};

// For one peer; the same before and after it is wired up.
AmLimits limits_of(const Peer& peer);
// Min of maxes over the members.
AmLimits limits_of(const Team& team);
// Over every conduit that could serve any peer: what the LUB queries promise.
AmLimits least_limits(Endpoint& ep);

}  // namespace causeway
