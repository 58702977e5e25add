// Every kind of mistake in a configuration file, with the exact line a person reads. Catches
// messages that lose their position, their suggestion or their neighbors.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>

#include "config_testing.h"

namespace causeway::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

TEST(ConfigErrors, UnknownKeyHasPositionPlaceAndSuggestion) {
  EXPECT_THAT(problems_of("conduits:\n  shm:\n    devcie: x\n"),
              ElementsAre("f:3:5: unknown key 'devcie' in conduits.shm; did you mean 'device'?"));
  EXPECT_THAT(problems_of("timeout: {}\n"),
              ElementsAre("f:1:1: unknown key 'timeout' at the top level; did you mean "
                          "'timeouts'?"));
}

// A plugin's option written one level too high is the commonest slip.
TEST(ConfigErrors, OptionOutsideOfOptionsNamesItsPlace) {
  EXPECT_THAT(problems_of("conduits: {shm: {ring: 4k}}\n"),
              ElementsAre("f:1:18: unknown key 'ring' in conduits.shm; the plugin's own options "
                          "stand in 'conduits.shm.options'"));
}

TEST(ConfigErrors, KeyOfAnotherBlockNamesThatBlock) {
  EXPECT_THAT(problems_of("huge_pages: try\n"),
              ElementsAre("f:1:1: unknown key 'huge_pages' at the top level; did you mean "
                          "'segment.huge_pages'?"));
  EXPECT_THAT(problems_of("plugins: {direct_map: never}\n"),
              ElementsAre("f:1:11: unknown key 'direct_map' in plugins; 'direct_map' stands at the "
                          "top level"));
}

TEST(ConfigErrors, DottedKeyIsToldToNest) {
  EXPECT_THAT(problems_of("timeouts.start: 5s\n"),
              ElementsAre("f:1:1: unknown key 'timeouts.start' at the top level; nest it: "
                          "timeouts: {start: ...}"));
}

TEST(ConfigErrors, UnknownKeyLikeNoOtherListsTheKnownOnes) {
  EXPECT_THAT(problems_of("log:\n  colour: red\n"),
              ElementsAre("f:2:3: unknown key 'colour' in log; known keys: level"));
  EXPECT_THAT(problems_of("waiting: {zzzzz: 1}\n"),
              ElementsAre("f:1:11: unknown key 'zzzzz' in waiting; known keys: spin, yield and "
                          "nap"));
}

TEST(ConfigErrors, Devices) {
  EXPECT_THAT(problems_of("conduits: {net: {device: [a, [b]]}}\n"),
              ElementsAre("f:1:26: conduits.net.device: expected a text, found a list"));
  EXPECT_THAT(problems_of("conduits:\n  net:\n    devices: [{match: {rank: 3}, use: [a]}, {}]\n"),
              ElementsAre("f:3:24: unknown key 'rank' in conduits.net.devices[0].match; did you "
                          "mean 'ranks'?",
                          "f:3:45: conduits.net.devices[1] needs the key 'use'"));
}

TEST(ConfigErrors, WrongTypes) {
  EXPECT_THAT(problems_of("timeouts: {start: soon}\n"),
              ElementsAre("f:1:19: timeouts.start: expected a time such as 50us, 2s or 5min, found "
                          "'soon'"));
  EXPECT_THAT(problems_of("timeouts: {start: 60}\n"),
              ElementsAre("f:1:19: timeouts.start: a time needs a unit, as in 60us, 60ms or 60s"));
  EXPECT_THAT(problems_of("segment:\n  max: much\n"),
              ElementsAre("f:2:8: segment.max: expected a size such as 4096, 64KiB or 2M, found "
                          "'much'"));
  EXPECT_THAT(problems_of("timeouts: [1s]\n"),
              ElementsAre("f:1:11: timeouts: expected a map, found a list"));
  EXPECT_THAT(problems_of("log: warn\n"), ElementsAre("f:1:6: log: expected a map, found 'warn'"));
  EXPECT_THAT(problems_of("plugins: {path: /opt}\n"),
              ElementsAre("f:1:17: plugins.path: expected a list, found '/opt'; write [/opt]"));
  EXPECT_THAT(problems_of("report: [true]\n"),
              ElementsAre("f:1:9: report: expected true or false, found a list"));
  EXPECT_THAT(problems_of("report:\nchecks: full\n"),
              ElementsAre(HasSubstr("report: expected true or false, found nothing")));
  EXPECT_THAT(problems_of("conduits: {shm: {options: {ring: [1, 2]}}}\n"),
              ElementsAre("f:1:34: conduits.shm.options.ring: expected a single value, found a "
                          "list"));
  EXPECT_THAT(problems_of("neighborhood: {ranks: 1.5}\n"),
              ElementsAre("f:1:23: neighborhood.ranks: expected a whole number, found '1.5'"));
}

TEST(ConfigErrors, ValuesOutOfBounds) {
  EXPECT_THAT(problems_of("waiting: {nap: 2s}\n"),
              ElementsAre("f:1:16: waiting.nap must be at most 1s, found '2s'"));
  EXPECT_THAT(problems_of("segment: {max: 1K}\n"),
              ElementsAre("f:1:16: segment.max must be at least 4KiB, found '1K'"));
  EXPECT_THAT(problems_of("neighborhood: {ranks: 0}\n"),
              ElementsAre("f:1:23: neighborhood.ranks must be at least 1, found '0'"));
}

TEST(ConfigErrors, EnumSuggests) {
  EXPECT_THAT(problems_of("direct_map: nevr\n"),
              ElementsAre("f:1:13: direct_map: expected auto or never, found 'nevr'; did you mean "
                          "'never'?"));
}

// What YAML 1.1 readers take for booleans is refused by name, whatever its case.
TEST(ConfigErrors, BooleanWordsOfYaml11AreRefused) {
  for (const std::string word : {"on", "off", "yes", "no", "On", "OFF", "Yes", "NO"}) {
    const std::string note =
        "; on, off, yes and no are not used, because YAML versions disagree about them";
    EXPECT_THAT(problems_of("report: " + word + "\n"),
                ElementsAre("f:1:9: report: expected true or false, found '" + word + "'" + note));
    EXPECT_THAT(problems_of("checks: " + word + "\n"),
                ElementsAre(::testing::AllOf(StartsWith("f:1:9: checks: expected none or full"),
                                             ::testing::EndsWith(note))));
  }
  EXPECT_THAT(problems_of("report: True\n"), ElementsAre(HasSubstr("expected true or false")));
}

TEST(ConfigErrors, UnknownConduits) {
  EXPECT_THAT(problems_of("peers:\n  - use: [self, smh]\n"),
              ElementsAre("f:2:17: unknown conduit 'smh' in peers[0].use; did you mean 'shm'?"));
  EXPECT_THAT(
      problems_of("peers:\n  - use: [self]\n    operations: {put: infiniband}\n"),
      ElementsAre("f:3:23: unknown conduit 'infiniband' in peers[0].operations.put; known "
                  "conduits: self, shm, ucx, ofi and eth; 'conduits: {infiniband: {}}' adds it"));
}

TEST(ConfigErrors, ConduitUsedAfterItsRemovalNamesTheRemoval) {
  EXPECT_THAT(problems_of("conduits:\n  shm: null\n"),
              ElementsAre(MatchesRegex("built-in default:[0-9]+:11: unknown conduit 'shm' in "
                                       "peers.1..use; it was removed by f:2:3")));
}

TEST(ConfigErrors, RemovingWhatIsNotThere) {
  EXPECT_THAT(problems_of("conduits:\n  net: null\n"),
              ElementsAre("f:2:3: nothing to remove: no earlier source has conduits.net"));
}

// `ofi:` with nothing under it could mean "with defaults" or "removed".
TEST(ConfigErrors, ConduitWithNothingUnderItMustSayWhichNothing) {
  EXPECT_THAT(problems_of("conduits:\n  shm:\n  self: {}\n"),
              ElementsAre("f:2:3: conduits.shm has no settings; write shm: {} to leave them all "
                          "at their defaults, shm: null to remove it"));
}

TEST(ConfigErrors, DuplicateKeys) {
  EXPECT_THAT(problems_of("report: true\nchecks: full\nreport: false\n"),
              ElementsAre("f:3:1: duplicate key 'report'; the first is at f:1:1"));
  EXPECT_THAT(problems_of("conduits: {a: {plugin: x}, a: {plugin: y}}\n"),
              ElementsAre("f:1:28: duplicate key 'a'; the first is at f:1:12"));
}

TEST(ConfigErrors, ListsWithTooLittleOrTwice) {
  EXPECT_THAT(problems_of("peers: []\n"), ElementsAre("f:1:8: peers needs at least 1 entry"));
  EXPECT_THAT(problems_of("peers:\n  - use: [shm, shm]\n"),
              ElementsAre("f:2:16: 'shm' stands twice in peers[0].use"));
  EXPECT_THAT(problems_of("peers:\n  - match: {locality: self}\n"),
              ElementsAre("f:2:5: peers[0] needs the key 'use'"));
}

TEST(ConfigErrors, Names) {
  EXPECT_THAT(problems_of("conduits: {my net: {plugin: shm}}\n"),
              ElementsAre("f:1:12: 'my net' is not a name; letters, digits, - and _, a letter "
                          "first"));
}

TEST(ConfigErrors, RankSets) {
  const auto ranks = [](const std::string& text) {
    return problems_of("peers: [{use: [shm], match: {ranks: '" + text + "'}}]\n");
  };
  EXPECT_THAT(ranks("0-3,x"), ElementsAre("f:1:37: peers[0].match.ranks: expected ranks such as "
                                          "0-3,7,12-, found '0-3,x'"));
  EXPECT_THAT(ranks("7-3"), ElementsAre(HasSubstr("the range 7-3 is backwards; write 3-7")));
  EXPECT_THAT(ranks("5000000000"), ElementsAre(HasSubstr("expected ranks")));
  EXPECT_THAT(ranks(""), ElementsAre(HasSubstr("expected ranks")));
  EXPECT_THAT(ranks("1,"), ElementsAre(HasSubstr("expected ranks")));
  EXPECT_THAT(ranks("0-3,7,12-"), IsEmpty());
}

TEST(ConfigErrors, Syntax) {
  EXPECT_THAT(problems_of("conduits: {shm: [}\n"),
              ElementsAre(StartsWith("f:1:18: not valid YAML: ")));
  EXPECT_THAT(
      problems_of("log:\n\tlevel: warn\n"),
      ElementsAre(
          "f:2:7: not valid YAML: illegal map value; line 2 is indented with a tab, use spaces"));
  EXPECT_THAT(problems_of("log: {level: *gone}\n"),
              ElementsAre(::testing::AllOf(StartsWith("f:1:14: not valid YAML: "),
                                           HasSubstr("begins with * must be quoted"))));
}

// The parser closes an open quote at the last line's end: the settings behind it would be lost.
TEST(ConfigErrors, OpenQuote) {
  EXPECT_THAT(problems_of("conduits:\n  eth:\n    device: \"lo\nreport: true\n"),
              ElementsAre(HasSubstr("not valid YAML: illegal EOF in scalar")));
  EXPECT_THAT(problems_of("direct_map: \"never\n\n"), ElementsAre(HasSubstr("illegal EOF")));
  EXPECT_THAT(problems_of("direct_map: \"never\"\n\n"), IsEmpty());
  EXPECT_THAT(problems_of("\xEF\xBB\xBF\n\n"), IsEmpty());
}

// What stands behind such a character must not be dropped without a word.
TEST(ConfigErrors, ControlCharacters) {
  EXPECT_THAT(
      problems_of("report: true\n# \xC3\xA9\x04\nchecks: all\n"),
      ElementsAre("f:2:5: not valid YAML: the control character 0x04; expected UTF-8 text"));
  EXPECT_THAT(problems_of(std::string("report: true\n\0bad", 17)),
              ElementsAre(StartsWith("f:2:1: not valid YAML: the control character 0x00")));
}

TEST(ConfigErrors, Documents) {
  EXPECT_THAT(problems_of("- a\n- b\n"),
              ElementsAre("f:1:1: expected a map of settings, found a list"));
  EXPECT_THAT(problems_of("hello\n"),
              ElementsAre("f:1:1: expected a map of settings, found 'hello'"));
  EXPECT_THAT(problems_of("report:true\n"),
              ElementsAre("f:1:1: expected a map of settings, found 'report:true'; a space is "
                          "missing behind ':'"));
  EXPECT_THAT(problems_of("report: true\n---\nreport: false\n"),
              ElementsAre(HasSubstr("one file is one document")));
  EXPECT_THAT(problems_of("report: !!bool true\n"), ElementsAre(HasSubstr("has no meaning here")));
  EXPECT_THAT(problems_of("? [a, b]\n: 1\n"), ElementsAre(HasSubstr("expected a key")));
  EXPECT_THAT(problems_of("x: &a {report: true}\n<<: *a\n"),
              ::testing::Contains(HasSubstr("merge keys are not supported")));
}

// A few lines of aliases that would grow to gigabytes must be refused, not expanded.
TEST(ConfigErrors, AliasesDoNotExplode) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 20; ++i) {
    const std::string alias = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + alias + ", " + alias +
            ", " + alias + ", " + alias + "]\n";
  }
  EXPECT_THAT(problems_of(text), ElementsAre(HasSubstr("aliases make this document too large")));
}

// The same for few nodes of much text, which aliases repeat, or the copies that nested anchors
// keep.
TEST(ConfigErrors, BytesOfAliases) {
  std::string text = "log: {level: &a '" + std::string(20000, 'x') + "'}\npeers: [";
  for (int i = 0; i < 10000; ++i) text += "*a,";
  EXPECT_THAT(problems_of(text + "]\n"),
              ElementsAre(HasSubstr("aliases make this document too large")));
  std::string nested;
  for (int i = 0; i < 100; ++i) nested += "&a" + std::to_string(i) + " [";
  nested += std::string(100000, 'x') + std::string(100, ']');
  EXPECT_THAT(problems_of("peers: " + nested + "\n"),
              ElementsAre(HasSubstr("aliases make this document too large")));
}

// Nesting without end must exhaust neither the stack nor the patience.
TEST(ConfigErrors, DeepNesting) {
  std::string indented = "a:\n";
  for (size_t i = 1; i < 600; ++i) indented += std::string(i, ' ') + "a:\n";
  EXPECT_THAT(problems_of(indented), ElementsAre(HasSubstr("nested too deeply")));
  const auto start = std::chrono::steady_clock::now();
  for (const std::string unit :
       {"[", "{", "- ", "? ", "{a: ", "[{", "&a [", "-\n", "'", "\"", "!"}) {
    std::string text;
    while (text.size() < 100000) text += unit;
    EXPECT_FALSE(problems_of(text).empty()) << unit;
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

TEST(ConfigErrors, AliasWithinItsOwnValue) {
  EXPECT_THAT(problems_of("log: &a {level: *a}\n"),
              ElementsAre("f:1:17: this alias stands inside the value it names"));
}

TEST(ConfigErrors, Files) {
  Directory files;
  ConfigSources sources = only_sets({});
  const auto problem = [&](const std::string& path) {
    sources.files = {path};
    return check_config(sources).problems.text(20);
  };
  const std::string missing = files.path() + "/missing.yaml";
  EXPECT_EQ(problem(missing),
            missing + ": cannot read the configuration file: No such file or directory");
  EXPECT_THAT(problem(files.path()), HasSubstr("not a regular file"));
  // Without a writer, opening a pipe would wait for ever.
  const std::string pipe = files.write("pipe", "");
  ::unlink(pipe.c_str());
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(problem(pipe), HasSubstr("not a regular file"));
  EXPECT_THAT(problem(files.write("large", std::string(300000, '#'))), HasSubstr("larger than"));
}

// All problems of all sources come in one go, in the order of the sources and of their lines.
TEST(ConfigErrors, AllAtOnceInOrder) {
  EXPECT_THAT(problems_of("peers:\n"
                          "  - use: [nic]\n"
                          "checks: al\n"
                          "repot: true\n",
                          {"log.level=loud", "nonsense"}),
              ElementsAre(StartsWith("f:2:11: unknown conduit 'nic'"),
                          StartsWith("f:3:9: checks: expected none or full"),
                          StartsWith("f:4:1: unknown key 'repot'"),
                          StartsWith("CAUSEWAY_SET: log.level=loud: log.level: expected error"),
                          StartsWith("CAUSEWAY_SET: nonsense: expected path=value")));
}

// With a source unreadable, names it might define are not called unknown.
TEST(ConfigErrors, UnreadableSourceDoesNotCauseFollowingErrors) {
  EXPECT_THAT(problems_of("conduits: {ofi: {}\n", {"peers=[{use: [ofi]}]"}),
              ElementsAre(HasSubstr("not valid YAML")));
}

TEST(ConfigErrors, AtMostTwentyLines) {
  Directory files;
  ConfigSources sources = only_sets({});
  std::string text;
  for (int i = 0; i < 25; ++i) text += "zzzz" + std::to_string(i) + ": 1\n";
  sources.files = {files.write("f", text)};
  try {
    load_config(sources);
    FAIL() << "25 unknown keys were accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), CWY_ERR_INVALID);
    EXPECT_EQ(std::count(e.text().begin(), e.text().end(), '\n'), 20);
    EXPECT_THAT(e.text(), ::testing::EndsWith("\n... and 5 more"));
  }
}

}  // namespace
}  // namespace causeway::testing
