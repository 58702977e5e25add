// The arguments of the core's own messages: how values become the 32-bit words that handlers get.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "am/internal.h"

namespace causeway {

template <typename Value>
inline constexpr size_t kArgumentsOf = sizeof(Value) > sizeof(int32_t) ? 2 : 1;

// The values in order. Those of 64 bits, pointers too, are two arguments: join_halves(), low first.
template <typename... Values>
std::array<int32_t, (kArgumentsOf<Values> + ...)> handler_args(Values... values) {
  std::array<int32_t, (kArgumentsOf<Values> + ...)> words{};
  size_t at = 0;
  const auto add = [&](auto value) {
    uint64_t bits = 0;
    if constexpr (std::is_pointer_v<decltype(value)>)
      bits = reinterpret_cast<uint64_t>(value);
    else
      bits = static_cast<uint64_t>(value);
    words[at++] = low_half(bits);
    if constexpr (kArgumentsOf<decltype(value)> == 2) words[at++] = high_half(bits);
  };
  (add(values), ...);
  return words;
}

template <size_t Count>
cwy_status try_send_internal(Peer& to, Internal which, const std::array<int32_t, Count>& args,
                             const void* payload = nullptr, size_t length = 0, bool reply = false) {
  return try_send_internal(to, which, args.data(), Count, payload, length, reply);
}
template <size_t Count>
void send_internal(Peer& to, Internal which, const std::array<int32_t, Count>& args,
                   const void* payload = nullptr, size_t length = 0) {
  send_internal(to, which, args.data(), Count, payload, length);
}
template <size_t Count>
void reply_internal(Peer& to, Internal which, const std::array<int32_t, Count>& args,
                    const void* payload = nullptr, size_t length = 0) {
  reply_internal(to, which, args.data(), Count, payload, length);
}

}  // namespace causeway
