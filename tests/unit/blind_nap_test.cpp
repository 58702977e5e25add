// How long a wait sleeps where nothing wakes it. Would catch: naps that grow faster than the wait
// (transfers of a millisecond ended 100 us late), naps without end to their shortness (a rank that
// waits for seconds takes a processor with it), naps above the configured bound.
#include "progress/blind_nap.h"

#include <gtest/gtest.h>

namespace causeway {
namespace {

constexpr uint64_t kUs = 1000, kMs = 1000 * kUs;

TEST(BlindNap, IsShortAgainstTheWait) {
  for (uint64_t waited = 500 * kUs; waited < 1000 * kMs; waited += waited / 7) {
    EXPECT_LE(blind_nap_ns(1000 * kMs, waited), std::max(20 * kUs, waited / 20)) << waited;
  }
}

TEST(BlindNap, StaysBelowTheConfiguredBound) {
  EXPECT_EQ(blind_nap_ns(1 * kMs, 1000 * kMs), 1 * kMs);
  EXPECT_EQ(blind_nap_ns(1 * kMs, UINT64_MAX), 1 * kMs);
  EXPECT_EQ(blind_nap_ns(10 * kUs, 0), 10 * kUs);
}

TEST(BlindNap, LongWaitsTakeFewOfThem) {
  unsigned naps = 0;
  for (uint64_t waited = 0; waited < 1000 * kMs; ++naps) waited += blind_nap_ns(10 * kMs, waited);
  EXPECT_LT(naps, 400u);
}

}  // namespace
}  // namespace causeway
