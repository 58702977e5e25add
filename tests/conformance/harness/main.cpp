// causeway-conformance: checks one plugin file against the plugin interface. Run by people through
// `causeway check-plugin FILE`. Exit status: 0 nothing failed, 1 a case failed or the file is not
// a plugin, 2 the command line is wrong, 124 hung, 128+n crashed by signal n.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "base/error.h"
#include "cases.h"
#include "expect.h"
#include "kinds/kinds.h"
#include "leftovers.h"
#include "loader/elf_section.h"
#include "options/options.h"
#include "partner.h"
#include "report.h"
#include "session.h"
#include "supervise.h"

namespace causeway::conformance {
namespace {

struct CommandLine {
  Settings settings;
  std::string json;
  std::string filter;
  bool list = false;
};

// The words of the manifest for this case under `exceptions`, or "": "GLOB: why", or "GLOB with
// OPTION=VALUE: why" for those that have set it so.
std::string exception_of(const Case& c, const YAML::Node& exceptions) {
  constexpr std::string_view with = " with ";
  for (const auto& entry : exceptions) {
    const auto key = entry.first.as<std::string>();
    const size_t end = key.find(with);
    if (matching({c}, key.substr(0, end)).empty()) continue;
    const std::string setting = end == std::string::npos ? "" : key.substr(end + with.size());
    const auto& set = world().settings.options;
    const auto is_it = [&](const auto& option) {
      return option.first + '=' + option.second == setting;
    };
    if (setting.empty() || std::any_of(set.begin(), set.end(), is_it))
      return entry.second.as<std::string>();
  }
  return "";
}

// Runs one case: skips with a reason, turns the suite's exceptions into failures.
void run_case(const Case& c, const YAML::Node& exceptions) {
  if (const std::string why = exception_of(c, exceptions); !why.empty())
    return note_skip("a promise that the plugin's manifest excepts: " + why);
  if (const std::string lack = missing(c.needs); !lack.empty()) return note_skip(lack);
  PluginHost::take_violations();
  PluginHost::take_peer_reports();
  watch_case(full_name(c), 90 * kSlowdown);
  try {
    c.body();
  } catch (const Skip& skip) {
    note_skip(skip.capability);
  } catch (const std::exception& e) {
    ADD_FAILURE() << e.what();
  }
  alarm(0);
  // What a killed partner had open stays until somebody sweeps; anything else is a leak.
  const std::string& job = world().settings.job_id;
  if (const bool killed = Partner::killed_open(); killed && !job.empty()) sweep_shm(job);
  if (const std::string left = job.empty() ? "" : left_in_shm(job); !left.empty()) {
    ADD_FAILURE() << "left behind: " << left;
    sweep_shm(job);
  }
  if (const std::string breach = PluginHost::take_violations(); !breach.empty()) {
    ADD_FAILURE() << "against the contract: " << breach;
  }
}

int read_command_line(int argc, char** argv, CommandLine& line) {
  Options app("Checks a Causeway plugin against the plugin interface");
  Settings& s = line.settings;
  std::vector<std::string> sets;
  uint32_t slow = 1;
  app.option("--plugin", s.plugin, "The plugin file").required();
  app.option("--device", s.device, "Device to open (conduits)");
  app.option("--set", sets, "Plugin option key=value (repeatable)");
  app.option("--seed", s.seed, "Seed of the random cases; printed by every run");
  app.option("--json", line.json, "Write the results as JSON to this file; - is stdout");
  app.option("--slow", slow, "Times longer limits and smaller volumes, for slow machines")
      .in_range(1, 1000);
  app.flag("-v,--verbose", s.verbose, "One line for every case");
  app.option(
      "--filter,--gtest_filter", line.filter,
      "Only cases that match one of these globs, a:b, and none behind a dash: 'Rma.*:-*edges'");
  app.flag("--list", line.list, "Print the cases and what they need");
  if (const std::optional<int> ended = app.parse(argc, argv)) return *ended == 0 ? -1 : 2;
  kSlowdown *= slow;
  for (const std::string& set : sets) {
    const size_t equals = set.find('=');
    if (equals == std::string::npos || equals == 0) {
      fmt::print(stderr, "--set {}: expected key=value\n", set);
      return 2;
    }
    s.options[set.substr(0, equals)] = set.substr(equals + 1);
  }
  if (s.seed == 0) s.seed = std::random_device{}() | 1u;
  // dlopen and the forked partner must mean the same file whatever the directory.
  std::error_code ignored;
  if (const auto full = std::filesystem::absolute(s.plugin, ignored); !ignored) s.plugin = full;
  return 0;
}

std::string make_session_dir() {
  const char* base = std::getenv("TMPDIR");
  std::string path =
      fmt::format("{}/causeway-conformance-XXXXXX", base != nullptr && *base != 0 ? base : "/tmp");
  if (mkdtemp(path.data()) == nullptr) {
    throw Error(CWY_ERR_INVALID, "{}: cannot create a session directory", path);
  }
  return path;
}

void list_cases(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    const std::string needs = needs_text(c.needs);
    std::string line = full_name(c);
    constexpr size_t kColumns = 100;  // of a terminal
    if (!needs.empty())
      line += (line.size() + needs.size() > kColumns - 8 ? "\n  needs " : "  needs ") + needs;
    fmt::print("{}\n", line);
  }
}

// Where a limit is too small, most cases would end in the suite itself.
std::vector<Case> within_limits(const std::vector<Case>& cases, bool quiet) {
  const std::string limit = limit_too_small();
  if (limit.empty()) return cases;
  if (!quiet) fmt::print("note: {} is too small for most cases, which do not run\n", limit);
  return matching(all_cases(), fmt::format("{}:Module.classes", limits_case));
}

const char* mode_text() {
  switch (world().mode) {
    case Mode::two_processes:
      return "between two processes";
    case Mode::loopback:
      return "an endpoint talking to itself";
    case Mode::nothing:
      return "no peer";
  }
  return "";
}

int run(CommandLine& line, const Manifest& manifest) {
  const bool conduit = manifest.kind == PluginKind::conduit;
  std::vector<Case> cases =
      matching(conduit ? all_cases() : kind_cases(manifest.kind), line.filter);
  if (line.list) {
    list_cases(cases);
    return 0;
  }
  if (cases.empty()) {
    fmt::print(stderr, "no case matches --filter {}\n", line.filter);
    return 2;
  }
  install_crash_reports();
  const bool quiet = line.json == "-";
  if (conduit) {
    watch_case("start-up", 60 * kSlowdown);
    probe(line.settings);
    alarm(0);
    cases = within_limits(cases, quiet);
  } else {
    load_kind(line.settings, manifest.kind);
  }
  const std::string subject =
      fmt::format("{} {} {}", kind_word(manifest.kind), manifest.name, manifest.version);
  const YAML::Node exceptions = YAML::Load(read_manifest_section(manifest.path))["exceptions"];
  Report report(subject, line.settings.plugin, line.settings.verbose, quiet);
  for (size_t i = 0; i < cases.size(); ++i) {
    report.begin(full_name(cases[i]), i + 1, cases.size());
    run_case(cases[i], exceptions);
    report.end();
  }
  const bool good = report.count(Outcome::Kind::failed) == 0;
  const std::string how = conduit ? mode_text() : "in one process";
  if (!quiet && conduit && world().mode == Mode::nothing) {
    fmt::print("note: no peer could be reached, so little was tested: {}\n",
               one_printable_line(world().why_nothing));
  }
  report.print_summary(how);
  if (!good && !quiet) fmt::print("seed {}\n", line.settings.seed);
  if (!line.json.empty() && !report.write_json(line.json, how, line.settings.seed)) {
    fmt::print(stderr, "{}: cannot write\n", line.json);
    return 1;
  }
  return good ? 0 : 1;
}

int guarded_main(int argc, char** argv) {
  CommandLine line;
  if (const int bad = read_command_line(argc, argv, line); bad != 0) return bad < 0 ? 0 : bad;
  const Manifest manifest = read_manifest(line.settings.plugin);
  line.settings.session_dir = make_session_dir();
  line.settings.job_id = fmt::format("conformance-{}", getpid());
  std::fflush(nullptr);  // nothing buffered may be printed twice by a fork
  Zygote::start(line.settings);
  PluginHost::set_identity(line.settings, 0, 1);
  const int status = run(line, manifest);
  Zygote::stop();
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return status;
  fmt::print(stderr, "causeway-conformance: cannot write the output\n");
  return status == 0 ? 1 : status;
}

}  // namespace
}  // namespace causeway::conformance

int main(int argc, char** argv) {
  using causeway::conformance::one_printable_line;
  const auto tell = [](const std::exception& e) {
    fmt::print(stderr, "causeway-conformance: {}\n", one_printable_line(e.what()));
    return 1;
  };
  try {
    return causeway::conformance::supervise([&] {
      try {
        return causeway::conformance::guarded_main(argc, argv);
      } catch (const std::exception& e) {
        const int status = tell(e);
        causeway::conformance::Zygote::stop();
        return status;
      }
    });
  } catch (const std::exception& e) {
    return tell(e);
  }
}
