// Selector: which conduit serves a peer, by which rule, and why not the others. Pure: depends on
// the configuration, the open conduits and the peer's description only, so `causeway explain`
// asks the same code without a job.
#pragma once

#include <causeway/conduit.h>

#include <string>
#include <vector>

#include "config/config.h"
#include "select/conduit_set.h"

namespace causeway {

// What the core knows of a peer when it chooses.
struct PeerFacts {
  cwyc_peer_desc desc{};
  Locality locality = Locality::remote;
  std::string host;
};

struct Refusal {
  std::string conduit;
  std::string reason;
};

// The answer for one peer. `general` serves everything that the rule does not direct elsewhere.
struct Choice {
  Conduit* general = nullptr;
  Conduit* put = nullptr;
  Conduit* get = nullptr;
  Conduit* atomic = nullptr;
  Conduit* am = nullptr;
  const PeerRule* rule = nullptr;
  std::vector<Refusal> refused;  // in the order tried
};

// The first rule of `peers:` that matches, or nullptr.
const PeerRule* rule_for(const Config& config, const PeerFacts& peer);

// Throws Error(CWY_ERR_UNREACHABLE) listing every reason when nothing fits.
Choice choose(const Config& config, const ConduitSet& set, const PeerFacts& peer);

}  // namespace causeway
