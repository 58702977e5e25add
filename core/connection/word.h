// The 64-bit word that travels with every active message; conduits carry it untouched.
//
//   bits  0..7   handler index (client's table, or the core's own)
//   bit   8      reply
//   bit   9      core-internal: the index names a core handler
//   bit  10      a long whose payload was sent as mediums (am/emulated_long)
//   bit  11      routed: bits 16..63 name two endpoints. Without it the message goes from the
//                primordial endpoint of the first client to that of the receiver, which is the
//                common case and costs nothing
//   bit  12      with bit 10: the payload may go to memory that is in no segment
//   bits 16..31  index of the sending endpoint
//   bits 32..47  index of the receiving endpoint
//   bits 48..63  number of the client that owns both
#pragma once

#include <cstdint>

namespace causeway {

inline constexpr uint64_t kWordReply = 1u << 8;
inline constexpr uint64_t kWordInternal = 1u << 9;
inline constexpr uint64_t kWordEmulatedLong = 1u << 10;

inline constexpr uint64_t kWordRouted = 1u << 11;
inline constexpr uint64_t kWordAnywhere = 1u << 12;

inline constexpr uint64_t client_word(uint8_t handler, uint16_t from_ep) {
  return handler | (static_cast<uint64_t>(from_ep) << 16);
}
inline constexpr uint8_t word_handler(uint64_t word) {
  return static_cast<uint8_t>(word);
}

// The part that a message between two other endpoints carries beside its client_word() or
// internal_word().
struct Route {
  uint16_t client, from, to;
};
inline constexpr uint64_t route_bits(Route r) {
  return kWordRouted | static_cast<uint64_t>(r.from) << 16 | static_cast<uint64_t>(r.to) << 32 |
         static_cast<uint64_t>(r.client) << 48;
}
inline constexpr Route word_route(uint64_t word) {
  return {static_cast<uint16_t>(word >> 48), static_cast<uint16_t>(word >> 16),
          static_cast<uint16_t>(word >> 32)};
}

}  // namespace causeway
