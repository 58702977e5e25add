// Largest payloads of messages: what a conduit takes, and what a rank's card tells of it.
#pragma once

#include <cstddef>

namespace causeway {

// Most payload bytes of an emulated long.
inline constexpr size_t kEmulatedLongMax = 1u << 20;

struct AmLimits {
  size_t medium;
  size_t long_max;
  bool operator==(const AmLimits&) const = default;
};

}  // namespace causeway
