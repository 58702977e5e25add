// How long to sleep where nothing wakes the sleeper.
#pragma once

#include <algorithm>
#include <cstdint>

namespace causeway {

// The end of a wait is noticed late by half a nap on the average: a nap is a small part of
// `waited_ns`, the time that the wait has taken so far, but never a matter of system calls alone.
// At most `max_ns`.
constexpr uint64_t blind_nap_ns(uint64_t max_ns, uint64_t waited_ns) {
  constexpr uint64_t kLeast = 20000, kPart = 32;
  return std::min(max_ns, std::max(kLeast, waited_ns / kPart));
}

}  // namespace causeway
