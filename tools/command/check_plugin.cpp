// causeway check-plugin: reads a plugin's manifest, then runs the installed conformance suite on
// it.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/own_path.h"
#include "commands.h"
#include "loader/loader.h"
#include "text.h"

namespace causeway::command {
namespace {

struct CheckPluginArguments {
  std::string file, device, filter;
  std::vector<std::string> sets;
  uint64_t seed = 0;
  uint32_t slow = 1;
  bool list = false, json = false, verbose = false;
};

// <prefix>/libexec/causeway, in the installed tree and in the build tree.
std::string suite_path() {
  return own_prefix() + "/libexec/causeway/causeway-conformance";
}

std::vector<std::string> suite_command(const CheckPluginArguments& a, const std::string& suite) {
  std::vector<std::string> command = {suite, "--plugin", a.file};
  if (!a.device.empty()) command.insert(command.end(), {"--device", a.device});
  for (const std::string& set : a.sets) command.insert(command.end(), {"--set", set});
  if (a.seed != 0) command.insert(command.end(), {"--seed", std::to_string(a.seed)});
  if (a.slow != 1) command.insert(command.end(), {"--slow", std::to_string(a.slow)});
  if (!a.filter.empty()) command.insert(command.end(), {"--filter", a.filter});
  if (a.list) command.emplace_back("--list");
  if (a.json) command.insert(command.end(), {"--json", "-"});
  if (a.verbose) command.emplace_back("--verbose");
  return command;
}

// Does not return when the suite could be started.
int become(const std::vector<std::string>& command) {
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  execv(argv[0], argv.data());
  fmt::print(stderr, "{}: the conformance suite cannot be started: {}\n", command[0],
             std::strerror(errno));
  return kFailed;
}

int check_plugin(const CheckPluginArguments& a) {
  try {
    const Manifest m = read_manifest(a.file);
    if (!a.json) {
      print_folded(
          fmt::format("{} {} {}, plugin interface {}.{}{}{}", kind_word(m.kind), m.name, m.version,
                      m.api_major, m.api_minor, m.summary.empty() ? "" : ": ", m.summary),
          "");
    }
  } catch (const Error& e) {
    const bool name = a.file.find('/') == std::string::npos;
    fmt::print(stderr, "{}{}\n", e.text(),
               name ? "; the path of a .so file is asked for (`causeway info` lists them)" : "");
    return kFailed;
  }
  const std::string suite = suite_path();
  if (access(suite.c_str(), X_OK) != 0) {
    fmt::print(stderr,
               "{}: the conformance suite is not there; `cmake --install` puts it there, and in a "
               "build tree `cmake --build . --target causeway-conformance`\n",
               suite);
    return kFailed;
  }
  std::fflush(nullptr);  // exec drops what is still buffered
  return become(suite_command(a, suite));
}

}  // namespace

void add_check_plugin(Options& app, int& status) {
  auto a = std::make_shared<CheckPluginArguments>();
  Options& sub = app.subcommand("check-plugin", "Check a plugin file against its interface",
                                [a, &status] { status = check_plugin(*a); });
  sub.option("file", a->file, "The plugin, a .so file").required();
  sub.option("--device", a->device, "Device to open instead of the plugin's choice");
  sub.option("--set", a->sets, "Option of the plugin, key=value (repeatable)").one_at_a_time();
  sub.option("--filter", a->filter, "Run only cases that match, e.g. 'Rma.*:-*4MiB'");
  sub.option("--seed", a->seed, "Repeat the random cases of an earlier run");
  sub.option("--slow", a->slow, "Times longer limits and smaller volumes, for slow machines")
      .in_range(1, 1000);
  sub.flag("--list", a->list, "Print the cases and what each needs");
  sub.flag("--json", a->json, "Results as JSON");
  sub.flag("-v,--verbose", a->verbose, "One line for every case");
  sub.footer(
      "Exit status: 0 nothing failed, 1 a case failed or the file is no usable plugin, 2 usage,\n"
      "124 a call into the plugin hung, 128+N the plugin crashed with signal N.");
}

}  // namespace causeway::command
