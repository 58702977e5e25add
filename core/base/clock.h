// The one clock of waits and time limits: nanoseconds of CLOCK_MONOTONIC.
#pragma once

#include <time.h>

#include <cstdint>

namespace causeway {

inline uint64_t now_ns() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

}  // namespace causeway
