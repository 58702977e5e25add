// causeway explain as a person or a script meets it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct Outcome {
  int status;
  std::string text;
};

// CAUSEWAY_* of whoever runs the tests must not leak in.
const std::string kCommand =
    "env -u CAUSEWAY_CONFIG -u CAUSEWAY_SET timeout 60 " CAUSEWAY_BINARY_DIR "/bin/causeway ";

// A redirection of stdout in it leaves stderr to be read.
Outcome run(const std::string& command, const std::string& arguments) {
  const std::string line = "exec 2>&1; " + kCommand + command + " " + arguments;
  FILE* pipe = ::popen(line.c_str(), "r");
  Outcome out{-1, ""};
  char buffer[4096];
  for (size_t got; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) {
    out.text.append(buffer, got);
  }
  const int status = ::pclose(pipe);
  if (WIFEXITED(status)) out.status = WEXITSTATUS(status);
  return out;
}

// Would catch: a command that ends by a signal, or with status 0, or with no reason where its
// output cannot be written, at once or at its end.
TEST(Command, OutputThatCannotBeWritten) {
  for (const std::string command :
       {"info --json", "info", "explain --json", "explain", "ps", "--version", "--help", "help run",
        "top --json --count 1 --interval 0.1"}) {
    for (const auto& [where, why] : {std::pair(" >/dev/full", "No space left on device"),
                                     std::pair(" >&-", "Bad file descriptor")}) {
      const Outcome o = run(command, where);
      EXPECT_EQ(o.status, 1) << command << where << o.text;
      EXPECT_THAT(o.text, ContainsRegex("^causeway[a-z ]*: cannot write the output: ")) << command;
      EXPECT_THAT(o.text, HasSubstr(why)) << command;
      EXPECT_EQ(std::count(o.text.begin(), o.text.end(), '\n'), 1) << o.text;
    }
  }
}

// Would catch: an exception that nobody catches, or a library's words for one.
TEST(Command, WhatNobodyExpectsIsALine) {
  const Outcome o = run("check-plugin", "''");
  EXPECT_EQ(o.status, 1);
  EXPECT_EQ(o.text, "causeway check-plugin: '': Invalid argument\n");
}

// Would catch: a reader that waits for ever for a pipe's writer, or a number that is none.
TEST(Command, NothingWaitsForEver) {
  const Outcome pipe =
      run("", "--version; d=$(mktemp -d); mkfifo $d/f; " + kCommand + "trace $d/f; rm -r $d");
  EXPECT_THAT(pipe.text, ContainsRegex("causeway trace: .*/f: not a regular file\n"));
  const Outcome top = run("top", "--interval nan --count 1");
  EXPECT_EQ(top.status, 2);
  EXPECT_THAT(top.text, HasSubstr("causeway top: --interval: 'nan' is no number"));
}

// Would catch: a mistake without the name of who speaks, or one that names something else.
TEST(Command, UsageErrorsSayWhoSpeaks) {
  for (const auto& [arguments, said] :
       {std::pair("run", "causeway run: program is required\n"),
        std::pair("run true", "causeway run: --ranks is required\n"),
        std::pair("run -n 1 --config nope true",
                  "causeway run: --config: File does not exist: nope"),
        std::pair("run -n 1e3 true", "causeway run: --ranks: '1e3' is no whole number\n"),
        std::pair("check-plugin . --seed x",
                  "causeway check-plugin: --seed: 'x' is no whole number\n"),
        std::pair("bench --launches x", "causeway bench: --launches: 'x' is no whole number\n"),
        std::pair("tune --sizes 8,x", "causeway tune: --sizes: 'x' is no whole number\n"),
        std::pair("run -n two true", "causeway run: --ranks: 'two' is no whole number\n"),
        std::pair("run -n '' true", "causeway run: --ranks: '' is no whole number\n"),
        std::pair("run -n 9999 true", "causeway run: --ranks: '9999' is not within 1 to 4096"),
        std::pair("run -n 2 a : -n 1 --timeout 3 b",
                  "causeway run: ':': --timeout is no option here"),
        std::pair("info --nope", "causeway info: The following argument was not expected: --nope"),
        std::pair("tune --sizes 9", "causeway tune: --sizes: '9' is no multiple of 8\n"),
        std::pair("bench --sizes 8-64", "causeway bench: --sizes: requires --sweep or --report\n"),
        std::pair("bench --only put8.same --sweep put", "causeway bench: --only: excludes --sweep"),
        std::pair("bench --only put8.same --report x", "causeway bench: --only: excludes --sweep"),
        std::pair("bench --only put8.same --scale 2", "causeway bench: --only: excludes --sweep"),
        std::pair("-V", "causeway: there is no option '-V'\n"),
        std::pair("--versoin", "'--versoin'; did you mean '--version'?\n"),
        std::pair("", "causeway: A subcommand is required\n")}) {
    const Outcome o = run("", arguments);
    EXPECT_EQ(o.status, 2) << arguments << ": " << o.text;
    EXPECT_THAT(o.text, HasSubstr(said)) << arguments;
  }
}

// Would catch: a mistake in a plugin's option that each rank finds and says.
TEST(Run, SaysOnceWhatIsWrongWithAnOption) {
  const Outcome o = run("run", "-n 4 --set conduits.shm.options.ring=1 -- true");
  EXPECT_NE(o.status, 0);
  EXPECT_THAT(o.text, StartsWith("causeway run: --set: conduits.shm.options.ring=1: conduit 'shm' "
                                 "has no option 'ring'; did you mean 'ring_bytes'?"));
  EXPECT_EQ(std::ranges::count(o.text, '\n'), 1) << o.text;
}

// Without the default's network, which may be installed or not.
const std::string kOneHost =
    "'peers=[{match: {locality: self}, use: [self]}, {match: {locality: nbrhd}, use: [shm]}]'";

Outcome explain(const std::string& arguments) {
  return run("explain", arguments);
}

// Would catch: a job on one host that opens the default's network and pays for it at its start: a
// device that does not exist is complained about by whoever opens it.
TEST(Default, OpensNoNetworkOnOneHost) {
  const std::string program = " -- " CAUSEWAY_BINARY_DIR "/bin/hello";
  const std::string devices =
      "-n 2 --set conduits.ucx.device=nothere --set conduits.ofi.device=nothere";
  const Outcome o = run("run", devices + program);
  EXPECT_EQ(o.status, 0) << o.text;
  EXPECT_THAT(o.text, Not(HasSubstr("nothere")));
  if (::access(CAUSEWAY_BINARY_DIR "/lib/causeway/2/conduit_ucx.so", R_OK) != 0) return;
  // The same with a rule that is for every rank, to see that the complaint would be there.
  const Outcome opened =
      run("run", devices +
                     " --set 'peers=[{match: {locality: nbrhd}, use: [self, shm]}, "
                     "{use: [ucx, ofi]}]'" +
                     program);
  EXPECT_EQ(opened.status, 0) << opened.text;
  EXPECT_THAT(opened.text, HasSubstr("nothere"));
}

// Would catch: libraries of fabrics that each rank of a job on several hosts loads where there is
// no fabric, which takes 0.2 s; and fabrics that the environment asks for, which are left out.
TEST(Default, LeavesFabricsThatAreNotHere) {
  if (::access("/sys/class/infiniband", F_OK) == 0) GTEST_SKIP() << "there is a fabric here";
  if (::access(CAUSEWAY_BINARY_DIR "/lib/causeway/2/conduit_ofi.so", R_OK) != 0)
    GTEST_SKIP() << "there is no plugin ofi";
  const char* const left = "not ofi: this host has none of /sys/class/infiniband";
  EXPECT_THAT(explain("-n 2").text, HasSubstr(left));
  ::setenv("FI_PROVIDER", "tcp", 1);
  EXPECT_THAT(explain("-n 2").text, AllOf(Not(HasSubstr(left)), HasSubstr("ofi")));
  ::unsetenv("FI_PROVIDER");
}

// Would catch: a table that does not say what the default really does.
TEST(Explain, DefaultUsesSharedMemory) {
  const Outcome o = explain("-n 4");
  EXPECT_EQ(o.status, 0);
  EXPECT_THAT(o.text, HasSubstr("rank 0 to ranks 1-3 (nbrhd), by rule neighborhood"));
  EXPECT_THAT(o.text, HasSubstr("the program's own loads and stores"));
  EXPECT_THAT(o.text, ContainsRegex("death +of a rank +shm +noticed by the conduit"));
  EXPECT_THAT(o.text, HasSubstr("not self: rank 1 is another process"));
  EXPECT_THAT(o.text, HasSubstr("rank 0 to a rank on another host (remote), by rule network"));
  EXPECT_THAT(explain("-n 4 --set " + kOneHost).text, HasSubstr("no entry of peers: matches it"));
}

// Would catch: a device that is taken without a word of it, by an entry for this rank or by name.
TEST(Explain, SaysWhichDevice) {
  const Outcome o = explain("-n 2 --set " + kOneHost +
                            " --set 'conduits.shm={device: [host, elsewhere], devices: [{match: "
                            "{ranks: 0}, use: [host]}]}'");
  EXPECT_EQ(o.status, 0) << o.text;
  EXPECT_THAT(o.text, HasSubstr("device of shm: host, named in the configuration"));
  EXPECT_THAT(o.text, HasSubstr("device of self: its only one"));
  EXPECT_THAT(
      explain("-n 2 --json --set " + kOneHost).text,
      HasSubstr(R"("devices":[{"conduit":"shm","device":"","why":"its only one","lanes":1}])"));
}

// Would catch: lanes that nothing is said of, or that are listed as conduits that could serve;
// lanes of a conduit that they would be of no use to.
TEST(Explain, Lanes) {
  const std::string rules =
      " --set 'peers=[{match: {locality: self}, use: [self]}, {use: [eth]}]' --set conduits.";
  const Outcome o = explain("-n 2" + rules + "eth.lanes=4");
  EXPECT_EQ(o.status, 0) << o.text;
  EXPECT_THAT(o.text, AllOf(HasSubstr("lanes of eth: 4; two ranks use"), Not(HasSubstr("eth.1"))));
  EXPECT_THAT(explain("-n 2 --json" + rules + "eth.lanes=4").text, HasSubstr(R"("lanes":4})"));
  const Outcome refused = explain("-n 2" + rules + "shm.lanes=2");
  EXPECT_NE(refused.status, 0);
  EXPECT_THAT(refused.text, HasSubstr("threads do not wait for each other in plugin shm"));
}

// Would catch: a table that tells of all ranks what holds for the first of them.
TEST(Explain, RanksByRules) {
  const Outcome o = explain(
      "-n 6 --set 'peers=[{match: {locality: self}, use: [self]}, {name: apart, match: {ranks: "
      "\"2,4-5\"}, use: [other]}, {name: rest, use: [shm]}],conduits.other={plugin: shm}'");
  EXPECT_EQ(o.status, 0) << o.text;
  EXPECT_THAT(o.text, AllOf(HasSubstr("rank 0 to ranks 1,3 (nbrhd), by rule rest"),
                            HasSubstr("rank 0 to ranks 2,4-5 (nbrhd), by rule apart"),
                            HasSubstr("not other: could, but rest does not name it"),
                            HasSubstr("not shm: could, but apart does not name it")));
}

// Would catch: an explanation that ignores the file, so that it tells another story than the job.
TEST(Explain, SameQuestionOtherFile) {
  const Outcome o = explain("-n 2 --config " CAUSEWAY_SOURCE_DIR "/configs/sites/am-only.yaml");
  EXPECT_EQ(o.status, 0) << o.text;
  EXPECT_THAT(o.text, HasSubstr("rank 0 to rank 1 "));
  EXPECT_THAT(o.text, HasSubstr("emulated over active messages"));
  EXPECT_THAT(o.text, HasSubstr("emulated over mediums"));
  EXPECT_THAT(o.text, Not(HasSubstr("the program's own loads and stores")));
}

// Would catch: a rule that names a conduit without its plugin and says nothing about it, and a
// script that takes a job whose ranks cannot reach each other for one that can.
TEST(Explain, MissingPluginIsAReason) {
  const Outcome o = explain(
      "-n 2 --set 'conduits.net={plugin: nothere},peers=[{use: "
      "[net]}],plugins.on_load_error=ignore'");
  EXPECT_EQ(o.status, 1) << o.text;
  EXPECT_THAT(o.text, HasSubstr("unreachable: "));
  EXPECT_THAT(o.text, HasSubstr("nothere"));
  EXPECT_EQ(explain("-n 2 --json --set peers=[]").status, 1);
  // A login node without the network of the machine: the job would end, the answer does not.
  const Outcome login = explain(
      "-n 2 --set 'conduits={net: {plugin: nothere}, null: {}},peers=[{match: {locality: self}, "
      "use: [self]}, "
      "{match: {locality: nbrhd}, use: [shm]}, {name: far, use: [net, "
      "null]}],plugins.on_load_error=fail'");
  EXPECT_EQ(login.status, 0) << login.text;
  EXPECT_THAT(login.text, AllOf(HasSubstr("rank 0 to rank 1 (nbrhd), by rule peers[1]"),
                                HasSubstr("(remote), by rule far ("),
                                HasSubstr("the rule takes net, else null; on this machine none"),
                                HasSubstr("not net: plugin 'nothere': not found in ")));
  // One rank has no peer but itself.
  EXPECT_EQ(explain("-n 1 --set 'peers=[{match: {locality: self}, use: [self]}]'").status, 0);
}

// Would catch: --memkind that --json swallows.
TEST(Explain, MemkindsAsJson) {
  const Outcome o = explain("-n 2 --json --memkind --set 'plugins.memkinds=[host, nothere]'");
  EXPECT_EQ(o.status, 0) << o.text;
  EXPECT_THAT(o.text, HasSubstr(R"([{"kind":"nothere",)"));
  EXPECT_THAT(o.text, HasSubstr(R"("trouble":"cannot be loaded")"));
}

// Would catch: a list for programs that is one for people.
TEST(Explain, BenchListAsJson) {
  const Outcome o = run("bench", "--list --json");
  EXPECT_EQ(o.status, 0) << o.text;
  EXPECT_EQ(o.text.rfind(R"([{"name":)", 0), 0u) << o.text;
  EXPECT_EQ(o.text.substr(o.text.size() - 3), "}]\n");
}

// Would catch: a bad value of an option that ends like a failed measurement.
TEST(Bench, RefusesBadScale) {
  EXPECT_EQ(run("bench", "--scale 2,1").status, 2);
}

// Would catch: a bad file that is explained as if it were good.
TEST(Explain, BadConfigurationFails) {
  const Outcome o = explain("-n 2 --set nonsense=1");
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.text, HasSubstr("nonsense"));
}

// Would catch: JSON that is not, or that lacks what the text says.
TEST(Explain, Json) {
  const Outcome o = explain("-n 2 --json");
  EXPECT_EQ(o.status, 0);
  EXPECT_EQ(o.text.front(), '[');
  EXPECT_THAT(o.text, HasSubstr(R"("locality":"nbrhd")"));
  EXPECT_THAT(
      o.text,
      HasSubstr(R"({"operation":"put","from":0,"to":null,"stripe_above":null,"conduit":"shm")"));
}

// Would catch: neighborhoods that are told otherwise than a job decides them: of ranks that share a
// host and no memory, by the conduit's `native:`, by rules that lead past it, in portions.
TEST(Explain, Neighborhoods) {
  EXPECT_THAT(explain("-n 4").text, HasSubstr("\nneighborhoods: 0-3\n"));
  EXPECT_THAT(explain("-n 4 --set direct_map=never").text, HasSubstr("\nneighborhoods: 0-3\n"));
  EXPECT_THAT(explain("-n 4 --set 'conduits.shm.native=[]'").text,
              HasSubstr("\nneighborhoods: each rank its own\n"));
  EXPECT_THAT(explain("-n 5 --set neighborhood.ranks=2").text,
              HasSubstr("\nneighborhoods: 0-1 | 2-3 | 4\n"));
  EXPECT_THAT(explain("-n 5 --set neighborhood.ranks=2").text,
              AllOf(HasSubstr("rank 0 to rank 1 (nbrhd), by rule neighborhood"),
                    HasSubstr("rank 0 to ranks 2-4 (host), by rule neighborhood")));
  // Ranks that are reached through a second conduit of the kind, which segments do not come from.
  const std::string apart =
      "-n 6 --set 'peers=[{match: {locality: self}, use: [self]}, {match: {ranks: \"2,4-5\"}, use: "
      "[other]}, {use: [shm]}],conduits.other={plugin: shm}'";
  EXPECT_THAT(explain(apart).text, HasSubstr("\nneighborhoods: 0-1,3 | 2 | 4 | 5\n"));
  EXPECT_THAT(explain(apart + " --json").text,
              HasSubstr(R"("peer":"rank 0 to ranks 1,3","locality":"nbrhd","neighbors":"1,3")"));
  EXPECT_THAT(run("map", "-n 4 --hosts a --json --set 'conduits.shm.native=[]'").text,
              HasSubstr(R"("neighborhoods":4)"));
}

// Would catch: sizes and rails that are told as if they were not there, or at other borders.
TEST(Explain, SizesAndRails) {
  const std::string split = "--config " CAUSEWAY_SOURCE_DIR "/tests/unit/split.yaml ";
  const Outcome o = explain("-n 3 " + split);
  EXPECT_EQ(o.status, 0) << o.text;
  EXPECT_THAT(o.text, HasSubstr("put        to 65535 B"));
  EXPECT_THAT(o.text, HasSubstr("from 64 KiB        other"));
  EXPECT_THAT(o.text, HasSubstr("by sizes[0] of the rule"));
  EXPECT_THAT(o.text, HasSubstr("1000 B to 3000 B   both (shm+other)"));
  // Not the program's own stores, although the memory is mapped: a size goes another way.
  EXPECT_THAT(o.text, Not(HasSubstr("shm                the program's own loads")));
  EXPECT_THAT(
      explain("-n 2 --json " + split).text,
      HasSubstr(
          R"({"operation":"put","from":65536,"to":null,"stripe_above":null,"conduit":"other")"));
}

// Would catch: a map that shows other ways than explain, or hosts that rules cannot tell apart.
TEST(Map, HostsByRules) {
  const Outcome o =
      run("map",
          "-n 2 --hosts login1,node1,node2 --set "
          "'peers=[{match: {locality: self}, use: [self]}, {match: {locality: nbrhd}, "
          "use: [shm]}, {name: gate, match: {host: login*}, use: [far]}, {use: "
          "[near]}],conduits.far.plugin=null,conduits.near.plugin=null' --json");
  EXPECT_EQ(o.status, 0) << o.text;
  EXPECT_THAT(
      o.text,
      HasSubstr(R"({"from":"node1","to":"node1","ways":["shm"],"ranks":2,"neighborhoods":1})"));
  EXPECT_THAT(o.text, HasSubstr(R"("from":"node1","to":"login1","ways":["unreachable:)"));
  EXPECT_THAT(o.text, HasSubstr("by gate ("));
  const Outcome people = run("map", "-n 2 --hosts a,b --set " + kOneHost);
  EXPECT_THAT(people.text,
              ContainsRegex("\n  a, b  itself     shm\n        the other  unreachable: "));
  // The reason is said once, not for each rank.
  EXPECT_THAT(people.text, Not(HasSubstr(", or unreachable")));
  // Some ranks of a host are neighbors and some are not.
  const std::string portions =
      "--hosts a -n 4 --json --set 'peers=[{match: {locality: nbrhd}, use: [shm]}, {match: "
      "{locality: host}, use: [eth]}, {use: [shm]}],neighborhood.ranks=";
  EXPECT_THAT(run("map", portions + "2'").text, HasSubstr(R"("ways":["eth","shm"])"));
  EXPECT_THAT(run("map", portions + "1'").text, HasSubstr(R"("ways":["eth"])"));
  EXPECT_EQ(run("map", "--hosts a,a").status, 1);
  EXPECT_EQ(run("map", "--hosts ''").status, 1);
  EXPECT_EQ(run("map", "--svg --json").status, 2);
}

// Would catch: a row for each of many hosts of which the same is to be said, hosts that are called
// others of a group to which they do not belong, and a wait that grows with ranks times hosts.
TEST(Map, DrawsEqualHostsTogether) {
  const Outcome o = run(
      "map",
      "-n 100000 --hosts n08,n09,n10,login --set 'peers=[{match: {locality: self}, use: "
      "[self]}, {match: {locality: nbrhd}, use: [shm]}, {name: gate, match: {host: login}, use: "
      "[other]}, {use: [eth]}],conduits.other.plugin=eth'");
  EXPECT_EQ(o.status, 0) << o.text;
  EXPECT_THAT(o.text, ContainsRegex("login, n\\[08-10\\] +100000 "));
  EXPECT_THAT(o.text, ContainsRegex("\n  n\\[08-10\\] +itself +shm\n"));
  EXPECT_THAT(o.text, ContainsRegex("\n +the others of n\\[08-10\\] +eth\n"));
  EXPECT_THAT(o.text, ContainsRegex("\n +login +other\n"));
  EXPECT_THAT(o.text, ContainsRegex("\n  login +itself +shm\n +every other host +eth\n"));
}

// Would catch: pictures that no program can draw, or without one of the ways.
TEST(Map, Pictures) {
  const std::string hosts = "-n 2 --hosts 'a,<b&>' --set " + kOneHost;
  const Outcome svg = run("map", "--svg " + hosts);
  EXPECT_EQ(svg.status, 0) << svg.text;
  EXPECT_THAT(svg.text, HasSubstr("<title>a to &lt;b&amp;&gt;: unreachable"));
  EXPECT_THAT(svg.text, Not(HasSubstr("<b&")));
  EXPECT_EQ(run("map", "--svg --hosts $(seq -s, 1 129)").status, 1);
  const Outcome dot = run("map", "--dot " + hosts);
  EXPECT_THAT(dot.text, HasSubstr(R"(n0 -> n0 [label="shm"];)"));
  EXPECT_THAT(dot.text, ContainsRegex("n0 -> n1 .*dir=both\\];"));
  EXPECT_THAT(dot.text, Not(HasSubstr("n1 -> n0")));
  // Would catch: control characters of a host's name on a terminal or in XML.
  for (const char* form : {"", "--svg ", "--dot "}) {
    const Outcome o = run("map", form + std::string("-n 2 --hosts \"$(printf 'a,b\\033[31m')\""));
    EXPECT_THAT(o.text, HasSubstr("b?[31m")) << form;
    EXPECT_EQ(o.text.find('\033'), o.text.npos) << form;
  }
}

// Would catch: lines that a page of 100 columns cuts, or words that folding loses.
TEST(Tables, FitThePage) {
  const auto letters = [](std::string text) {
    text.erase(std::remove_if(text.begin(), text.end(), ::isspace), text.end());
    std::sort(text.begin(), text.end());
    return text;
  };
  const std::string folder = CAUSEWAY_BINARY_DIR "/long/" + std::string(120, 'x');
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/rules.yaml") << "peers: [{use: [self, shm]}]\n";
  const std::string explain = "explain --config " + folder + "/rules.yaml";
  for (const char* command :
       {"info -v", "info --devices", "bench --list", "explain --collectives --memkind", "map",
        "check-plugin --list " CAUSEWAY_BINARY_DIR "/lib/causeway/2/conduit_shm.so",
        explain.c_str()}) {
    ::unsetenv("COLUMNS");
    const Outcome page = run(command, "");
    std::istringstream lines(page.text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
    ::setenv("COLUMNS", "10000", 1);
    const Outcome wide = run(command, "");
    EXPECT_EQ(letters(page.text), letters(wide.text)) << command;
  }
  ::unsetenv("COLUMNS");
}

// Would catch: --collectives without the loaded algorithms.
TEST(Explain, ListsCollectives) {
  EXPECT_THAT(explain("--collectives").text, HasSubstr("base/dissemination"));
}

}  // namespace
