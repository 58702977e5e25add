// The catalogue, the judging of figures, and the records between program and command.
#include "figures.h"

#include <gtest/gtest.h>

#include <set>

namespace causeway::bench {
namespace {

// Would catch: two figures of one name, of which the table could only find the first.
TEST(Figures, NamesAreUnique) {
  std::set<std::string> names;
  for (const Figure& figure : catalogue()) EXPECT_TRUE(names.insert(figure.name).second);
}

// Would catch: a ratio target that forgets the absolute allowance, or grants it where the
// difference is large.
TEST(Judge, RatioOrDifference) {
  const Figure& put = *find_figure("put8.same");
  EXPECT_EQ(judge(put, {"put8.same", 1.15, 1.0, "direct", ""}, false), true);
  EXPECT_EQ(judge(put, {"put8.same", 0.75, 0.3, "direct", ""}, false), true);
  EXPECT_EQ(judge(put, {"put8.same", 5.8, 5.0, "direct", ""}, false), false);
}

// Would catch: a verdict on a path the target does not speak of, or with ranks that take turns.
TEST(Judge, NoVerdictWhereTheTargetDoesNotSpeak) {
  EXPECT_EQ(judge(*find_figure("put8.same"), {"", 900, 1.0, "library", ""}, false), std::nullopt);
  EXPECT_EQ(judge(*find_figure("am.short"), {"", 900, 1.0, "", ""}, true), std::nullopt);
  EXPECT_EQ(judge(*find_figure("barrier"), {"", 900, 1.0, "", ""}, false), std::nullopt);
}

// Would catch: a rate judged as if less were better.
TEST(Judge, RatesAndLimits) {
  EXPECT_EQ(judge(*find_figure("am.flood"), {"", 24.9, 90.0, "", ""}, false), false);
  EXPECT_EQ(judge(*find_figure("am.flood"), {"", 25.0, std::nullopt, "", ""}, false), true);
  EXPECT_EQ(judge(*find_figure("startup.4"), {"", 60.1, std::nullopt, "", ""}, false), false);
}

// Would catch: a record that loses precision, an absent raw figure, or characters that need
// quoting.
TEST(Record, ComesBackAsItWas) {
  const Measured sent{"put8.same", 0.123456789, std::nullopt, "direct", "a \"b\" \\ c\nd"};
  const auto got = from_record(to_record(sent));
  ASSERT_TRUE(got);
  EXPECT_EQ(got->name, sent.name);
  EXPECT_DOUBLE_EQ(got->ours, sent.ours);
  EXPECT_EQ(got->raw, std::nullopt);
  EXPECT_EQ(got->path, sent.path);
  EXPECT_EQ(got->note, sent.note);
  EXPECT_EQ(from_record(to_record({"x", 1, 2.5, "", ""}))->raw, 2.5);
}

// Would catch: a rank's stray output taken for a record, or an exception out of a torn one.
TEST(Record, OtherLinesAreNotRecords) {
  EXPECT_EQ(from_record("hello"), std::nullopt);
  EXPECT_EQ(from_record(R"({"figure": "put8.same", "ours)"), std::nullopt);
  EXPECT_EQ(from_record(R"({"figure": "put8.same"})"), std::nullopt);
}

}  // namespace
}  // namespace causeway::bench
