// Wiring: what an endpoint tells one process alone, where its conduit needs an address for each
// peer (CWYC_CAP_WIRING). Every text travels through the bootstrap under a key of its own and is
// fetched when the peer is first contacted, so that no rank carries what was written for others.
#pragma once

#include <causeway/conduit.h>

#include <optional>
#include <string>
#include <vector>

#include "connection/conduit_set.h"

namespace causeway {

// Publishes what these endpoints tell those processes; false: no conduit of theirs asks for that.
// Not with a connect mutex held: it enters the conduits. Throws Error.
bool publish_wirings(const ConduitEps& eps, const std::vector<cwy_peer>& peers);

// What `peer` tells this process; nullopt: it has not arrived yet. Under the connect mutex. Throws
// Error when the peer is dead, or has told nothing within timeouts.start.
std::optional<std::string> wiring_from(ConduitEp& cep, cwy_peer peer);

}  // namespace causeway
