// Timers and sleeping.
#include <gasnet_tools.h>
#include <time.h>

#include <algorithm>

#include "api/export.h"

namespace {

constexpr uint64_t kSecond = 1000000000ull;

uint64_t read_clock(clockid_t clock) {
  timespec t{};
  ::clock_gettime(clock, &t);
  return static_cast<uint64_t>(t.tv_sec) * kSecond + static_cast<uint64_t>(t.tv_nsec);
}

// Smallest step seen, and what a reading costs, over some thousand readings.
struct ClockQuality {
  double granularity_us, overhead_us;
};
const ClockQuality& quality() {
  static const ClockQuality value = [] {
    constexpr int kReadings = 2000;
    uint64_t least = kSecond;
    const uint64_t start = gasnett_ticks_now();
    for (uint64_t before = start, i = 0; i < kReadings; ++i) {
      const uint64_t now = gasnett_ticks_now();
      if (now != before) least = std::min(least, now - before);
      before = now;
    }
    const uint64_t total = gasnett_ticks_now() - start;
    return ClockQuality{static_cast<double>(least) / 1000.0,
                        static_cast<double>(total) / 1000.0 / kReadings};
  }();
  return value;
}

}  // namespace

CAUSEWAY_API gasnett_tick_t gasnett_ticks_now(void) {
  return read_clock(CLOCK_MONOTONIC);
}
CAUSEWAY_API double gasnett_tick_granularityus(void) {
  return quality().granularity_us;
}
CAUSEWAY_API double gasnett_tick_overheadus(void) {
  return quality().overhead_us;
}
CAUSEWAY_API uint64_t gasnett_gettimeofday_us(void) {
  return read_clock(CLOCK_REALTIME) / 1000;
}
CAUSEWAY_API int gasnett_nsleep(uint64_t ns) {
  if (ns == 0) return 0;
  const timespec wish{static_cast<time_t>(ns / kSecond), static_cast<long>(ns % kSecond)};
  return ::nanosleep(&wish, nullptr);
}
