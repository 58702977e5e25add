// Time as the launcher's loops use it: seconds of CLOCK_MONOTONIC.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/clock.h"

namespace causeway::launch {

inline constexpr double kNever = std::numeric_limits<double>::infinity();

inline double now_s() {
  return 1e-9 * static_cast<double>(now_ns());
}

// From now to `deadline`, as poll(2) and epoll_wait(2) take it. Rounded up, so that a deadline has
// passed when the call returns for it.
inline int ms_until(double deadline) {
  if (std::isinf(deadline)) return -1;
  return static_cast<int>(std::clamp(deadline - now_s(), 0.0, 1e5) * 1e3) + 1;
}

}  // namespace causeway::launch
