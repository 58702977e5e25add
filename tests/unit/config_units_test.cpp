// Sizes, times, booleans, suggestions and rank sets, which the loader's option checks share.
#include "config/units.h"

#include <gmock/gmock.h>

#include "config/rank_set.h"
#include "config_testing.h"

namespace causeway::testing {
namespace {

using ::testing::HasSubstr;

template <typename Function>
std::string error_of(Function function, const std::string& text) {
  try {
    function(text);
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), CWY_ERR_INVALID);
    return e.text();
  }
  return "";
}

TEST(ConfigUnits, Sizes) {
  EXPECT_EQ(parse_size("0"), 0u);
  EXPECT_EQ(parse_size("4096"), 4096u);
  EXPECT_EQ(parse_size("64KiB"), 65536u);
  EXPECT_EQ(parse_size("64 KiB"), 65536u);
  EXPECT_EQ(parse_size("2M"), 2u << 20);
  EXPECT_EQ(parse_size("2m"), 2u << 20);
  EXPECT_EQ(parse_size("4k"), 4096u);
  EXPECT_EQ(parse_size("1KB"), 1000u);
  EXPECT_EQ(parse_size("3MB"), 3000000u);
  EXPECT_EQ(parse_size("1.5GiB"), 1536ull << 20);
  EXPECT_EQ(parse_size("7B"), 7u);
  EXPECT_EQ(parse_size("18446744073709551615"), UINT64_MAX);
}

// Whatever is no size is refused with its text, above all what would wrap around.
TEST(ConfigUnits, BadSizes) {
  for (const std::string text :
       {"", " ", "K", "-1", "+1", "1.5", "0.0001K", "1..5K", ".5K", "5.K", "1  K", "1KiBB", "0x10",
        "18446744073709551616", "16777216T", "99999999999999999999999", "1e3", "1K ", "nan"}) {
    EXPECT_THAT(error_of(parse_size, text), HasSubstr("'" + text + "'")) << text;
  }
  EXPECT_EQ(error_of(parse_size, "16777216T"), "'16777216T' is too large");
}

TEST(ConfigUnits, Times) {
  EXPECT_EQ(parse_time_ns("0"), 0u);
  EXPECT_EQ(parse_time_ns("7ns"), 7u);
  EXPECT_EQ(parse_time_ns("50us"), 50000u);
  EXPECT_EQ(parse_time_ns("1.5ms"), 1500000u);
  EXPECT_EQ(parse_time_ns("2s"), 2000000000u);
  EXPECT_EQ(parse_time_ns("2 min"), 120000000000u);
  EXPECT_EQ(parse_time_ns("1h"), 3600000000000u);
}

TEST(ConfigUnits, BadTimes) {
  EXPECT_EQ(error_of(parse_time_ns, "60"), "a time needs a unit, as in 60us, 60ms or 60s");
  for (const std::string text : {"", "s", "-1s", "1S", "1Ms", "0.5ns", "1d", "99999999999h"}) {
    EXPECT_NE(error_of(parse_time_ns, text), "") << text;
  }
  EXPECT_EQ(error_of(parse_time_ns, "99999999999h"), "'99999999999h' is too large");
}

TEST(ConfigUnits, CanonicalSpellingReadsBack) {
  for (const uint64_t value : {uint64_t{0}, uint64_t{1}, uint64_t{1023}, uint64_t{1024},
                               uint64_t{1536}, uint64_t{1} << 20, uint64_t{3} << 40, UINT64_MAX}) {
    EXPECT_EQ(parse_size(format_size(value)), value);
    EXPECT_EQ(parse_time_ns(format_time(value)), value);
  }
  EXPECT_EQ(format_size(65536), "64KiB");
  EXPECT_EQ(format_time(1000000), "1ms");
  EXPECT_EQ(format_time(1500000), "1500us");
}

TEST(ConfigUnits, Booleans) {
  EXPECT_TRUE(parse_bool("true"));
  EXPECT_FALSE(parse_bool("false"));
  for (const std::string text : {"", "True", "yes", "on", "1", "0", "true "}) {
    EXPECT_EQ(error_of(parse_bool, text), "expected true or false, found '" + text + "'");
  }
}

TEST(ConfigUnits, Suggestions) {
  const std::vector<std::string> words{"device", "options", "native", "plugin"};
  EXPECT_EQ(did_you_mean("devcie", words), "device");   // swap
  EXPECT_EQ(did_you_mean("devise", words), "device");   // substitution
  EXPECT_EQ(did_you_mean("option", words), "options");  // missing
  EXPECT_EQ(did_you_mean("nnative", words), "native");  // doubled
  EXPECT_EQ(did_you_mean("PLUGIN", words), "plugin");
  EXPECT_EQ(did_you_mean("opt", words), "options");
  EXPECT_EQ(did_you_mean("ring", words), std::nullopt);
  EXPECT_EQ(did_you_mean("", words), std::nullopt);
  EXPECT_EQ(did_you_mean("x", words), std::nullopt);
  EXPECT_EQ(did_you_mean(std::string(1000000, 'a'), words), std::nullopt);
  EXPECT_EQ(did_you_mean("huge-pages", {"huge_pages"}), "huge_pages");
  EXPECT_EQ(did_you_mean("a", {}), std::nullopt);
  EXPECT_EQ(did_you_mean("a", {"b"}), std::nullopt);
}

TEST(ConfigUnits, RankSets) {
  const RankSet set = RankSet::parse("7,0-3,2-5");
  EXPECT_EQ(set.str(), "0-5,7");
  EXPECT_TRUE(set.contains(0) && set.contains(5) && set.contains(7));
  EXPECT_FALSE(set.contains(6) || set.contains(8));
  EXPECT_TRUE(RankSet::parse("").covers(RankSet::parse("4294967295")));
  EXPECT_TRUE(RankSet::parse("0-").covers(RankSet::parse("")));
  EXPECT_TRUE(RankSet::parse("0-3,4-7").covers(RankSet::parse("2-6")));
  EXPECT_FALSE(RankSet::parse("0-3,5-7").covers(RankSet::parse("2-6")));
  EXPECT_FALSE(RankSet::parse("0-3").intersects(RankSet::parse("4-")));
  EXPECT_EQ(RankSet::parse("4294967295,5-").str(), "5-");
  EXPECT_EQ(RankSet::of({4, 1, 2, 7, 3}).str(), "1-4,7");
}

}  // namespace
}  // namespace causeway::testing
