// Loading: the built-in default, precedence, merging, removal, settings as text, fingerprints.
#include <gmock/gmock.h>

#include <chrono>

#include "config/embedded.h"
#include "config/set_text.h"
#include "config_testing.h"

namespace causeway::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uint64_t kMs = 1000000;

// What holds with no file is a promise to users: a changed default must be a decision.
TEST(ConfigLoad, BuiltInDefault) {
  const Config config = load_config(only_sets({}));
  ASSERT_EQ(config.conduits.size(), 5u);
  EXPECT_EQ(config.conduits[0].name, "self");
  EXPECT_EQ(config.conduits[1].name, "shm");
  EXPECT_EQ(config.conduits[1].plugin, "shm");
  EXPECT_EQ(config.conduits[1].native, std::nullopt);
  EXPECT_EQ(config.conduits[2].name, "ucx");
  EXPECT_EQ(config.conduits[3].name, "ofi");
  EXPECT_EQ(config.conduits[4].name, "eth");
  // Opened quietly, and in jobs on several hosts only, as long as nobody else names them.
  for (const ConduitSpec& conduit : config.conduits)
    EXPECT_EQ(conduit.where.source, kBuiltInSource) << conduit.name;
  ASSERT_EQ(config.peers.size(), 3u);
  EXPECT_EQ(config.peers[0].locality, Locality::self);
  EXPECT_THAT(config.peers[0].use, ElementsAre("self"));
  EXPECT_EQ(config.peers[1].locality, Locality::host);
  EXPECT_THAT(config.peers[1].use, ElementsAre("shm"));
  EXPECT_EQ(config.peers[2].locality, Locality::remote);
  EXPECT_THAT(config.peers[2].use, ElementsAre("ucx", "ofi", "eth"));
  EXPECT_THAT(config.plugin_path, IsEmpty());
  EXPECT_EQ(config.on_load_error, LoadErrorPolicy::warn);
  EXPECT_THAT(config.memkind_plugins, ElementsAre("host", "cuda", "hip", "ze"));
  EXPECT_THAT(config.collective_plugins, ElementsAre("base", "hier"));
  EXPECT_EQ(config.direct_map, DirectMap::automatic);
  EXPECT_EQ(config.checks, Checks::none);
  EXPECT_EQ(config.log_level, "warn");
  EXPECT_FALSE(config.report);
  EXPECT_EQ(config.segment_max, 0u);
  EXPECT_EQ(config.huge_pages, "never");
  EXPECT_EQ(config.numa, "first-touch");
  EXPECT_EQ(config.timeouts.start_ns, 60000 * kMs);
  EXPECT_EQ(config.timeouts.exit_ns, 5000 * kMs);
  EXPECT_EQ(config.timeouts.kill_ns, 1000 * kMs);
  EXPECT_EQ(config.timeouts.peer_ns, 30000 * kMs);
  EXPECT_EQ(config.waiting.spin_ns, 20000u);
  EXPECT_EQ(config.waiting.yield_ns, 500000u);
  EXPECT_EQ(config.waiting.nap_ns, kMs);
  EXPECT_NE(find_conduit(config, "shm"), nullptr);
  EXPECT_EQ(find_conduit(config, "verbs"), nullptr);
}

// Would catch: a conduit that the user set up and that still counts as one nobody asked for, whose
// failure to open would then be kept from him.
TEST(ConfigLoad, DefaultConduitThatAnotherSourceNames) {
  const Config config = load_text("conduits: {ofi: {device: eth1}}\n");
  EXPECT_NE(find_conduit(config, "ofi")->where.source, kBuiltInSource);
  EXPECT_EQ(find_conduit(config, "ofi")->plugin, "ofi");
  EXPECT_EQ(find_conduit(config, "ucx")->where.source, kBuiltInSource);
}

// Would catch: a list of devices that is not what several with commas are, and rules for others.
TEST(ConfigLoad, DevicesOfRanksAndHosts) {
  const Config config = load_text(
      "conduits:\n"
      "  net:\n"
      "    plugin: verbs\n"
      "    device: [mlx5_0, 'mlx5_1:1']\n"
      "    devices: [{match: {host: 'gpu*'}, use: [a, b]}, {match: {ranks: 0-3}, use: [c]}]\n",
      {"conduits.one={plugin: ofi, device: eth0}"});
  const ConduitSpec& net = *find_conduit(config, "net");
  EXPECT_EQ(net.device, "mlx5_0,mlx5_1:1");
  EXPECT_EQ(find_conduit(config, "one")->device, "eth0");
  ASSERT_EQ(net.devices.size(), 2u);
  EXPECT_TRUE(net.devices[0].matches(Locality::self, "gpu7", 9));
  EXPECT_FALSE(net.devices[0].matches(Locality::self, "node7", 9));
  EXPECT_THAT(net.devices[0].use, ElementsAre("a", "b"));
  EXPECT_TRUE(net.devices[1].matches(Locality::self, "node7", 3));
  EXPECT_FALSE(net.devices[1].matches(Locality::self, "node7", 4));
}

TEST(ConfigLoad, EveryTypedField) {
  const Config config = load_text(
      "plugins: {path: [/a, b], on_load_error: ignore, memkinds: [], collectives: [base, hier]}\n"
      "conduits:\n"
      "  net: {plugin: ofi, device: eth0, options: {ring: 64k, eager: 'on'}, native: [put, get]}\n"
      "direct_map: never\nchecks: full\nlog: {level: debug}\nreport: true\n"
      "segment: {max: 1.5GiB, huge_pages: try, numa: interleave}\n"
      "timeouts: {start: 1min, exit: 0s, kill: 250ms, peer: 2h}\n"
      "waiting: {spin: 0, yield: 1us, nap: 10us}\n");
  EXPECT_THAT(config.plugin_path, ElementsAre("/a", "b"));
  EXPECT_EQ(config.on_load_error, LoadErrorPolicy::ignore);
  EXPECT_THAT(config.memkind_plugins, IsEmpty());
  EXPECT_THAT(config.collective_plugins, ElementsAre("base", "hier"));
  ASSERT_EQ(config.conduits.size(), 6u);
  const ConduitSpec& net = config.conduits[5];
  EXPECT_EQ(net.name, "net");
  EXPECT_EQ(net.plugin, "ofi");
  EXPECT_EQ(net.device, "eth0");
  EXPECT_EQ(net.options, (std::map<std::string, std::string>{{"ring", "64k"}, {"eager", "on"}}));
  EXPECT_THAT(net.option_origins.at("ring").str(), HasSubstr("f:3:52"));
  EXPECT_THAT(*net.native, ElementsAre("put", "get"));
  EXPECT_EQ(config.direct_map, DirectMap::never);
  EXPECT_EQ(config.checks, Checks::full);
  EXPECT_EQ(config.log_level, "debug");
  EXPECT_TRUE(config.report);
  EXPECT_EQ(config.segment_max, 1536ull << 20);
  EXPECT_EQ(config.huge_pages, "try");
  EXPECT_EQ(config.numa, "interleave");
  EXPECT_EQ(config.timeouts.start_ns, 60000 * kMs);
  EXPECT_EQ(config.timeouts.exit_ns, 0u);
  EXPECT_EQ(config.timeouts.kill_ns, 250 * kMs);
  EXPECT_EQ(config.timeouts.peer_ns, 7200000 * kMs);
  EXPECT_EQ(config.waiting.spin_ns, 0u);
}

TEST(ConfigLoad, Precedence) {
  Directory files;
  ConfigSources sources;
  sources.site_file = files.write("site", "log: {level: info}\nchecks: full\nreport: true\n");
  EXPECT_EQ(load_config(sources).log_level, "info");
  sources.files = {files.write("user", "log: {level: debug}\nchecks: none\n")};
  EXPECT_EQ(load_config(sources).log_level, "debug");
  sources.sets = {"log.level=warn", "log.level=error"};
  const Config config = load_config(sources);
  EXPECT_EQ(config.log_level, "error");    // the last set
  EXPECT_EQ(config.checks, Checks::none);  // the user's file over the site's
  EXPECT_TRUE(config.report);              // the site's over the default
  EXPECT_EQ(config.huge_pages, "never");   // the default
  EXPECT_EQ(config.origins.at("log.level").str(), "CAUSEWAY_SET: log.level=error");
  sources.flags = {"log.level=info"};
  EXPECT_EQ(load_config(sources).origins.at("log.level").str(), "--set: log.level=info");
  EXPECT_EQ(config.origins.at("checks").str(), sources.files.at(0) + ":2:9");
  EXPECT_EQ(config.origins.at("report").str(), *sources.site_file + ":3:9");
  EXPECT_EQ(config.origins.at("segment.numa").source, "built-in default");
}

TEST(ConfigLoad, MapsMergeAndListsReplace) {
  Directory files;
  ConfigSources sources;
  sources.site_file = files.write("site",
                                  "conduits: {net: {plugin: ofi, options: {a: 1, b: 2}, "
                                  "native: [put, get]}}\nplugins: {path: [/x, /y]}\n");
  sources.files = {files.write("user",
                               "conduits: {net: {options: {b: 3, c: 4}, native: [am_long]}}\n"
                               "plugins: {path: [/z]}\n")};
  const Config config = load_config(sources);
  const ConduitSpec& net = *find_conduit(config, "net");
  EXPECT_EQ(net.plugin, "ofi");
  EXPECT_EQ(net.options, (std::map<std::string, std::string>{{"a", "1"}, {"b", "3"}, {"c", "4"}}));
  EXPECT_EQ(net.option_origins.at("a").source, *sources.site_file);
  EXPECT_EQ(net.option_origins.at("b").source, sources.files.at(0));
  EXPECT_THAT(*net.native, ElementsAre("am_long"));
  EXPECT_THAT(config.plugin_path, ElementsAre("/z"));
}

TEST(ConfigLoad, EmptyNativeIsNotAbsentNative) {
  const Config config = load_text("conduits: {shm: {native: []}}\n");
  ASSERT_TRUE(find_conduit(config, "shm")->native.has_value());
  EXPECT_THAT(*find_conduit(config, "shm")->native, IsEmpty());
  EXPECT_FALSE(find_conduit(config, "self")->native.has_value());
}

TEST(ConfigLoad, PluginDefaultsToTheConduitsName) {
  EXPECT_EQ(find_conduit(load_text("conduits: {ofi: {}}\n"), "ofi")->plugin, "ofi");
}

TEST(ConfigLoad, RemovalAndReturn) {
  const std::string only_self = "conduits: {shm: null}\npeers: [{use: [self]}]\n";
  EXPECT_EQ(find_conduit(load_text(only_self), "shm"), nullptr);
  // Coming back, it brings nothing of what it was: the plugin is its name again.
  const Config back = load_text("conduits: {net: {plugin: ofi, options: {a: 1}}}\n",
                                {"conduits.net=null", "conduits.net.device=eth1"});
  EXPECT_EQ(find_conduit(back, "net")->plugin, "net");
  EXPECT_EQ(find_conduit(back, "net")->device, "eth1");
  EXPECT_THAT(find_conduit(back, "net")->options, IsEmpty());
}

// Files that say nothing, in every way of saying nothing, leave the default as it is.
TEST(ConfigLoad, EmptyFiles) {
  const std::string plain = load_config(only_sets({})).text;
  for (const std::string text : {"", "\n", "# a comment\n", "---\n", "{}\n", "~\n",
                                 "timeouts:\nlog:  # all commented out\n", "\xEF\xBB\xBF# bom\n"}) {
    EXPECT_EQ(load_text(text).text, plain) << "text: " << text;
  }
  ConfigSources device = only_sets({});
  device.files = {"/dev/null"};
  EXPECT_EQ(load_config(device).text, plain);
}

TEST(ConfigLoad, AnchorsAndAliases) {
  const Config config = load_text(
      "conduits:\n"
      "  a: &one {plugin: shm, options: {ring: 4k}}\n"
      "  b: *one\n");
  EXPECT_EQ(find_conduit(config, "b")->options.at("ring"), "4k");
}

// YAML reads the name of the plugin `null` as no value; as a name it must still work.
TEST(ConfigLoad, APluginMayBeNamedNull) {
  const Config config =
      load_text("conduits: {null: {}, other: {plugin: null}}\npeers: [{use: [null, other]}]\n",
                {"conduits.third.plugin=null"});
  EXPECT_EQ(find_conduit(config, "null")->plugin, "null");
  EXPECT_EQ(find_conduit(config, "other")->plugin, "null");
  EXPECT_EQ(find_conduit(config, "third")->plugin, "null");
  EXPECT_THAT(config.peers[0].use, ElementsAre("null", "other"));
  const std::string text = config.text;
  EXPECT_EQ(load_text(text).text, text);
  // Nothing under `shm:`, and then a key that happens to be called null.
  EXPECT_THAT(problems_of("conduits:\n  shm:\n  null: {}\n"),
              ElementsAre(HasSubstr("f:2:3: conduits.shm has no settings")));
  EXPECT_EQ(
      find_conduit(load_text(
          "\xEF\xBB\xBF{plugins: {path: [\u00e9\u00e9]}, conduits: {shm: null}, peers: [{use: "
          "[self]}]}\n"), "shm"),
      nullptr);
}

TEST(ConfigLoad, SetsOverTheEnvironment) {
  ::setenv("CAUSEWAY_CONFIG", "/some/file::another:", 1);
  ::setenv("CAUSEWAY_SET", "report=true, peers=[{use: [self, shm]}],", 1);
  const ConfigSources sources = ConfigSources::from_environment();
  EXPECT_THAT(sources.files, ElementsAre("/some/file", "another"));
  EXPECT_THAT(sources.sets, ElementsAre("report=true", "peers=[{use: [self, shm]}]"));
  EXPECT_EQ(sources.site_file, std::nullopt);
  ::setenv("CAUSEWAY_CONFIG", "", 1);
  ::unsetenv("CAUSEWAY_SET");
  EXPECT_THAT(ConfigSources::from_environment().files, IsEmpty());
  EXPECT_THAT(ConfigSources::from_environment().sets, IsEmpty());
  ::unsetenv("CAUSEWAY_CONFIG");
}

TEST(ConfigSets, Splitting) {
  EXPECT_THAT(split_sets("a=1,b=2"), ElementsAre("a=1", "b=2"));
  EXPECT_THAT(split_sets("a=[1,2],b={x: 1, y: [2,3]}"),
              ElementsAre("a=[1,2]", "b={x: 1, y: [2,3]}"));
  EXPECT_THAT(split_sets("a=\"1,2\",b='3,4'"), ElementsAre("a=\"1,2\"", "b='3,4'"));
  EXPECT_THAT(split_sets("a=\"x\\\",y\",b=1"), ElementsAre("a=\"x\\\",y\"", "b=1"));
  EXPECT_THAT(split_sets("a=1\\,2,b=3"), ElementsAre("a=1,2", "b=3"));
  EXPECT_THAT(split_sets("a=x\\\\,b=c:\\d"), ElementsAre("a=x\\", "b=c:\\d"));
  EXPECT_THAT(split_sets("a=it's,b=1"), ElementsAre("a=it's", "b=1"));
  EXPECT_THAT(split_sets(" , a=1 ,, "), ElementsAre("a=1"));
  EXPECT_THAT(split_sets(""), IsEmpty());
  EXPECT_THAT(split_sets("a=[1,2"), ElementsAre("a=[1,2"));  // refused later, with its text
}

// A launcher joins its --set flags into CAUSEWAY_SET; none may change on the way.
TEST(ConfigSets, EscapingIsTheInverseOfSplitting) {
  const std::vector<std::string> items{"a=1,2", "b=[1,2]", "c='x,y'", "d=p\\q\\,r", "e=it's,so"};
  std::string all;
  for (const std::string& item : items) all += (all.empty() ? "" : ",") + escape_set(item);
  EXPECT_EQ(split_sets(all), items);
}

TEST(ConfigSets, Values) {
  const Config config = load_config(only_sets(
      {"trace.file=*a # b: c", "conduits.net={plugin: ofi, options: {x: 'a,b'}}",
       "plugins.path=[/a,/b]", "conduits.net.device=", "conduits.net.options.z=\"q\\tr\""}));
  EXPECT_EQ(config.values.at("trace.file"), "*a # b: c");
  EXPECT_EQ(find_conduit(config, "net")->options.at("x"), "a,b");
  EXPECT_EQ(find_conduit(config, "net")->options.at("z"), "q\tr");
  EXPECT_EQ(find_conduit(config, "net")->device, "");
  EXPECT_EQ(find_conduit(config, "net")->option_origins.at("x").str(),
            "CAUSEWAY_SET: conduits.net={plugin: ofi, options: {x: 'a,b'}}");
  EXPECT_THAT(config.plugin_path, ElementsAre("/a", "/b"));
}

TEST(ConfigSets, Mistakes) {
  const auto problem = [](const std::string& set) {
    return check_config(only_sets({set})).problems.text(20);
  };
  EXPECT_EQ(problem("conduits.shm.ring=4k"),
            "CAUSEWAY_SET: conduits.shm.ring=4k: unknown key 'ring' in conduits.shm; the plugin's "
            "own options stand in 'conduits.shm.options'");
  EXPECT_EQ(problem("report=true timeouts.start=5s"),
            "CAUSEWAY_SET: report=true timeouts.start=5s: report: expected true or false, found "
            "'true timeouts.start=5s'; one setting for each --set, commas between those of "
            "CAUSEWAY_SET");
  EXPECT_EQ(problem("report=very true"),
            "CAUSEWAY_SET: report=very true: report: expected true or false, found 'very true'");
  EXPECT_EQ(problem("timeouts.start=5"),
            "CAUSEWAY_SET: timeouts.start=5: timeouts.start: a time needs a unit, as in 5us, 5ms "
            "or 5s");
  EXPECT_EQ(problem("peers=[{use: [nic]}]"),
            "CAUSEWAY_SET: peers=[{use: [nic]}]: unknown conduit 'nic' in peers[0].use; known "
            "conduits: self, shm, ucx, ofi and eth; 'conduits: {nic: {}}' adds it");
  EXPECT_THAT(problem("debug"), HasSubstr("debug: expected path=value; a comma within a value"));
  EXPECT_THAT(problem("peers[0].use=[shm]"), HasSubstr("a list is set as a whole"));
  EXPECT_THAT(problem("=3"), HasSubstr("expected a path of keys"));
  EXPECT_THAT(problem("log..level=warn"), HasSubstr("expected a path of keys"));
  EXPECT_THAT(problem("plugins.path=[/a"), HasSubstr("not valid YAML"));
  std::string deep = "a";
  for (int i = 0; i < 100000; ++i) deep += ".a";
  EXPECT_THAT(problem(deep + "=1"), HasSubstr("expected a path of keys"));
}

// Blocks whose room does not exist yet are legal, and say so once, where they are set.
TEST(ConfigLoad, KeysWithoutEffectWarn) {
  Directory files;
  ConfigSources sources = only_sets({"trace.operations=[put]"});
  sources.files = {files.write("f", "trace:\n  file: x\nthreads: {progress: none}\n")};
  const CheckedConfig checked = check_config(sources);
  ASSERT_TRUE(checked.config);
  ASSERT_EQ(checked.warnings.size(), 2u);  // threads.progress says what holds anyway
  EXPECT_EQ(checked.warnings[0].str(), sources.files.at(0) + ":1:1: trace has no effect in this version");
  EXPECT_EQ(checked.warnings[1].str(),
            "CAUSEWAY_SET: trace.operations=[put]: trace has no effect in this version");
  ::testing::internal::CaptureStderr();
  load_config(sources);
  load_config(sources);
  const std::string said = ::testing::internal::GetCapturedStderr();
  // Once for each place.
  EXPECT_EQ(said.find(":1:1: trace has no effect"), said.rfind(":1:1: trace has no effect")) << said;
  EXPECT_THAT(said, HasSubstr("trace has no effect in this version"));
}

// A slip in a conduit's name makes a conduit that nobody asks: its options would be lost without a word.
TEST(ConfigLoad, ConduitsThatAreLikelySlipsWarn) {
  const auto said = [](const std::string& set) {
    const CheckedConfig checked = check_config(only_sets({set}));
    EXPECT_TRUE(checked.config);
    return checked.warnings.empty() ? "" : checked.warnings[0].str();
  };
  EXPECT_EQ(said("conduits.smh.options.ring=4k"),
            "CAUSEWAY_SET: conduits.smh.options.ring=4k: conduit 'smh' is in no rule; did you mean 'shm'?");
  EXPECT_EQ(said("conduits.shm.options.ring=4k"), "");
  EXPECT_EQ(said("conduits.eth1={plugin: eth, device: eth1}"), "") << "a second one of a plugin";
  EXPECT_EQ(said("conduits.tofu.options.lanes=2"), "") << "another name";
}

TEST(ConfigFingerprint, IsBlindToWordingOnly) {
  const std::string one =
      load_text("timeouts: {start: 1s, exit: 2s}\nconduits: {a: {plugin: x}, b: {plugin: y}}\n")
          .text;
  const std::string same =
      load_text("# other order, other units\nconduits:\n  b:\n    plugin: 'y'\n  a: {plugin: x}\n"
                "timeouts: {exit: 2000ms, start: 1s}\n").text;
  EXPECT_EQ(one, same);
  for (const std::string set :
       {"timeouts.exit=3s", "conduits.a.options.o=1", "conduits.a.native=[]", "conduits.b=null",
        "peers=[{use: [shm, self]}]", "report=true"}) {
    EXPECT_NE(load_text("timeouts: {start: 1s, exit: 2s}\nconduits: {a: "
                                           "{plugin: x}, b: {plugin: y}}\n",
                                           {set}).text,
              one)
        << set;
  }
  // The order of rules decides; it must show.
  EXPECT_NE(
      load_text("peers: [{match: {ranks: 1}, use: [shm]}, {use: [self]}]").text,
      load_text("peers: [{match: {ranks: 1}, use: [self]}, {use: [shm]}]").text);
}

// The fingerprint is itself a configuration, the same one: what `info --config` prints can be
// used as a file. Catches quoting mistakes and more than nine list items out of order.
TEST(ConfigFingerprint, ReadsBackAsItself) {
  std::string rules = "peers:\n";
  for (int i = 0; i < 12; ++i) {
    rules += "  - {match: {ranks: " + std::to_string(2 * i) + "}, use: [shm, self]}\n";
  }
  const std::string text = load_text(
      rules +
      "conduits: {a: {options: {q: \"a\\\"b\\\\c: #\\n\\t\", n: 'null', e: '', s: ' x '}, "
      "native: []}}\nplugins: {path: ['a b', '*', 'ü']}\n").text;
  EXPECT_EQ(load_text(text).text, text) << text;
  EXPECT_THAT(find_conduit(load_text(text), "a")->options.at("q"), "a\"b\\c: #\n\t");
}

// Start-up of every rank pays for this. The limit is generous for sanitizers and busy machines;
// the property reports the figure.
TEST(ConfigLoad, IsQuick) {
  load_config(only_sets({}));
  double best = 1e9;
  for (int i = 0; i < 20; ++i) {
    const auto start = std::chrono::steady_clock::now();
    load_config(only_sets({}));
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
  }
  RecordProperty("load_ms", std::to_string(best));
  EXPECT_LT(best, 30.0);
}

}  // namespace
}  // namespace causeway::testing
