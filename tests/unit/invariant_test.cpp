// Invariants of the library, as core/diag checks them.
#include "base/invariant.h"

#include <gtest/gtest.h>

namespace causeway {
namespace {

// Catches an invariant that is broken in silence, or by a message that names neither it nor the
// place.
TEST(Invariant, ABrokenOneIsNamedWithItsPlace) {
  if (!kChecksInvariants) GTEST_SKIP() << "this build does not look at invariants";
  EXPECT_DEATH(
      ensure("two and two are five", [] { return 2 + 2 == 5; }),
      "error: .*tests/unit/invariant_test.cpp:[0-9]+: this does not hold: two and two are five");
}

// Catches a build for use that pays for looking.
TEST(Invariant, IsLookedAtWhereItIsChecked) {
  bool looked = false;
  ensure("what holds is no matter", [&] { return looked = true; });
  EXPECT_EQ(looked, kChecksInvariants);
}

}  // namespace
}  // namespace causeway
