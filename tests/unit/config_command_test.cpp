// causeway check-config as a person or a script meets it: output, status, JSON.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <cstdio>

#include "config_testing.h"

namespace causeway::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

struct Outcome {
  int status;
  std::string text;
};

Outcome run(const std::string& arguments, const std::string& redirect) {
  const std::string line =
      std::string(CAUSEWAY_BINARY_DIR "/bin/causeway check-config ") + arguments + " " + redirect;
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

constexpr const char* kOutput = "2>/dev/null";
constexpr const char* kErrors = "2>&1 >/dev/null";

// Would catch, besides: rules that leave out peers of a kind, without a word.
TEST(CheckConfig, GoodFile) {
  Directory files;
  const std::string file = files.write("good.yaml",
                                       "conduits: {net: {plugin: shm, native: [put]}}\n"
                                       "peers: [{match: {locality: host}, use: [net, self]}]\n");
  const Outcome outcome = run("--no-site " + file, kOutput);
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.text, file +
                              ": ok\n\n"
                              "  conduit  plugin  device  native operations\n"
                              "  self     self    -       all\n"
                              "  shm      shm     -       all\n"
                              "  ucx      ucx     -       all\n"
                              "  ofi      ofi     -       all\n"
                              "  eth      eth     -       all\n"
                              "  net      shm     -       put\n"
                              "\n"
                              "  rule       peers   conduits\n"
                              "  peers[0]   host    net then self\n"
                              "  (no rule)  remote  none: a job with such peers ends\n");
  EXPECT_THAT(run("--no-site " + file, kErrors).text, IsEmpty());
  EXPECT_EQ(run("--no-site --json " + file, kOutput).text,
            "{\"ok\":true,\"problems\":[],\"warnings\":[]}\n");
}

// Would catch: a file that names a plugin which this machine does not have, and is called good
// without a word, or bad although a start would do without.
TEST(CheckConfig, PluginsOfThisMachine) {
  Directory files;
  const std::string file =
      files.write("far.yaml",
                  "conduits:\n"
                  "  far: {plugin: nothere}\n"
                  "  idle: {plugin: shm, options: {rign_bytes: 4}}\n"
                  "plugins: {memkinds: [host, odd], path: [/no/such/place]}\n"
                  "peers: [{match: {locality: host}, use: [far, shm, self]}]\n");
  const Outcome outcome = run("--no-site " + file, kErrors);
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.text, HasSubstr(file + ":2:3: there is no plugin 'nothere' on this machine: "
                                             "no conduit_nothere.so"));
  EXPECT_THAT(outcome.text, HasSubstr(file + ":3:45: conduit idle, which no rule uses: "));
  EXPECT_THAT(outcome.text, HasSubstr(file + ":4:28: there is no plugin 'odd'"));
  EXPECT_THAT(outcome.text, HasSubstr("no memkind_odd.so"));
  EXPECT_THAT(outcome.text, HasSubstr(file + ":4:41: the plugin directory '/no/such/place'"));
  EXPECT_EQ(run("--no-site --strict " + file, kErrors).status, 1);
  EXPECT_THAT(run("--no-site --json " + file, kOutput).text, StartsWith("{\"ok\":true,"));
}

// Would catch: a problem of which a job dies, and which the check does not find, or only after
// another was mended, or without its place.
TEST(CheckConfig, EverythingAStartWouldFind) {
  Directory files;
  const std::string file =
      files.write("bad.yaml",
                  "nonsense: 1\n"
                  "conduits:\n"
                  "  shm: {options: {ring_bytes: 1GiB, rign: 4}}\n"
                  "  far: {plugin: nothere}\n"
                  "  odd: {plugin: shm, options: {ring_bytes: 5000}}\n"
                  "plugins: {on_load_error: fail, collectives: [base, missing]}\n"
                  "collectives: {rules: [{use: [base/nosuch, neither]}]}\n"
                  "peers: [{match: {locality: host}, use: [shm, far, odd, self]}]\n");
  const Outcome outcome = run("--no-site " + file, kErrors);
  EXPECT_EQ(outcome.status, 1);
  for (const char* line :
       {":1:1: unknown key 'nonsense'",
        ":3:31: option 'ring_bytes' of conduit 'shm': '1GiB' is above the maximum, 256MiB",
        ":3:43: conduit 'shm' has no option 'rign'", ":4:3: there is no plugin 'nothere'",
        ":5:44: conduit odd: option 'ring_bytes' is 5000; expected 0 or a multiple of 4 KiB",
        ":6:52: there is no plugin 'missing'",
        ":7:23: rule collectives.rules[0] names the algorithm 'base/nosuch'",
        ":7:23: rule collectives.rules[0] names the algorithm 'neither'"})
    EXPECT_THAT(outcome.text, HasSubstr(file + line));
  // A mistake alone, as a start refuses it.
  for (const char* set : {"conduits.shm.options.ring_bytes=1GiB",
                          "plugins.on_load_error=fail,plugins.collectives=[x]"})
    EXPECT_EQ(run(std::string("--no-site /dev/null --set ") + set, kOutput).status, 1) << set;
}

// Would catch: a value that a plugin refuses on every machine, also behind another, and which the
// check takes for the lack of a device here.
TEST(CheckConfig, ValuesThatPluginsRefuse) {
  Directory files;
  const std::string file = files.write("refused.yaml",
                                       "conduits:\n"
                                       "  shm: {options: {ring_bytes: 5}}\n"
                                       "  eth: {options: {socket_buffer: 4096}}\n"
                                       "  far: {plugin: shm, device: nowhere}\n"
                                       "  odd: {plugin: trace, options: {over: posix}}\n"
                                       "  posix: {plugin: shm, options: {memory: posix}}\n"
                                       "  few: {plugin: eth, options: {connections: 7}}\n"
                                       "segment: {huge_pages: require}\n"
                                       "peers: [{use: [far, odd, shm, eth, few]}]\n");
  const Outcome outcome = run("--no-site " + file, kErrors);
  EXPECT_EQ(outcome.status, 1);
  for (const char* line :
       {":2:31: conduit shm: option 'ring_bytes' is 5; expected 0 or a multiple of 4 KiB up to",
        ":3:34: conduit eth: option 'socket_buffer' is 4096, with which everything would crawl",
        ":7:45: conduit few: option 'connections' is 7; expected 8 at least",
        ":8:23: conduit odd: option 'huge_pages': require needs memory: memfd"})
    EXPECT_THAT(outcome.text, HasSubstr(file + line));
  // The device may be another machine's.
  EXPECT_THAT(outcome.text, ::testing::ContainsRegex(file + ":4:3: conduit far: .*\\(warning\\)"));
}

// Would catch: problems of layers in another order than that in which they hold, and a file that is
// checked without those it includes or stands over.
TEST(CheckConfig, Layers) {
  Directory files;
  const std::string low = files.write("low.yaml", "report: true\nlog: {level: loud}\n");
  const std::string top = files.write("top.yaml", "checks: al\ninclude: low.yaml\n");
  const std::string last = files.write("last.yaml", "direct_map: perhaps\n");
  const std::string text = run("--no-site " + last + " " + top, kErrors).text;
  const size_t first = text.find(last + ":1:13: "), second = text.find(low + ":2:14: "),
               third = text.find(top + ":1:9: ");
  EXPECT_LT(first, second) << text;
  EXPECT_LT(second, third) << text;
  EXPECT_LT(third, text.size()) << text;
  const std::string quiet = files.write("quiet.yaml", "report: false\n");
  const std::string low_again = files.write("low.yaml", "report: true\n");
  const std::string loud = files.write("loud.yaml", "include: low.yaml\n");
  EXPECT_THAT(run("--no-site --print " + loud + " " + quiet, kOutput).text,
              HasSubstr("report: false"));
  EXPECT_THAT(run("--no-site --print " + quiet + " " + loud, kOutput).text,
              HasSubstr("report: true"));
}

TEST(CheckConfig, BadFile) {
  Directory files;
  const std::string file = files.write("bad.yaml", "report: on\n\"q\\\"\": 1\n");
  EXPECT_EQ(run(file, kOutput).status, 1);
  EXPECT_THAT(run(file, kOutput).text, IsEmpty());
  EXPECT_THAT(run(file, kErrors).text, StartsWith(file + ":1:9: report: expected true or false"));
  const std::string json = run("--json " + file, kOutput).text;
  EXPECT_THAT(json, StartsWith("{\"ok\":false,\"problems\":[{\"file\":\"" + file +
                               "\",\"line\":1,\"column\":9,\"message\":\"report: "));
  EXPECT_THAT(json, HasSubstr("unknown key 'q\\\"'"));
}

// Would catch: a --set that takes the file for one more setting.
TEST(CheckConfig, Sets) {
  EXPECT_EQ(run("--set report=true --set=checks=full /dev/null", kOutput).status, 0);
  EXPECT_EQ(run("/dev/null --set report=true,checks=full --set log.level=info", kOutput).status, 0);
  const Outcome bad = run("/dev/null --set checks=all", kErrors);
  EXPECT_EQ(bad.status, 1);
  EXPECT_THAT(bad.text, StartsWith("--set: checks=all: checks: expected none or full"));
}

TEST(CheckConfig, PrintIsTheMergedDocument) {
  Directory files;
  const std::string printed = run("--no-site --print /dev/null --set report=true", kOutput).text;
  EXPECT_THAT(printed, HasSubstr("report: true\n"));
  EXPECT_EQ(run("--no-site --print " + files.write("again", printed), kOutput).text, printed);
}

TEST(CheckConfig, WarningsAreNoFailure) {
  const Outcome outcome = run("/dev/null --set trace.file=x", kErrors);
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.text, HasSubstr("trace has no effect in this version"));
}

TEST(CheckConfig, Usage) {
  EXPECT_EQ(run("", kErrors).status, 2);
  EXPECT_EQ(run("--nonsense x", kErrors).status, 2);
  EXPECT_EQ(run("/nonexistent/file", kErrors).status, 1);
  EXPECT_EQ(run("--help", kOutput).status, 0);
}

}  // namespace
}  // namespace causeway::testing
