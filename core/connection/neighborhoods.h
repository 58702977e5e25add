// Neighborhoods as clients see them (gex_System_QueryNbrhdInfo): ranks that can map each other's
// segments through the conduits that serve them, decided once at the start.
#pragma once

#include <cstdint>
#include <vector>

namespace causeway {

// By rank: the lowest rank of its neighborhood, the same on every rank. Called when the cards are
// known and configurations agree; collective where ranks have opened different conduits. Throws
// Error.
std::vector<uint32_t> find_neighborhoods();

}  // namespace causeway
