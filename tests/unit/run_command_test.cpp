// The command line of `causeway run`: every option in every form, and the program behind it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "run_options.h"

namespace causeway::command {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;
using Words = std::vector<std::string>;

// A command line, parsed as main() does it.
class Line {
 public:
  explicit Line(Words words) {
    Options& run = app_.subcommand("run", "", [] {});
    app_.subcommand("info", "", [] {});
    app_.requires_subcommand("0");
    add_run_options(run, options_);
    words.insert(words.begin(), "run");
    take_program(run, words);
    std::reverse(words.begin(), words.end());
    run_ = &run.parser();
    try {
      app_.parser().parse(std::move(words));
    } catch (const CLI::ParseError& e) {
      error_ = e.what();
    }
  }
  const RunOptions& options() const { return options_; }
  const std::string& error() const { return error_; }
  Words values_of(const std::string& option) const { return run_->get_option(option)->results(); }
  const CLI::App& run() const { return *run_; }

 private:
  Options app_{"causeway"};
  RunOptions options_;
  CLI::App* run_ = nullptr;
  std::string error_;
};

Words operator+(Words a, const Words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// A value for every option; "": it takes none.
const std::map<std::string, std::string>& values() {
  static const std::map<std::string, std::string> table{
      {"--ranks", "4"},           {"--host-file", "/dev/null"},
      {"--hosts", "a,b"},         {"--per-host", "2"},
      {"--agent", "ssh -p 22"},   {"--address", "127.0.0.1"},
      {"--relay", "/bin/true"},   {"--directory", "/tmp"},
      {"--spares", "1"},          {"--first-host-program", "./other"},
      {"--config", "/dev/null"},  {"--on-failure", "continue"},
      {"--timeout", "1.5"},       {"--set", "shm.native=[put,get]"},
      {"--stdin", "none"},        {"--tag-output", ""},
      {"--fail-recovered", ""},   {"--export", "COLOUR=[deep, blue]"},
      {"--output-dir", "/tmp/a"}, {"--bind", "core"},
      {"--display", ""},          {"--map", "numa"},
      {"--debug", "tmux"},        {"--encrypt", ""}};
  return table;
}

// Every way to write `option` with `value`.
std::vector<Words> forms(const CLI::Option& option, const std::string& value) {
  std::vector<Words> all;
  for (const std::string& name : option.get_lnames()) {
    if (value.empty()) {
      all.push_back({"--" + name});
    } else {
      // Where it may be left out, a word behind the option is the program.
      if (option.get_items_expected_min() > 0) all.push_back({"--" + name, value});
      all.push_back({"--" + name + "=" + value});
    }
  }
  for (const std::string& name : option.get_snames()) {
    all.push_back({"-" + name, value});
    all.push_back({"-" + name + value});
  }
  return all;
}

// Programs whose words look like the launcher's own, or like lists.
const std::vector<Words> kPrograms{{"prog"},
                                   {"prog", "arg"},
                                   {"info", "--set", "a=b", "-n", "7"},
                                   {"./prog", "[a,b]", "[]", "", "{x}", "--", "-n7", "--help"}};

// Would catch: an option that takes the program for one more value of its own, a "--" that is
// eaten or passed on, and a program's argument that is split or taken for the launcher's.
TEST(RunCommand, EveryOptionInEveryForm) {
  const Line none({"prog"});
  size_t seen = 0;
  for (const CLI::Option* option : none.run().get_options()) {
    if (option->get_positional() || option->get_lnames().front() == "help") continue;
    const std::string name = "--" + option->get_lnames().front();
    ASSERT_EQ(values().count(name), 1u) << "this test has no value for " << name;
    ++seen;
    const std::string& value = values().at(name);
    for (const Words& form : forms(*option, value)) {
      for (const Words& dash : {Words{}, Words{"--"}}) {
        for (const Words& program : kPrograms) {
          const Words words = form + dash + program;
          SCOPED_TRACE(::testing::PrintToString(words));
          const Line line(words);
          ASSERT_EQ(line.error(), "");
          EXPECT_THAT(line.options().command, ElementsAreArray(program));
          EXPECT_THAT(line.values_of(name), ElementsAre(value.empty() ? "true" : value));
        }
      }
    }
  }
  EXPECT_EQ(seen, values().size());
}

// Would catch: mpirun's spelling taken for -n with the value "p", or a program's own -np changed.
TEST(RunCommand, RanksAsMpirunSpellsThem) {
  for (const char* word : {"-np", "--np"}) {
    const Line line({word, "3", "prog", "-np", "7"});
    EXPECT_EQ(line.error(), "");
    EXPECT_EQ(line.options().ranks, 3u);
    EXPECT_THAT(line.options().command, ElementsAre("prog", "-np", "7"));
  }
}

// Would catch: programs, options and arguments that get into another part; an own ':' behind "--"
// that is taken for a part, or one in a word for a separator.
TEST(RunCommand, SeveralPrograms) {
  const Line line({"-n",  "2",   "-x",  "A=1",   "./a",         "-n",  "7",   "a:b",
                   ":",   "-np", "3",   "-xB=2", "--directory", "sub", "./b", ":",
                   "-n1", "--",  "./c", ":",     "--",          "-n"});
  ASSERT_EQ(line.error(), "");
  const LaunchOptions launch = to_launch(line.options());
  EXPECT_EQ(launch.ranks, 6u);
  ASSERT_EQ(launch.programs.size(), 3u);
  EXPECT_THAT(launch.programs[0].command, ElementsAre("./a", "-n", "7", "a:b"));
  EXPECT_THAT(launch.programs[1].command, ElementsAre("./b"));
  EXPECT_THAT(launch.programs[2].command, ElementsAre("./c", ":", "--", "-n"));
  EXPECT_THAT(launch.programs[1].environment, ElementsAre("B=2"));
  EXPECT_EQ(launch.programs[1].directory, "sub");
  EXPECT_EQ(launch.environment.front().first, "A");
  const Line whole({"-n", "2", "--", "./a", ":", "./b"});
  EXPECT_THAT(to_launch(whole.options()).programs.at(0).command, ElementsAre("./a", ":", "./b"));
  // Process by process.
  Words who;
  for (uint32_t process = 0; process < 7; ++process)
    who.push_back(program_of(launch.programs, process).command[0]);
  EXPECT_THAT(who, ElementsAre("./a", "./a", "./b", "./b", "./b", "./c", "./c"));
}

// Would catch: a part that is not whole and runs all the same, or an option of the job that is lost
// in a part.
TEST(RunCommand, PartsThatAreNotWhole) {
  const std::vector<std::pair<Words, std::string>> mistakes{
      {{"-n", "2", "a", ":", "b"}, "--ranks is required"},
      {{"-n", "2", "expr", "x", ":", "y"}, "put '--' before the program"},
      {{"-n", "2", "a", ":"}, "--ranks is required"},
      {{"-n", "2", "a", ":", "-n", "1"}, "no program"},
      {{"-n", "2", ":", "-n", "1", "b"}, "no program"},
      {{"-n", "2", "a", ":", "-n", "none", "b"}, "none"},
      {{"-n", "2", "a", ":", "-n", "1", "--tag-output", "b"}, "--tag-output"},
      {{"a", ":", "-n", "1", "b"}, "each of several"},
      {{"-n", "1", "--spares", "1", "a", ":", "-n", "1", "b"}, "any of several"},
      {{"-n", "1", "--first-host-program", "c", "a", ":", "-n", "1", "b"}, "one program"},
      {{"-n", "2", "a", ":", "-n", "1", "-x", "NOT_SET_ANYWHERE", "b"}, "not set here"}};
  for (const auto& [words, text] : mistakes) {
    const Line line(words);
    ASSERT_EQ(line.error(), "");
    try {
      to_launch(line.options());
      ADD_FAILURE() << ::testing::PrintToString(words);
    } catch (const UsageError& e) {
      EXPECT_THAT(e.what(), ::testing::HasSubstr(text));
    }
  }
}

// Would catch: --debug that takes the program for its value.
TEST(RunCommand, DebugMayBeBare) {
  const Line line({"-n", "1", "--debug", "prog", "arg"});
  EXPECT_EQ(line.error(), "");
  EXPECT_EQ(line.options().debug, "death");
  EXPECT_THAT(line.options().command, ElementsAre("prog", "arg"));
  const Line none({"-n", "1", "prog"});
  EXPECT_EQ(none.options().debug, "");
  EXPECT_THROW(to_launch(Line({"-n", "1", "--debug", "tmux", "prog"}).options()), UsageError);
}

// Would catch: an option that ends the list of another, or has its values.
TEST(RunCommand, OptionsFollowEachOther) {
  const Line line({"-n4", "--set", "a=1", "--tag-output", "--set=b=[1,2]", "--timeout", "2",
                   "--set", "c=-3", "prog", "arg"});
  EXPECT_EQ(line.error(), "");
  EXPECT_EQ(line.options().ranks, 4u);
  EXPECT_TRUE(line.options().tag_output);
  EXPECT_THAT(line.options().sets, ElementsAre("a=1", "b=[1,2]", "c=-3"));
  EXPECT_THAT(line.options().command, ElementsAre("prog", "arg"));
}

// Would catch: a program that is only there because a value was taken for it, and an option without
// its value that has the program instead.
TEST(RunCommand, WhatIsMissingIsSaid) {
  for (const Words& words : std::vector<Words>{{"-n", "4"},
                                               {"-n", "4", "--"},
                                               {"--set", "a=b"},
                                               {"--set"},
                                               {"--set=", "prog"},
                                               {"--set", "--", "prog"},
                                               {"--typo", "prog"},
                                               {"--typo=1", "--", "prog"},
                                               {"-x", "prog"},
                                               {"-n", "prog"},
                                               {}}) {
    EXPECT_NE(Line(words).error(), "") << ::testing::PrintToString(words);
  }
  EXPECT_THAT(Line({"-n", "4"}).options().command, IsEmpty());
}

}  // namespace
}  // namespace causeway::command
