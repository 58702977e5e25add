// SipHash-2-4 with 128 bits of output (Aumasson and Bernstein, 2012): a keyed hash for short
// messages. Here: what a relay and the launcher prove to each other that they know the job's
// secret with.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace causeway::launch {

using Key = std::array<uint8_t, 16>;

std::array<uint8_t, 16> siphash(const Key& key, std::string_view message);

}  // namespace causeway::launch
