// Waiting for all of many (plugins/conduit/fabric/all_done.h).
#include <gtest/gtest.h>

#include <vector>

#include "../../plugins/conduit/fabric/all_done.h"

namespace causeway::fabric {
namespace {

// Catches: a wait whose every question looks at all that was done before, which is the square of
// their number.
TEST(AllDone, LooksAtEachItemAFewTimesOnly) {
  std::vector<bool> items(1000, false);
  size_t looks = 0;
  auto finished = all_done(items, [&looks](bool done) {
    ++looks;
    return done;
  });
  for (size_t i = 0; i < items.size(); ++i) {
    EXPECT_FALSE(finished());
    items[i] = true;
  }
  EXPECT_TRUE(finished());
  EXPECT_LE(looks, 4 * items.size());
}

// Catches: a wait that ends though an item that was done has begun anew, or another one has come.
TEST(AllDone, NoticesItemsThatBeganAnewOrCame) {
  std::vector<bool> items = {true, true, false};
  auto finished = all_done(items, [](bool done) { return done; });
  EXPECT_FALSE(finished());
  items[0] = false;
  items[2] = true;
  EXPECT_FALSE(finished());
  items[0] = true;
  items.push_back(false);
  EXPECT_FALSE(finished());
  items[3] = true;
  EXPECT_TRUE(finished());
}

// Catches: a wait for nothing that does not end.
TEST(AllDone, IsTrueOfNothing) {
  const std::vector<bool> items;
  EXPECT_TRUE(all_done(items, [](bool) { return false; })());
}

}  // namespace
}  // namespace causeway::fabric
