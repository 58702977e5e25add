// Time as the supervision loop uses it: seconds of CLOCK_MONOTONIC.
#pragma once

#include <ctime>

namespace causeway::launch {

inline double now_s() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace causeway::launch
