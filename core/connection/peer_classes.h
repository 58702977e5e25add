// Peer classes: the ranks of a job by how this rank reaches them, looked at once, when the ranks
// know of each other and nothing is connected yet.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "connection/job.h"
#include "connection/selector.h"

namespace causeway {

// Ranks that the rules tell apart from others. Choices are made per peer when it is connected;
// this is what they come to for the first of the class.
struct PeerClass {
  const PeerRule* rule = nullptr;
  Locality locality = Locality::remote;
  uint32_t first = 0;  // the lowest rank
  uint32_t count = 0;
  std::string choice;                 // Choice::summary(); empty: unreachable
  std::string unreachable;            // the whole reason
  std::string warning;                // Choice::warning
  std::set<const Conduit*> conduits;  // that the choice uses, of several lanes
};

std::vector<PeerClass> peer_classes(const Config& config, const ConduitSet& set,
                                    const JobFacts& job);

// Notes in `eps` which conduits any rank will come by, and prints what was chosen: a line per class
// with `log.level: info`, and every fallback that a rule wants to be told of.
void settle_peers(const ConduitEps& eps);

// Throws Error: the rank runs with that other configuration; "": its text is not known. Says where
// the two part, and what each rank would choose.
[[noreturn]] void refuse_other_configuration(uint32_t rank, const std::string& text);

// What the rules come to for a rank of the job, by what its card tells. Throws Error as choose().
Choice choice_for(uint32_t rank);

}  // namespace causeway
