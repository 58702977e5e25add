// What several launches say together. Would catch: the best launch reported for the typical one, a
// pair of times that no launch had, rows of different figures mixed, a range that is not told.
#include "driver/launches.h"

#include <gtest/gtest.h>

namespace causeway::bench {
namespace {

TEST(MiddleLaunches, TheRatioDecidesAndTheRangeIsTold) {
  const auto middle = middle_launches({{"put", 300, 200, "ofi/shm", "9 GB/s"},
                                       {"put", 100, 100, "ofi/shm", "8 GB/s"},
                                       {"put", 240, 200, "ofi/shm", "7 GB/s"}});
  ASSERT_EQ(middle.size(), 1u);
  EXPECT_EQ(middle[0].ours, 240);
  EXPECT_EQ(middle[0].raw, 200);
  EXPECT_EQ(middle[0].path, "ofi/shm");
  EXPECT_EQ(middle[0].note, "7 GB/s; 1.00 to 1.50 in 3 launches");
}

TEST(MiddleLaunches, OfAnEvenNumberTheSlowerOne) {
  const auto middle = middle_launches({{"put", 1, 1, "", ""}, {"put", 2, 1, "", ""}});
  ASSERT_EQ(middle.size(), 1u);
  EXPECT_EQ(middle[0].ours, 2);
}

TEST(MiddleLaunches, EachFigureHasItsOwn) {
  const auto middle = middle_launches(
      {{"put", 1, 1, "", ""}, {"get", 5, std::nullopt, "", ""}, {"put", 3, 1, "", ""}});
  ASSERT_EQ(middle.size(), 2u);
  EXPECT_EQ(middle[0].name, "put");
  EXPECT_EQ(middle[1].name, "get");
  EXPECT_EQ(middle[1].ours, 5);
  EXPECT_EQ(middle[1].note, "");
}

}  // namespace
}  // namespace causeway::bench
