// causeway check-config FILE: everything that is wrong with a configuration file, or what it says.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "config/load_config.h"
#include "config/peer_rules.h"
#include "config/set_text.h"
#include "diag/error.h"
#include "loader/search.h"
#include "probe_services.h"
#include "text.h"

namespace causeway::command {
namespace {

struct Arguments {
  std::string file;
  std::vector<std::string> sets;
  bool no_site = false;
  bool json = false;
  bool print = false;
  bool strict = false;
};

std::string json_list(const std::vector<Problem>& problems) {
  std::string out;
  for (const Problem& problem : problems) {
    out += fmt::format(R"({}{{"file":{},"line":{},"column":{},"message":{}}})",
                       out.empty() ? "" : ",", json_text(problem.where.source), problem.where.line,
                       problem.where.column, json_text(problem.message));
  }
  return "[" + out + "]";
}

using Row = std::vector<std::string>;

std::string joined(const std::vector<std::string>& words, const char* separator) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : separator) + word;
  return out;
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
  for (const auto& [operation, conduit] : rule.operations) {
    out += fmt::format("; {} by {}", operation, conduit);
  }
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
  for (const PeerRule& rule : config.peers) {
    rows.push_back({rule.label, match_text(rule), use_text(rule)});
  }
  print_columns(rows);
}

// What this machine's plugins say of the configuration, by their manifests only. No more than a
// warning: the file may be meant for another machine.
class PluginLook {
 public:
  PluginLook(const Config& config, std::vector<Problem>& warnings)
      : loader_(config, probe_services(1)), warnings_(warnings) {
    for (const ConduitSpec& conduit : config.conduits) look_at(conduit);
    const Config usual = built_in();
    for (const std::string& name : added(config.memkind_plugins, usual.memkind_plugins))
      find(PluginKind::memkind, name, {"plugins.memkinds", 0, 0});
    for (const std::string& name : added(config.collective_plugins, usual.collective_plugins))
      find(PluginKind::collective, name, {"plugins.collectives", 0, 0});
  }

 private:
  static Config built_in() {
    ConfigSources nothing;
    nothing.site_file = "";
    return *check_config(nothing).config;
  }
  // The built-in default names what not every installation has.
  static std::vector<std::string> added(const std::vector<std::string>& names,
                                        const std::vector<std::string>& usual) {
    std::vector<std::string> out;
    std::copy_if(names.begin(), names.end(), std::back_inserter(out), [&](const std::string& name) {
      return std::find(usual.begin(), usual.end(), name) == usual.end();
    });
    return out;
  }

  void look_at(const ConduitSpec& conduit) {
    const std::string file = find(PluginKind::conduit, conduit.plugin, conduit.where);
    if (file.empty()) return;
    try {
      make_options(read_manifest(file), conduit.options, conduit.option_origins);
    } catch (const Error& e) {
      warnings_.push_back({conduit.where, fmt::format("conduit {}: {}", conduit.name, e.text())});
    }
  }

  // "" when there is none.
  std::string find(PluginKind kind, const std::string& name, const Origin& where) {
    const std::vector<std::string> files = files_named(loader_.search_path(), kind, name);
    if (!files.empty()) return files.front();
    warnings_.push_back(
        {where, fmt::format("there is no plugin '{}' on this machine: no {} in {}", name,
                            plugin_file_name(kind, name), joined(loader_.search_path(), ", "))});
    return "";
  }

  Loader loader_;
  std::vector<Problem>& warnings_;
};

int report(const Arguments& arguments, CheckedConfig checked) {
  if (checked.config) PluginLook(*checked.config, checked.warnings);
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
    fmt::print("{}", config_fingerprint(*checked.config));
    return kOk;
  }
  fmt::print("{}: ok\n\n", arguments.file);
  print_summary(*checked.config);
  return kOk;
}

}  // namespace

void add_check_config(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand(
      "check-config", "Check a configuration file and say what it decides, or what is wrong");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("file", arguments->file, "The file, as CAUSEWAY_CONFIG would name it")
      ->required()
      ->type_name("FILE");
  command->add_option("--set", arguments->sets, "Also apply path.to.key=value (repeatable)")
      ->type_name("PATH=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_flag("--no-site", arguments->no_site,
                    "Leave out the site file <prefix>/etc/causeway.yaml");
  command->add_flag("--print", arguments->print, "Print the whole merged configuration as YAML");
  command->add_flag("--json", arguments->json, "Print the findings as JSON");
  command->add_flag("--strict", arguments->strict,
                    "Warnings count: a plugin that is not found on this machine, a setting "
                    "without effect");
  command->footer("Exit status: 0 nothing is wrong, 1 something is, 2 usage.");
  command->callback([arguments, &status] {
    ConfigSources sources;
    if (arguments->no_site) sources.site_file = "";
    sources.file = arguments->file;
    for (const std::string& text : arguments->sets) {
      for (std::string& item : split_sets(text)) sources.sets.push_back(std::move(item));
    }
    status = report(*arguments, check_config(sources, "--set"));
  });
}

}  // namespace causeway::command
