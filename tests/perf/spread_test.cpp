// Bounds of medians, and whether two runs are the same.
#include "spread.h"

#include <gtest/gtest.h>

#include "driver/earlier.h"

namespace causeway::bench {
namespace {

// The published ranks: of 6 runs the least and the most, of 25 the 8th, of 101 the 41st. Would
// catch: bounds that hold for less than 95 %, or wider ones than that asks for.
TEST(Spread, RanksOfTheBounds) {
  EXPECT_EQ(outside_of_median(5), 0u);
  EXPECT_EQ(outside_of_median(6), 1u);
  EXPECT_EQ(outside_of_median(8), 1u);
  EXPECT_EQ(outside_of_median(9), 2u);
  EXPECT_EQ(outside_of_median(25), 8u);
  EXPECT_EQ(outside_of_median(101), 41u);
  EXPECT_EQ(outside_of_median(1000), 469u);
}

// Would catch: a rank that is off by one, a mean in place of a median, an outlier that moves it.
TEST(Spread, OrderDecides) {
  std::vector<double> values;
  for (int i = 25; i >= 1; --i) values.push_back(i == 25 ? 1e9 : i);
  const Spread spread = spread_of(values, 13);
  EXPECT_EQ(spread.runs, 25u);
  EXPECT_DOUBLE_EQ(spread.low * 13, 8);
  EXPECT_DOUBLE_EQ(spread.high * 13, 18);
  EXPECT_NEAR(spread.mad * 13, 6, 1e-9);
}

// Would catch: bounds beyond the ends of a short list, bounds of a single run, and bounds that
// leave out the figure that its ratio chose.
TEST(Spread, OfFewRunsAllOfThem) {
  const Spread three = spread_of({2, 4, 3}, 3);
  EXPECT_DOUBLE_EQ(three.low * 3, 2);
  EXPECT_DOUBLE_EQ(three.high * 3, 4);
  EXPECT_EQ(spread_of({7}, 7).runs, 0u);
  EXPECT_DOUBLE_EQ(spread_of({1, 2, 3, 4, 5, 6, 7, 8, 100}, 100).high, 1);
}

Measured with(double ours, double low, double high) {
  return {"put", ours, std::nullopt, "", "", {25, low / ours, high / ours, 0}};
}

// Would catch: a difference within what is known of either median called a change, a change called
// none, and an earlier run without bounds that counts as boundless.
TEST(Same, BoundsThatOverlap) {
  EXPECT_TRUE(is_same(with(10, 9, 12), with(12, 11, 13)));
  EXPECT_FALSE(is_same(with(10, 9, 10.9), with(12, 11, 13)));
  EXPECT_FALSE(is_same(with(12, 11, 13), with(10, 9, 10.9)));
  EXPECT_TRUE(is_same(with(10, 9, 12), {"put", 9.5, std::nullopt, "", ""}));
  EXPECT_FALSE(is_same(with(10, 9, 12), {"put", 8.9, std::nullopt, "", ""}));
}

// Would catch: bounds that do not survive the way from the program to the command.
TEST(Spread, TravelsInTheRecord) {
  const auto got = from_record(to_record(with(10, 9, 12)));
  ASSERT_TRUE(got);
  EXPECT_EQ(got->spread.runs, 25u);
  EXPECT_DOUBLE_EQ(got->spread.low, 0.9);
  EXPECT_DOUBLE_EQ(got->spread.high, 1.2);
  EXPECT_EQ(from_record(to_record({"put", 1, 1, "", ""}))->spread.runs, 0u);
}

}  // namespace
}  // namespace causeway::bench
