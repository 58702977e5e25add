// The mechanism of an atomic domain: an adapter performs its operations, or processors do. Adapters
// and processors are not coherent with each other on one word, so all members use the same
// mechanism, whatever lies between each two.
#pragma once

#include <gasnet_fwd.h>

#include <string>
#include <vector>

namespace causeway {

// `atomics.mechanism` of the configuration.
enum class MechanismWish { automatic, cpu, nic };
MechanismWish parse_mechanism(const std::string& word);

// A member's view from where it is.
struct AtomicView {
  bool near = false;     // every member is in its neighborhood
  std::string adapter;   // the conduit whose adapter can perform the domain between it and all
                         // members; empty: none
  std::string obstacle;  // then: why there is none
  bool operator==(const AtomicView&) const = default;
};

// Pure, so that members who know the same decide the same: the name of the conduit whose adapter
// performs the domain's operations, or an empty text for processors. `flags` are those of
// gex_AD_Create. Throws Error when the wish is for an adapter and there is none for all.
std::string choose_mechanism(MechanismWish wish, gex_Flags_t flags,
                             const std::vector<AtomicView>& members);

}  // namespace causeway
