// Layers: several files, and files that include others.
#include <gmock/gmock.h>

#include <filesystem>

#include "config_testing.h"

namespace causeway::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The problems with the directory's name left out.
std::vector<std::string> problems_in(const Directory& files, std::vector<std::string> names) {
  ConfigSources sources = only_sets({});
  for (std::string& name : names) sources.files.push_back(files.path() + "/" + name);
  const CheckedConfig checked = check_config(sources);
  EXPECT_EQ(checked.problems.empty(), checked.config.has_value());
  std::vector<std::string> out;
  const std::string place = files.path() + "/";
  for (const Problem& problem : checked.problems.list()) {
    out.push_back(problem.str());
    for (size_t at; (at = out.back().find(place)) != std::string::npos;)
      out.back().erase(at, place.size());
  }
  return out;
}

// Would catch: a later file that replaces the whole of an earlier one, or is passed over, and a
// value whose origin is another layer's.
TEST(ConfigInclude, LaterFilesAreOverEarlierOnes) {
  Directory files;
  ConfigSources sources = only_sets({});
  sources.files = {files.write("a", "report: true\nlog: {level: info}\nplugins: {path: [/a]}\n"),
                   files.write("b", "\nlog: {level: debug}\nplugins: {path: [/b]}\n")};
  const Config config = load_config(sources);
  EXPECT_TRUE(config.report);
  EXPECT_EQ(config.log_level, "debug");
  EXPECT_THAT(config.plugin_path, ElementsAre("/b"));
  EXPECT_EQ(config.origins.at("report").str(), sources.files[0] + ":1:9");
  EXPECT_EQ(config.origins.at("log.level").str(), sources.files[1] + ":2:14");
}

// Would catch: an included file that wins over the one that includes it, the first of a list over
// the second, names that are looked for in the current directory, an `include` that is left in the
// document, and a removal that does not see what was included.
TEST(ConfigInclude, TheIncludingFileWins) {
  Directory files;
  std::filesystem::create_directory(files.path() + "/sub");
  files.write("sub/deep", "conduits: {net: {plugin: ofi}}\ntimeouts: {peer: 9s}\n");
  files.write("sub/first", "include: deep\nreport: true\nlog: {level: error}\n");
  const std::string second = files.write("second", "log: {level: info}\nchecks: full\n");
  ConfigSources sources = only_sets({});
  sources.files = {files.write(
      "top", "checks: none\ninclude: [sub/first, '" + second + "']\nconduits: {net: null}\n")};
  const Config config = load_config(sources);
  EXPECT_EQ(find_conduit(config, "net"), nullptr);
  EXPECT_EQ(config.timeouts.peer_ns, 9000000000u);
  EXPECT_TRUE(config.report);
  EXPECT_EQ(config.log_level, "info");
  EXPECT_EQ(config.checks, Checks::none);
  EXPECT_EQ(config.origins.at("timeouts.peer").str(), files.path() + "/sub/deep:2:18");
  EXPECT_EQ(config.origins.at("checks").str(), files.path() + "/top:1:9");
  EXPECT_EQ(config.text.find("include"), std::string::npos);
  // A site's file may include, too, and nothing is what an empty one includes.
  sources.site_file = files.path() + "/sub/first";
  sources.files = {files.write("empty", "include:\n")};
  EXPECT_TRUE(load_config(sources).report);
  std::filesystem::remove_all(files.path() + "/sub");
}

// Would catch: a circle that is followed for ever, also through a link, or whose line does not say
// how it closes.
TEST(ConfigInclude, CirclesAreRefused) {
  Directory files;
  files.write("a", "log: {level: info}\ninclude: b\n");
  files.write("b", "include: [c]\n");
  files.write("c", "include: link\n");
  files.write("link", "");
  std::filesystem::remove(files.path() + "/link");
  std::filesystem::create_symlink("a", files.path() + "/link");
  EXPECT_THAT(problems_in(files, {"a"}),
              ElementsAre("c:1:10: include: 'link' includes itself (a > b > c > link)"));
  files.write("self", "include: self\n");
  EXPECT_THAT(problems_in(files, {"self"}),
              ElementsAre("self:1:10: include: 'self' includes itself (self > self)"));
  // Twice is no circle.
  files.write("leaf", "report: true\n");
  files.write("twice", "include: [leaf, leaf]\n");
  EXPECT_THAT(problems_in(files, {"twice", "twice"}), ElementsAre());
}

// Would catch: includes without an end, in depth or in number.
TEST(ConfigInclude, DepthAndNumberHaveLimits) {
  Directory files;
  for (int i = 0; i < 20; ++i) {
    const std::string next = "n" + std::to_string(i + 1);
    files.write("n" + std::to_string(i), "include: " + next + "\n");
    files.write("w" + std::to_string(i),
                "include: [w" + std::to_string(i + 1) + ", w" + std::to_string(i + 1) + "]\n");
  }
  files.write("n20", "");
  const std::vector<std::string> deep = problems_in(files, {"n0"});
  EXPECT_THAT(deep, ElementsAre(HasSubstr("n15:1:10: include: more than 16 files deep (n0 > n1 ")));
  EXPECT_THAT(problems_in(files, {"n5"}), ElementsAre());
  files.write("w12", "report: true\n");
  EXPECT_THAT(problems_in(files, {"w0"}),
              ::testing::Contains(HasSubstr("more than 256 files are included")));
  EXPECT_LT(problems_in(files, {"w0"}).size(), 20u);
}

// Would catch: a file that is missing and passed over, or told of without who names it; a pipe,
// which could keep a job from starting; a mistake within that is told at the wrong place, or twice.
TEST(ConfigInclude, WhatIsWrongIsToldWhereItStands) {
  Directory files;
  files.write("missing", "report: true\ninclude: [nowhere.yaml]\npeers: [{use: [unknown]}]\n");
  EXPECT_THAT(problems_in(files, {"missing"}),
              ElementsAre("missing:2:11: include: cannot read 'nowhere.yaml': No such file or "
                          "directory (missing > nowhere.yaml)"));
  files.write("directory", "include: .\n");
  EXPECT_THAT(problems_in(files, {"directory"}), ElementsAre(HasSubstr("not a regular file")));
  files.write("typo", "\nrepot: true\n");
  files.write("top", "include: [typo, typo]\nchecks: al\n");
  EXPECT_THAT(problems_in(files, {"top"}),
              ElementsAre(HasSubstr("typo:2:1: unknown key 'repot'"),
                          HasSubstr("top:2:9: checks: expected none or full")));
  for (const std::string value : {"{a: b}", "~", "[[x]]", "''", "[~]"}) {
    files.write("kind", "include: " + value + "\n");
    EXPECT_THAT(problems_in(files, {"kind"}),
                ElementsAre(HasSubstr("include: expected the name of a file, or a list of them")))
        << value;
  }
  // Only a file includes.
  EXPECT_THAT(
      check_config(only_sets({"include=typo"})).problems.text(20),
      HasSubstr("CAUSEWAY_SET: include=typo: unknown key 'include' at the top level; a file "
                "may have it, at its top level"));
  files.write("slip", "includes: x\n");
  EXPECT_THAT(problems_in(files, {"slip"}), ElementsAre(HasSubstr("did you mean 'include'?")));
}

}  // namespace
}  // namespace causeway::testing
