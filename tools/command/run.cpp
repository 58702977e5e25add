// causeway run: starts a program on this host with N ranks.
#include <fmt/core.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "config/config.h"
#include "config/set_text.h"
#include "diag/error.h"
#include "launch/launch.h"

namespace causeway::command {
namespace {

constexpr uint32_t kMostRanks = 4096;

struct RunOptions {
  uint32_t ranks = 1;
  std::string config;
  std::vector<std::string> sets;
  bool tag_output = false;
  double timeout_s = 0.0;
  std::string stdin_rank = "0";
  std::vector<std::string> command;
};

std::string joined_sets(const std::vector<std::string>& sets) {
  const char* outer = std::getenv("CAUSEWAY_SET");
  std::string text = outer == nullptr ? "" : outer;
  for (const std::string& set : sets) {
    if (!text.empty()) text += ',';
    text += escape_set(set);
  }
  return text;
}

// The ranks' configuration is checked here, so that a mistake is reported once and before anything
// has started; the launcher's own times come from it.
void apply_config(const RunOptions& run, LaunchOptions& launch) {
  ConfigSources sources = ConfigSources::from_environment();
  if (!run.config.empty()) sources.file = std::filesystem::absolute(run.config).string();
  sources.sets.insert(sources.sets.end(), run.sets.begin(), run.sets.end());
  const Timeouts timeouts = load_config(sources).timeouts;
  launch.exit_grace_s = static_cast<double>(timeouts.exit_ns) * 1e-9;
  launch.kill_grace_s = static_cast<double>(timeouts.kill_ns) * 1e-9;
  if (!run.config.empty()) launch.environment.emplace_back("CAUSEWAY_CONFIG", *sources.file);
  if (!run.sets.empty()) launch.environment.emplace_back("CAUSEWAY_SET", joined_sets(run.sets));
}

LaunchOptions to_launch(const RunOptions& run) {
  LaunchOptions launch;
  launch.ranks = run.ranks;
  launch.command = run.command;
  launch.tag_output = run.tag_output;
  if (run.timeout_s > 0.0) launch.timeout_s = run.timeout_s;
  if (run.stdin_rank == "none") {
    launch.stdin_rank.reset();
  } else {
    launch.stdin_rank = static_cast<uint32_t>(std::stoul(run.stdin_rank));
    if (*launch.stdin_rank >= run.ranks)
      throw Error(CWY_ERR_INVALID, "--stdin {}: the job has ranks 0 to {} only", run.stdin_rank,
                  run.ranks - 1);
  }
  apply_config(run, launch);
  return launch;
}

std::string check_stdin(const std::string& text) {
  const bool digits =
      !text.empty() && text.size() < 6 && text.find_first_not_of("0123456789") == std::string::npos;
  return text == "none" || digits ? "" : "'" + text + "' is neither a rank nor 'none'";
}

std::string check_set(const std::string& text) {
  const size_t equals = text.find('=');
  return equals != std::string::npos && equals > 0 ? ""
                                                   : "'" + text + "' is not of the form path=value";
}

}  // namespace

void add_run(CLI::App& app, int& status) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* run = app.add_subcommand("run", "Start a program on this host with N ranks");
  run->add_option("-n,--ranks", options->ranks, "Number of ranks")
      ->required()
      ->check(CLI::Range(1u, kMostRanks));
  run->add_option("--config", options->config, "Configuration file of the ranks")
      ->check(CLI::ExistingFile);
  run->add_option("--set", options->sets, "Override one configuration value: path=value")
      ->check(check_set)
      ->expected(1)
      ->take_all();
  run->add_flag("--tag-output", options->tag_output, "Put \"[rank] \" before every line");
  run->add_option("--timeout", options->timeout_s, "End the job after this many seconds")
      ->check(CLI::PositiveNumber);
  run->add_option("--stdin", options->stdin_rank, "Rank that reads stdin, or none")
      ->check(check_stdin)
      ->capture_default_str();
  run->add_option("program", options->command, "Program and its arguments")
      ->required()
      ->option_text("[--] PROG ARGS...");
  run->positionals_at_end();
  run->footer(
      "Status: the first abnormal death's 128+signal, else the first non-zero status;\n"
      "124 after --timeout, 126 or 127 when the program cannot be started.");
  run->callback([options, &status] {
    try {
      status = launch_job(to_launch(*options));
    } catch (const Error& e) {
      std::cerr << "causeway run: " << e.text() << std::endl;
      status = kFailed;
    }
  });
}

}  // namespace causeway::command
