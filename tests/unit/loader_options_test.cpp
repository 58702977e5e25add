// Options: the schema a manifest declares, values checked against it, and what plugins see.
#include <climits>

#include "loader_support.h"

namespace causeway::loader_test {
namespace {

class OptionsTest : public testing::Test {
 protected:
  std::shared_ptr<const OptionValues> make(const std::map<std::string, std::string>& values) {
    std::map<std::string, Origin> origins;
    for (const auto& [key, text] : values) origins[key] = Origin{"site.yaml", 12, 7};
    return make_options(manifest_, values, origins);
  }
  std::string complaint(const std::string& key, const std::string& text) {
    try {
      make({{key, text}});
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), CWY_ERR_INVALID);
      EXPECT_EQ(error.text().find('\n'), std::string::npos);
      return error.text();
    }
    return "accepted";
  }
  Manifest manifest_ = read_manifest(plugin_file("options"));
};

// Would catch: a lost schema entry, or a default not given to the plugin.
TEST_F(OptionsTest, DefaultsAreFilledIn) {
  ASSERT_EQ(manifest_.options.size(), 7u);
  const auto options = make({});
  const cwy_options* opts = as_c(options.get());
  const cwy_services* core = services();
  const char* text = nullptr;
  ASSERT_EQ(core->opt_string(opts, "label", &text), CWY_OK);
  EXPECT_STREQ(text, "none");
  int64_t depth = 0;
  ASSERT_EQ(core->opt_int(opts, "depth", &depth), CWY_OK);
  EXPECT_EQ(depth, 4);
  int32_t quick = 0;
  ASSERT_EQ(core->opt_bool(opts, "quick", &quick), CWY_OK);
  EXPECT_EQ(quick, 1);
  uint64_t ring = 0, pause = 0;
  ASSERT_EQ(core->opt_size(opts, "ring", &ring), CWY_OK);
  EXPECT_EQ(ring, 64u << 10);
  ASSERT_EQ(core->opt_time(opts, "pause", &pause), CWY_OK);
  EXPECT_EQ(pause, 50000u);
  ASSERT_EQ(core->opt_string(opts, "mode", &text), CWY_OK);
  EXPECT_STREQ(text, "lazy");
  int64_t bare = -1;
  ASSERT_EQ(core->opt_int(opts, "bare", &bare), CWY_OK);
  EXPECT_EQ(bare, 0);  // no default in the manifest: the type's zero
}

// Would catch: configured values dropped, and units misread.
TEST_F(OptionsTest, ValuesReplaceDefaults) {
  const auto options = make(
      {{"ring", "1M"}, {"pause", "2ms"}, {"mode", "eager"}, {"depth", "-1"}, {"quick", "false"}});
  const cwy_options* opts = as_c(options.get());
  uint64_t number = 0;
  EXPECT_EQ(services()->opt_size(opts, "ring", &number), CWY_OK);
  EXPECT_EQ(number, 1u << 20);
  EXPECT_EQ(services()->opt_time(opts, "pause", &number), CWY_OK);
  EXPECT_EQ(number, 2000000u);
  int64_t depth = 0;
  EXPECT_EQ(services()->opt_int(opts, "depth", &depth), CWY_OK);
  EXPECT_EQ(depth, -1);
  int32_t quick = 1;
  EXPECT_EQ(services()->opt_bool(opts, "quick", &quick), CWY_OK);
  EXPECT_EQ(quick, 0);
}

// Would catch: a key or type error answered by changing `out`, or by a crash.
TEST_F(OptionsTest, WrongQuestionsAreInvalidAndLeaveOutAlone) {
  const auto options = make({});
  const cwy_options* opts = as_c(options.get());
  int64_t number = 77;
  EXPECT_EQ(services()->opt_int(opts, "nothing", &number), CWY_ERR_INVALID);
  EXPECT_EQ(services()->opt_int(opts, "ring", &number), CWY_ERR_INVALID);
  EXPECT_EQ(services()->opt_int(nullptr, "depth", &number), CWY_ERR_INVALID);
  EXPECT_EQ(services()->opt_int(opts, nullptr, &number), CWY_ERR_INVALID);
  EXPECT_EQ(number, 77);
  EXPECT_EQ(services()->opt_int(opts, "depth", nullptr), CWY_ERR_INVALID);
}

// Would catch: an error that does not say where the value was written, or what would be right.
TEST_F(OptionsTest, BadValuesNameOriginOptionAndExpectation) {
  EXPECT_EQ(complaint("ring", "huge"),
            "site.yaml:12:7: option 'ring' of conduit 'options': expected a size such as 4096, "
            "64KiB or 2M, found 'huge'");
  EXPECT_EQ(complaint("ring", "1k"),
            "site.yaml:12:7: option 'ring' of conduit 'options': '1k' is below the minimum, 4KiB");
  EXPECT_EQ(complaint("depth", "101"),
            "site.yaml:12:7: option 'depth' of conduit 'options': '101' is above the maximum, 100");
  EXPECT_NE(complaint("depth", "4x").find("expected a whole number"), std::string::npos);
  EXPECT_NE(complaint("depth", "99999999999999999999").find("is too large"), std::string::npos);
  EXPECT_NE(complaint("depth", "").find("expected a whole number"), std::string::npos);
  EXPECT_NE(complaint("quick", "yes").find("expected true or false, found 'yes'"),
            std::string::npos);
  EXPECT_NE(complaint("pause", "5").find("a time needs a unit"), std::string::npos);
  EXPECT_NE(
      complaint("mode", "eagre").find("not one of eager, lazy, off_line; did you mean 'eager'"),
      std::string::npos)
      << complaint("mode", "eagre");
}

// Would catch: a mistyped key silently ignored.
TEST_F(OptionsTest, UnknownKeysGetASuggestion) {
  EXPECT_EQ(complaint("rings", "4096"),
            "site.yaml:12:7: conduit 'options' has no option 'rings'; did you mean 'ring'?");
  EXPECT_NE(complaint("zzzzzzzzzz", "1").find("has no option 'zzzzzzzzzz'; it has "),
            std::string::npos);
}

// Would catch: terminal escapes or newlines of a configuration file passed on to people.
TEST_F(OptionsTest, HostileTextStaysOnOneLine) {
  const std::string text = complaint("ring", "\x1b[31mred\nline");
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace causeway::loader_test
