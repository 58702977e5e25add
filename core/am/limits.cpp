#include "am/limits.h"

#include <algorithm>

#include "object/endpoint.h"
#include "object/fatal.h"
#include "object/runtime.h"
#include "object/team.h"

namespace causeway {
namespace {

// The conduit endpoint that carries messages to the peer, or would once it is wired up.
const ConduitEp& carrier(const Peer& peer) {
  const cwyc_conn* conn = peer.am.load(std::memory_order_acquire);
  if (conn != &peer.stub) return *static_cast<Connection*>(conn->core)->cep;
  return or_fatal("gex_AM_Max*()", [&]() -> const ConduitEp& {
    Runtime& rt = runtime();
    const Choice choice = choose(rt.config(), rt.conduits(), rt.job().facts_of(peer.rank, nullptr));
    return *peer.ep->conduit_ep(choice.am);
  });
}

AmLimits least(const AmLimits& a, const AmLimits& b) {
  return {std::min(a.medium, b.medium), std::min(a.long_max, b.long_max)};
}

}  // namespace

AmLimits limits_of(const Peer& peer) {
  return carrier(peer).limits;
}

AmLimits limits_of(const Team& team) {
  AmLimits out{SIZE_MAX, SIZE_MAX};
  for (const Peer* peer : team.members()) out = least(out, limits_of(*peer));
  return out;
}

AmLimits least_limits(Endpoint& ep) {
  AmLimits out{SIZE_MAX, SIZE_MAX};
  for (auto& cep : ep.conduit_eps()) out = least(out, cep->limits);
  return out;
}

}  // namespace causeway
