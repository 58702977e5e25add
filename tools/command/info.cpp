// causeway info: what this copy of Causeway is, which plugins it finds, what failed, and the
// configuration in force; in a job, what the other ranks cost one in memory.
#include <fmt/ranges.h>
#include <gasnetex.h>
#include <hwloc.h>
#include <pmix_version.h>

#include <atomic>
#include <cstdio>
#include <set>

#include "base/error.h"
#include "base/log.h"
#include "base/own_path.h"
#include "commands.h"
#include "config/config.h"
#include "info_devices.h"
#include "loader/loader.h"
#include "object/connect.h"
#include "probe_services.h"
#include "process/report.h"
#include "text.h"
#include "world.h"

namespace causeway::command {
namespace {

struct InfoArguments {
  bool failed = false;
  bool plugins = false;
  bool config = false;
  bool peers = false;
  bool devices = false;
  bool verbose = false;
  bool json = false;
};

struct Facts {
  Config config;
  std::string config_problem;  // lines; empty when all is well
  std::vector<std::string> search_path;
  std::vector<Manifest> plugins;
  std::vector<LoadFailure> failures;
};

// Loads everything that was found and everything the configuration names: a missing library or a
// failing init shows only then. The loader remembers what went wrong.
void try_to_load(Loader& loader, const Config& config, const std::vector<Manifest>& plugins) {
  std::set<std::string> conduits, memkinds, collectives;
  for (const ConduitSpec& conduit : config.conduits) conduits.insert(conduit.plugin);
  memkinds.insert(config.memkind_plugins.begin(), config.memkind_plugins.end());
  collectives.insert(config.collective_plugins.begin(), config.collective_plugins.end());
  for (const Manifest& plugin : plugins) {
    switch (plugin.kind) {
      case PluginKind::conduit:
        conduits.insert(plugin.name);
        break;
      case PluginKind::memkind:
        memkinds.insert(plugin.name);
        break;
      case PluginKind::collective:
        collectives.insert(plugin.name);
        break;
    }
  }
  for (const std::string& name : conduits) loader.conduit(name);
  for (const std::string& name : memkinds) loader.memkind(name);
  for (const std::string& name : collectives) loader.collective(name);
}

Facts gather(const InfoArguments& arguments) {
  Facts facts;
  try {
    facts.config = load_config(ConfigSources::from_environment());
  } catch (const Error& error) {
    facts.config_problem = error.text();
  }
  Config quiet = facts.config;
  quiet.on_load_error = LoadErrorPolicy::ignore;  // failures are what this command is about
  Loader loader(quiet, probe_services(1, quiet.timeouts.start_ns));
  facts.search_path = loader.search_path();
  facts.plugins = loader.list();
  if (arguments.failed) try_to_load(loader, quiet, facts.plugins);
  facts.failures = loader.failures();
  return facts;
}

std::string interface_version() {
  return fmt::format("{}.{}", CWY_PLUGIN_MAJOR, CWY_PLUGIN_MINOR);
}

std::string pmix_version() {
  return fmt::format("{}.{}.{}", PMIX_VERSION_MAJOR, PMIX_VERSION_MINOR, PMIX_VERSION_RELEASE);
}

std::string hwloc_version() {
  return fmt::format("{}.{}", HWLOC_API_VERSION >> 16, (HWLOC_API_VERSION >> 8) & 0xff);
}

void print_version(const Facts& facts) {
  fmt::print("{}\n", bold(fmt::format("Causeway {}", CAUSEWAY_VERSION)));
  std::vector<std::vector<std::string>> rows{
      {"plugin interface", interface_version()},
      {"built with", fmt::format("PMIx {}, hwloc API {}, compiler {}", pmix_version(),
                                 hwloc_version(), __VERSION__)},
      {"prefix", own_prefix()}};
  std::string label = "search path";
  for (const std::string& directory : facts.search_path) {
    rows.push_back({label, directory});
    label.clear();
  }
  print_columns(rows);
}

std::string limits(const OptionSchema& option) {
  if (!option.choices.empty()) return fmt::format("{}", fmt::join(option.choices, " | "));
  if (option.min_text.empty() && option.max_text.empty()) return option.type;
  return fmt::format("{} {}..{}", option.type, option.min_text, option.max_text);
}

void print_options(const Manifest& plugin) {
  if (plugin.options.empty()) return;
  fmt::print("\n{}\n", bold(fmt::format("Options of {} {}", kind_word(plugin.kind), plugin.name)));
  std::vector<std::vector<std::string>> rows{{"option", "type", "default", "meaning"}};
  for (const OptionSchema& option : plugin.options) {
    rows.push_back({option.key, limits(option),
                    option.default_text.empty() ? "\"\"" : option.default_text, option.help});
  }
  print_columns(rows);
}

// The name alone where there is but one directory, which is printed above.
std::string short_path(const Facts& facts, const std::string& path) {
  const size_t slash = path.rfind('/');
  const bool told = facts.search_path.size() == 1 && path.substr(0, slash) == facts.search_path[0];
  return told ? path.substr(slash + 1) : path;
}

void print_plugins(const Facts& facts, bool verbose) {
  fmt::print("{}\n", bold("Plugins"));
  std::vector<std::vector<std::string>> rows{{"kind", "name", "version", "summary", "file"}};
  for (const Manifest& plugin : facts.plugins) {
    rows.push_back({kind_word(plugin.kind), plugin.name, plugin.version, plugin.summary,
                    short_path(facts, plugin.path)});
  }
  if (facts.plugins.empty())
    fmt::print("  none found\n");
  else
    print_columns(rows);
  if (verbose)
    for (const Manifest& plugin : facts.plugins) print_options(plugin);
}

void print_failures(const Facts& facts) {
  if (facts.failures.empty()) {
    fmt::print("Every plugin found or configured loads.\n");
    return;
  }
  fmt::print("{}\n", bold("Failed"));
  for (const LoadFailure& failure : facts.failures)
    print_folded(fmt::format("{}: {}", failure.path, failure.reason));
}

std::string json_options(const Manifest& plugin) {
  return json_each(plugin.options, [](const OptionSchema& option) {
    return fmt::format(
        R"({{"key":{},"type":{},"default":{},"min":{},"max":{},"choices":{},"help":{}}})",
        json_text(option.key), json_text(option.type), json_text(option.default_text),
        json_text(option.min_text), json_text(option.max_text), json_texts(option.choices),
        json_text(option.help));
  });
}

std::string json_plugins(const Facts& facts) {
  return json_each(facts.plugins, [](const Manifest& plugin) {
    return fmt::format(
        R"({{"kind":"{}","name":{},"version":{},"summary":{},"license":{},"api":"{}.{}",)"
        R"("min_core_minor":{},"file":{},"options":{}}})",
        kind_word(plugin.kind), json_text(plugin.name), json_text(plugin.version),
        json_text(plugin.summary), json_text(plugin.license), plugin.api_major, plugin.api_minor,
        plugin.min_core_minor, json_text(plugin.path), json_options(plugin));
  });
}

std::string json_failures(const Facts& facts) {
  return json_each(facts.failures, [](const LoadFailure& failure) {
    return fmt::format(R"({{"file":{},"reason":{}}})", json_text(failure.path),
                       json_text(failure.reason));
  });
}

// A single object; sections that were not asked for are absent.
void print_json(const InfoArguments& arguments, const Facts& facts, bool everything) {
  std::string out = fmt::format(
      R"({{"version":"{}","plugin_interface":"{}","pmix":"{}","hwloc_api":"{}","prefix":{},)"
      R"("search_path":{})",
      CAUSEWAY_VERSION, interface_version(), pmix_version(), hwloc_version(),
      json_text(own_prefix()), json_texts(facts.search_path));
  if (everything || arguments.plugins) out += ",\"plugins\":" + json_plugins(facts);
  if (everything || arguments.failed) out += ",\"failures\":" + json_failures(facts);
  if (arguments.config)
    out += ",\"config\":" + (facts.config_problem.empty() ? json_text(facts.config.text) : "null");
  if (!facts.config_problem.empty())
    out += ",\"config_problem\":" + json_text(facts.config_problem);
  fmt::print("{}}}\n", out);
}

void print_text(const InfoArguments& arguments, const Facts& facts, bool everything) {
  const char* gap = "";
  if (everything) {
    print_version(facts);
    gap = "\n";
  }
  if (everything || arguments.plugins) {
    fmt::print("{}", gap);
    print_plugins(facts, arguments.verbose);
    gap = "\n";
  }
  if (arguments.failed) {
    fmt::print("{}", gap);
    print_failures(facts);
    gap = "\n";
  } else if (!facts.failures.empty() && !arguments.config) {
    fmt::print("\n{} not usable here; `causeway info --failed` says why\n",
               facts.failures.size() == 1
                   ? std::string("1 plugin or directory is")
                   : fmt::format("{} plugins or directories are", facts.failures.size()));
  }
  if (arguments.config && facts.config_problem.empty())
    fmt::print("{}{}\n", gap, facts.config.text);
}

// ---- --peers, as the program of a job: what the other ranks cost rank 0 in memory, once it has
// heard from each of them.

constexpr gex_AM_Index_t kHandler = GEX_AM_INDEX_BASE;
std::atomic<uint32_t> answers{0};  // relaxed: counted and read where nothing else is handed over

void answer(gex_Token_t token, gex_AM_Arg_t asked) {
  if (asked == 0)
    answers.fetch_add(1, std::memory_order_relaxed);
  else
    gex_AM_ReplyShort1(token, kHandler, 0, 0);
}

void barrier(gex_TM_t team) {
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
}

void hear_from_everybody(gex_TM_t team) {
  const gex_Rank_t ranks = gex_TM_QuerySize(team);
  for (gex_Rank_t r = 1; r < ranks; ++r) gex_AM_RequestShort1(team, r, kHandler, 0, 1);
  GASNET_BLOCKUNTIL(answers.load(std::memory_order_relaxed) == ranks - 1);
}

void print(bool json) {
  if (!json) {
    fmt::print("{}\n", footprint_text());
    return;
  }
  const std::string connections = json_each(connection_costs(), [](const ConnectionCost& c) {
    return fmt::format(R"({{"conduit":{},"connections":{},"bytes":{},"shared":{}}})",
                       json_text(c.conduit), c.count, c.bytes, c.shared);
  });
  fmt::print(R"({{"uncontacted":{},"connections":{}}})"
             "\n",
             bytes_of_uncontacted_peer(), connections);
}

// On every rank of a job; rank 0 prints. Returns only where there is no job.
int info_peers(bool json) {
  if (!in_a_job()) {
    fmt::print(stderr,
               "causeway info --peers is the program of a job: causeway run -n 4 causeway info "
               "--peers\n");
    return kUsage;
  }
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t team;
  int argc = 0;
  char** argv = nullptr;
  if (gex_Client_Init(&client, &ep, &team, "CAUSEWAY_INFO", &argc, &argv, 0) != GASNET_OK)
    return kFailed;
  constexpr gex_Flags_t kBoth = GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQREP;
  const auto function = reinterpret_cast<gex_AM_Fn_t>(answer);
  gex_AM_Entry_t entries[] = {{kHandler, function, kBoth, 1, nullptr, "answer"}};
  gex_EP_RegisterHandlers(ep, entries, 1);
  count_connections();
  barrier(team);
  if (gex_TM_QueryRank(team) == 0) {
    hear_from_everybody(team);
    print(json);
    std::fflush(stdout);
  }
  barrier(team);
  gasnet_exit(kOk);
}

int info(const InfoArguments& arguments) {
  if (arguments.peers) return info_peers(arguments.json);
  const Facts facts = gather(arguments);
  if (arguments.devices && facts.config_problem.empty())
    return info_devices(facts.config, arguments.json);
  const bool everything = !arguments.failed && !arguments.plugins && !arguments.config;
  if (!facts.config_problem.empty()) fmt::print(stderr, "{}\n", facts.config_problem);
  if (arguments.json)
    print_json(arguments, facts, everything);
  else
    print_text(arguments, facts, everything);
  const bool bad = !facts.config_problem.empty() || (arguments.failed && !facts.failures.empty());
  return bad ? kFailed : kOk;
}

}  // namespace

void add_info(Options& app, int& status) {
  auto arguments = std::make_shared<InfoArguments>();
  Options& command =
      app.subcommand("info", "Show version, search path, plugins, and what could not be loaded",
                     [arguments, &status] { status = info(*arguments); });
  command.flag("--failed", arguments->failed,
               "try to load everything and list what fails; exit status 1 if anything does");
  command.flag("--plugins", arguments->plugins, "list the plugins only");
  command.flag("--config", arguments->config, "print the configuration in force, as YAML");
  command.flag("--peers", arguments->peers,
               "as the program of a job: the memory that a rank takes which was never "
               "contacted, and a connection to each rank");
  command.flag("--devices", arguments->devices,
               "list the devices that each conduit finds here, with their state, speed and "
               "distance from this process's processors");
  command.flag("-v,--verbose", arguments->verbose, "also list every plugin's options");
  command.flag("--json", arguments->json, "print JSON");
}

}  // namespace causeway::command
