// The 64-bit word that travels with every active message; conduits carry it untouched.
//
//   bits  0..7   handler index (client's table, or the core's own)
//   bit   8      reply
//   bit   9      core-internal: the index names a core handler
//   bit  10      a long whose payload was sent as mediums (am/emulated_long)
//   bits 16..31  index of the sending endpoint
#pragma once

#include <cstdint>

namespace causeway {

inline constexpr uint64_t kWordReply = 1u << 8;
inline constexpr uint64_t kWordInternal = 1u << 9;
inline constexpr uint64_t kWordEmulatedLong = 1u << 10;

inline constexpr uint64_t client_word(uint8_t handler, uint16_t from_ep) {
  return handler | (static_cast<uint64_t>(from_ep) << 16);
}
inline constexpr uint8_t word_handler(uint64_t word) {
  return static_cast<uint8_t>(word);
}

}  // namespace causeway
