// Largest payloads of messages: what a conduit takes, what a rank's card tells of it, and what the
// rules come to between two ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>

namespace causeway {

// Most payload bytes of an emulated long.
inline constexpr size_t kEmulatedLongMax = 1u << 20;

struct AmLimits {
  size_t medium;
  size_t long_max;
  auto operator<=>(const AmLimits&) const = default;
};

// The smaller one of each.
AmLimits least(const AmLimits& a, const AmLimits& b);

// Between this rank and another, in both directions. Throws Error as choose().
AmLimits limits_with(uint32_t rank);
// Between ranks of the set whose locality to each other is one that none has to this rank.
AmLimits limits_between_others(const std::set<uint32_t>& ranks);

}  // namespace causeway
