// causeway check-config FILE: everything that is wrong with a configuration file, or what it says.
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "collective/table.h"
#include "commands.h"
#include "config/load_config.h"
#include "config/peer_rules.h"
#include "connection/prepare.h"
#include "kinds/device.h"
#include "loader/check_options.h"
#include "loader/search.h"
#include "probe_services.h"
#include "text.h"
#include "world.h"

namespace causeway::command {
namespace {

struct CheckConfigArguments {
  std::vector<std::string> files;
  std::vector<std::string> sets;
  bool no_site = false;
  bool json = false;
  bool print = false;
  bool strict = false;
};

std::string json_list(const std::vector<Problem>& problems) {
  return json_each(problems, [](const Problem& problem) {
    return fmt::format(R"({{"file":{},"line":{},"column":{},"message":{}}})",
                       json_text(problem.where.source), problem.where.line, problem.where.column,
                       json_text(problem.message));
  });
}

using Row = std::vector<std::string>;

std::string joined(const std::vector<std::string>& words, const char* separator) {
  return fmt::format("{}", fmt::join(words, separator));
}

std::string match_text(const PeerRule& rule) {
  std::vector<std::string> parts;
  if (rule.locality) parts.emplace_back(locality_word(*rule.locality));
  if (!rule.host_glob.empty()) parts.push_back("host " + rule.host_glob);
  if (!rule.rank_set.empty()) parts.push_back("ranks " + rule.rank_set);
  return parts.empty() ? "any peer" : joined(parts, ", ");
}

std::string use_text(const PeerRule& rule) {
  std::string out = joined(rule.use, " then ");
  for (const auto& [operation, conduit] : rule.operations)
    out += fmt::format("; {} by {}", operation, conduit);
  return rule.require ? out + "; required" : out;
}

void print_summary(const Config& config) {
  std::vector<Row> rows{{"conduit", "plugin", "device", "native operations"}};
  for (const ConduitSpec& conduit : config.conduits) {
    std::string native = "all";
    if (conduit.native) native = conduit.native->empty() ? "none" : joined(*conduit.native, " ");
    rows.push_back(
        {conduit.name, conduit.plugin, conduit.device.empty() ? "-" : conduit.device, native});
  }
  print_columns(rows);
  fmt::print("\n");
  rows = {{"rule", "peers", "conduits"}};
  for (const PeerRule& rule : config.peers)
    rows.push_back({rule.label, match_text(rule), use_text(rule)});
  for (const Locality place : {Locality::self, Locality::nbrhd, Locality::remote}) {
    const auto may_match = [place](PeerRule rule) {
      rule.host_glob = rule.rank_set = "";
      return rule.matches(place, "", 0);
    };
    if (std::none_of(config.peers.begin(), config.peers.end(), may_match))
      rows.push_back({"(no rule)", locality_word(place), "none: a job with such peers ends"});
  }
  print_columns(rows);
}

// Says of the configuration what a start on this machine would, by the same code: it loads plugins,
// configures conduits, opens those that the user speaks of, and reads the rules. What a start would
// do without, or would not look at, is no more than a warning: the file may be meant for another
// machine.
class PluginLook {
 public:
  PluginLook(const Config& config, CheckedConfig& findings)
      : config_(quiet(config)),
        fatal_(config.on_load_error == LoadErrorPolicy::fail),
        findings_(findings),
        loader_(config_, probe_services(1, config_.timeouts.start_ns)) {
    look_at_path();
    look_at_conduits();
    look_at_memkinds();
    look_at_collectives();
  }

 private:
  // Loading complains here, with the place, instead of in the log.
  static Config quiet(Config config) {
    config.on_load_error = LoadErrorPolicy::ignore;
    return config;
  }
  static Config built_in() {
    ConfigSources nothing;
    nothing.site_file = "";
    return *check_config(nothing).config;
  }

  void find_fault(bool fatal, const Origin& where, std::string text) {
    if (fatal)
      findings_.problems.add(where, std::move(text));
    else
      findings_.warnings.push_back({where, std::move(text)});
  }

  Origin origin_of(const std::string& path) const {
    const auto found = config_.origins.find(path);
    return found == config_.origins.end() ? Origin{path, 0, 0} : found->second;
  }

  void look_at_path() {
    for (size_t i = 0; i < config_.plugin_path.size(); ++i) {
      std::error_code failure;
      const std::filesystem::directory_iterator tried(config_.plugin_path[i], failure);
      if (failure)
        find_fault(false, origin_of(fmt::format("plugins.path[{}]", i)),
                   fmt::format("the plugin directory '{}' cannot be searched: {}",
                               config_.plugin_path[i], failure.message()));
    }
  }

  void look_at_conduits() {
    std::vector<ConduitFailure> failures;
    std::vector<PreparedConduit> prepared =
        prepare_conduits(config_, loader_, WhichConduits::used, failures, findings_.problems);
    for (PreparedConduit& one : prepared) try_to_open(one);
    for (const ConduitSpec& conduit : config_.conduits) {
      const bool used = conduit.open_always || config_.uses_conduit(conduit.name);
      const bool fatal = fatal_ && used && conduit.where.source != kBuiltInSource;
      if (!is_there(PluginKind::conduit, conduit.plugin, conduit.where, fatal)) continue;
      if (!used) {
        look_at_unused(conduit);
        continue;
      }
      for (const ConduitFailure& failure : failures) {
        if (failure.name == conduit.name)
          find_fault(fatal, conduit.where,
                     fmt::format("conduit {}: {}", conduit.name, failure.reason));
      }
    }
  }

  // Some plugins see only then what is wrong with their options. It may also be this machine.
  void try_to_open(PreparedConduit& prepared) {
    const Origin& where = prepared.spec->where;
    if (where.source == kBuiltInSource && prepared.spec->option_origins.empty()) return;
    try {
      const Conduit opened(0, *prepared.spec, std::move(prepared.configured));
    } catch (const OptionRefused& e) {
      findings_.problems.add(e.where, e.text());
    } catch (const Error& e) {
      std::string text = e.text();
      const std::string place = " (" + where.str() + ")";  // a finding begins with it
      if (const size_t at = text.find(place); at != std::string::npos) text.erase(at, place.size());
      find_fault(fatal_, where, text);
    }
  }

  void look_at_unused(const ConduitSpec& conduit) {
    Problems wrong;
    check_manifest(PluginKind::conduit, conduit.plugin, conduit.options, conduit.option_origins,
                   conduit.where, wrong);
    for (const Problem& problem : wrong.list())
      find_fault(false, problem.where,
                 fmt::format("conduit {}, which no rule uses: {}", conduit.name, problem.message));
  }

  // Kinds are loaded when a client asks for their memory.
  void look_at_memkinds() {
    const std::vector<std::string> usual = built_in().memkind_plugins;
    for (size_t i = 0; i < config_.memkind_plugins.size(); ++i) {
      const std::string& name = config_.memkind_plugins[i];
      const Origin where = origin_of(fmt::format("plugins.memkinds[{}]", i));
      if (!is_there(PluginKind::memkind, name, where, false, usual)) continue;
      const KindOptions written = kind_options(config_, name);
      check_manifest(PluginKind::memkind, name, written.values, written.origins, where,
                     findings_.problems);
    }
  }

  void look_at_collectives() {
    const std::vector<std::string> usual = built_in().collective_plugins;
    for (size_t i = 0; i < config_.collective_plugins.size(); ++i) {
      const Origin where = origin_of(fmt::format("plugins.collectives[{}]", i));
      const std::string& name = config_.collective_plugins[i];
      if (!is_there(PluginKind::collective, name, where, fatal_, usual)) continue;
      if (loader_.collective(name) == nullptr)
        find_fault(fatal_, where, fmt::format("collective plugin {}: {}", name, why_not(name)));
    }
    try {
      const CollectiveTable rules(config_, loader_);
    } catch (const Error& e) {
      add_lines(e.text());
    }
  }

  std::string why_not(const std::string& collective) const {
    for (const LoadFailure& failure : loader_.failures())
      if (failure.path.find(plugin_file_name(PluginKind::collective, collective)) !=
          std::string::npos)
        return failure.reason;
    return "it cannot be loaded";
  }

  // Lines that begin with the place of a rule.
  void add_lines(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      Origin where{"collectives.rules", 0, 0};
      for (const CollectiveRule& rule : config_.collective_rules) {
        const std::string place = rule.where.str() + ": ";
        if (line.rfind(place, 0) != 0) continue;
        where = rule.where;
        line.erase(0, place.size());
        break;
      }
      findings_.problems.add(where, line);
    }
  }

  void check_manifest(PluginKind kind, const std::string& name,
                      const std::map<std::string, std::string>& values,
                      const std::map<std::string, Origin>& origins, const Origin& where,
                      Problems& problems) {
    const std::vector<std::string> files = files_named(loader_.search_path(), kind, name);
    try {
      check_options(read_manifest(files.front()), values, origins, problems);
    } catch (const Error& e) {
      find_fault(false, where, e.text());
    }
  }

  // Plugins that the built-in default names are not in every installation.
  bool is_there(PluginKind kind, const std::string& name, const Origin& where, bool fatal,
                const std::vector<std::string>& usual = {}) {
    if (!files_named(loader_.search_path(), kind, name).empty()) return true;
    if (fatal || std::find(usual.begin(), usual.end(), name) == usual.end())
      find_fault(fatal, where,
                 fmt::format("there is no plugin '{}' on this machine: no {} in {}", name,
                             plugin_file_name(kind, name), joined(loader_.search_path(), ", ")));
    return false;
  }

  const Config config_;
  const bool fatal_;
  CheckedConfig& findings_;
  Loader loader_;
};

int report(const CheckConfigArguments& arguments, CheckedConfig checked) {
  // All in one run: what is wrong in the text does not hide what is wrong with the rest.
  if (const auto& readable = checked.config ? checked.config : checked.rest) {
    PluginLook(Config(*readable), checked);
    checked.problems.sort(checked.order);
  }
  const bool ok = checked.problems.empty() && (checked.warnings.empty() || !arguments.strict);
  if (arguments.json) {
    fmt::print("{{\"ok\":{},\"problems\":{},\"warnings\":{}}}\n", ok,
               json_list(checked.problems.list()), json_list(checked.warnings));
    return ok ? kOk : kFailed;
  }
  for (const Problem& warning : checked.warnings)
    fmt::print(stderr, "{} (warning)\n", warning.str());
  if (!ok && checked.problems.empty()) return kFailed;
  if (!ok) {
    constexpr size_t most = 20;
    fmt::print(stderr, "{}\n", checked.problems.text(most));
    return kFailed;
  }
  if (arguments.print) {
    fmt::print("{}", checked.config->text);
    return kOk;
  }
  fmt::print("{}: ok\n\n", joined(arguments.files, ", "));
  print_summary(*checked.config);
  return kOk;
}

}  // namespace

void add_check_config(Options& app, int& status) {
  auto arguments = std::make_shared<CheckConfigArguments>();
  Options& command = app.subcommand(
      "check-config", "Check a configuration file and say what it decides, or what is wrong",
      [arguments, &status] {
        ConfigSources sources;
        if (arguments->no_site) sources.site_file = "";
        sources.files = arguments->files;
        sources.variables = ConfigSources::from_environment().variables;
        add_sets(sources, arguments->sets);
        status = report(*arguments, check_config(sources));
      });
  command.option("file", arguments->files, "The file, or several, each over those before it")
      .required()
      .named("FILE");
  command.option("--set", arguments->sets, "Also apply path.to.key=value (repeatable)")
      .named("PATH=VALUE")
      .one_at_a_time();
  command.flag("--no-site", arguments->no_site,
               "Leave out the site file <prefix>/etc/causeway.yaml");
  command.flag("--print", arguments->print, "Print the whole merged configuration as YAML");
  command.flag("--json", arguments->json, "Print the findings as JSON");
  command.flag("--strict", arguments->strict,
               "Warnings count: a plugin that is not found on this machine, a setting "
               "without effect");
  command.footer(
      "The file is checked by itself: CAUSEWAY_SET and GASNET_* variables are not looked at.\n"
      "Exit status: 0 nothing is wrong, 1 something is, 2 usage.");
}

}  // namespace causeway::command
