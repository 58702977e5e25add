// Mapping: through which conduits memory of one process appears in another, so that it can be
// loaded from and stored to. Pure, like the selector: `causeway explain` asks the same code.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "config/config.h"
#include "connection/conduit_set.h"
#include "connection/selector.h"

namespace causeway {

using ConduitEps = std::vector<std::unique_ptr<ConduitEp>>;

// Does the conduit reach a process beside this one, of which nothing more is known?
bool reaches_beside(const Conduit& conduit);

// Sets ConduitEp::maps_neighbors, whatever `native:` forbids. Is there one?
bool find_mapping_conduits(const ConduitEps& eps);

// The conduit that segments come from; NULL where the core maps them. Memory that neighbors map
// beats any other, then memory of a conduit that serves other processes, since that may reach its
// own memory in a way it cannot reach any other; a conduit that no rule names has no say.
Conduit* segment_allocator(const Config& config, const ConduitEps& eps);

// A rank's word on itself: the names of the conduits by which it maps memory of neighbors,
// "shm other", the one that its own segments come from first. Empty where neighbors cannot map
// those.
std::string mapping_words(const Config& config, const ConduitEps& eps);

// A process that says `own` of itself has chosen `choice` for one that says `theirs`: does it map
// that one's segments? Conduits are asked for by name in `set`.
bool maps_segments(const Choice& choice, const ConduitSet& set, const std::string& own,
                   const std::string& theirs);

// The same before a choice is made; no where there is none to make.
bool maps_segments(const Config& config, const ConduitSet& set, const PeerFacts& peer,
                   const std::string& own, const std::string& theirs);

// Divides ranks into neighborhoods: any two of one are in one group and map each other's memory. By
// rank: the lowest rank of its neighborhood. The same arguments give the same answer on every rank,
// also where mapping is not transitive: ranks are taken in their order, and each joins the first
// neighborhood that it can.
std::vector<uint32_t> divide_by_mapping(const std::vector<uint64_t>& groups,
                                        const std::function<bool(uint32_t, uint32_t)>& maps);

}  // namespace causeway
