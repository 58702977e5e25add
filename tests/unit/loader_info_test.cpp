// causeway info: what it prints, and with which exit status.
#include <sys/wait.h>
#include <yaml-cpp/yaml.h>

#include <array>
#include <cstdio>
#include <map>

#include "loader_support.h"

namespace causeway::loader_test {
namespace {

struct Outcome {
  int status;
  std::string output;
};

Outcome info(const std::string& arguments, const std::string& sets = "") {
  const std::string command = "env -u CAUSEWAY_CONFIG COLUMNS=1000 CAUSEWAY_SET='" + sets + "' '" +
                              CAUSEWAY_BINARY_DIR + "/bin/causeway' info " + arguments + " 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {-1, "popen failed"};
  Outcome outcome{0, ""};
  std::array<char, 4096> piece;
  while (const size_t got = fread(piece.data(), 1, piece.size(), pipe)) {
    outcome.output.append(piece.data(), got);
  }
  const int status = pclose(pipe);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

// Would catch: plugins not found from the tool's own place, and colour codes in a pipe.
TEST(Info, ListsThePluginsBesideTheTool) {
  const Outcome outcome = info("");
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("conduit_null.so"), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("memkind_host.so"), std::string::npos);
  EXPECT_NE(outcome.output.find("plugin interface  2.0"), std::string::npos);
  EXPECT_EQ(outcome.output.find('\033'), std::string::npos);
}

// Would catch: a bad plugin that --failed overlooks because its manifest is fine, and status 0.
TEST(Info, FailedNamesFileAndReason) {
  const Outcome outcome = info("--failed", "plugins.path=[" + plugin_directory("undefined") + "]");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.output.find(plugin_file("undefined") +
                                ": cannot be loaded: undefined symbol: nobody_defines_this"),
            std::string::npos)
      << outcome.output;
}

// Would catch: JSON that no parser reads (JSON is YAML, and yaml-cpp is at hand).
TEST(Info, JsonParses) {
  const Outcome outcome = info("--json", "plugins.path=[" + plugin_directory("too_old") + "]");
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  const YAML::Node root = YAML::Load(outcome.output);
  EXPECT_EQ(root["plugin_interface"].as<std::string>(), "2.0");
  EXPECT_GE(root["plugins"].size(), 2u);
  ASSERT_EQ(root["failures"].size(), 1u);
  EXPECT_EQ(root["failures"][0]["file"].as<std::string>(), plugin_file("too_old"));
}

// Would catch: conduits that are installed and not asked, and tables without their facts.
TEST(Info, DevicesOfEveryConduit) {
  const Outcome table = info("--devices");
  EXPECT_EQ(table.status, 0) << table.output;
  EXPECT_NE(table.output.find("shm      host"), std::string::npos) << table.output;
  EXPECT_NE(table.output.find("no hardware, no peers"), std::string::npos) << table.output;
  const Outcome outcome = info("--devices --json", "conduits.mine={plugin: shm}");
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  std::map<std::string, YAML::Node> by_conduit;
  for (const YAML::Node& each : YAML::Load(outcome.output))
    by_conduit[each["conduit"].as<std::string>()] = each["devices"];
  ASSERT_EQ(by_conduit["mine"].size(), 1u) << outcome.output;
  const YAML::Node host = by_conduit["mine"][0];
  EXPECT_EQ(host["name"].as<std::string>(), "host");
  EXPECT_EQ(host["state"].as<std::string>(), "up");
  EXPECT_EQ(host["numa_node"].as<int>(), -1);
  EXPECT_TRUE(host["distance"].IsNull());
  EXPECT_EQ(by_conduit["null"].size(), 1u);
}

// Would catch: options hidden, or shown without their defaults.
TEST(Info, VerboseShowsOptions) {
  const Outcome outcome = info("-v --plugins");
  EXPECT_NE(outcome.output.find("Options of memkind host"), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("alignment"), std::string::npos);
}

// Would catch: --config that is not what load_config would read again.
TEST(Info, ConfigIsYaml) {
  const Outcome outcome = info("--config", "timeouts.start=7s");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(YAML::Load(outcome.output)["timeouts"]["start"].as<std::string>(), "7s")
      << outcome.output;
}

// Would catch: a broken configuration hiding the list of plugins, or passing unnoticed.
TEST(Info, BrokenConfigurationIsReportedAndTheRestShown) {
  const Outcome outcome = info("", "no.such.key=1");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.output.find("no.such.key"), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("conduit_null.so"), std::string::npos) << outcome.output;
  EXPECT_EQ(info("--nonsense").status, 2);
}

}  // namespace
}  // namespace causeway::loader_test
