#include "connection/prepare.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "config/identity.h"
#include "config/load_config.h"
#include "loader/check_options.h"
#include "loader/search.h"

namespace causeway {
namespace {

// Whether the rules that the library or the program's identity brings along lead to the conduit.
bool is_of_default(const ConduitSpec& spec, const Config& config) {
  const auto comes_along = [](const PeerRule& r) {
    return r.where.source == kBuiltInSource || r.where.source.starts_with(kIdentitySource);
  };
  return std::ranges::all_of(config.peers, comes_along) && config.uses_conduit(spec.name);
}

// `segment.huge_pages`, `segment.numa` and `timeouts.peer` hold for every conduit that has such an
// option, unless its own options say otherwise. The default's conduits for fabrics leave plain
// Ethernet to the one behind them that is made for it.
void inherit_options(ConduitSpec& spec, const Manifest& manifest, const Config& config) {
  const auto inherit = [&](const char* option, const std::string& value, const char* key) {
    const bool known = std::ranges::count(manifest.options, option, &OptionSchema::key) != 0;
    if (!known || !spec.options.emplace(option, value).second) return;
    const auto origin = config.origins.find(key);
    if (origin != config.origins.end()) spec.option_origins[option] = origin->second;
  };
  if (config.huge_pages != "never") inherit("huge_pages", config.huge_pages, "segment.huge_pages");
  if (config.numa == "interleave") inherit("numa", config.numa, "segment.numa");
  if (is_of_default(spec, config)) inherit("ethernet", "leave", "peers");
  inherit("peer_timeout", fmt::format("{}ns", config.timeouts.peer_ns), "timeouts.peer");
}

constexpr const char* kUnnamed =
    "no rule of peers: names it for a rank of this job, so it was not opened";

bool is_there(const std::string& reason) {
  return reason[0] == '/' ? ::access(reason.c_str(), F_OK) == 0
                          : std::getenv(reason.c_str()) != nullptr;
}

// Why a conduit of the built-in configuration, of which no file and no --set says anything, is left
// out; "": it is not. An installation without its plugin is whole. So is a host without its
// hardware, which is asked for if `here`: to load libfabric's libraries for Omni-Path takes 0.2 s.
std::string why_left_out(const ConduitSpec& spec, const Config& config, const Loader& loader,
                         bool here) {
  if (spec.where.source != kBuiltInSource) return {};
  const auto files = files_named(loader.search_path(), PluginKind::conduit, spec.plugin);
  if (files.empty())
    return fmt::format("plugin '{}' is not installed in {}", spec.plugin,
                       fmt::join(loader.search_path(), ", "));
  if (!here || !is_of_default(spec, config)) return {};
  try {
    const std::vector<std::string> reasons = read_manifest(files.front()).wanted_by;
    if (reasons.empty() || std::ranges::any_of(reasons, is_there)) return {};
    return fmt::format("this host has none of {} (a rule of your own loads it all the same)",
                       fmt::join(reasons, ", "));
  } catch (const Error&) {
    return {};  // the loader says what is wrong with the file
  }
}

bool takes_options(ConduitSpec spec, const Manifest& manifest, const Config& config,
                   Problems& problems) {
  inherit_options(spec, manifest, config);
  const size_t before = problems.size();
  check_options(manifest, spec.options, spec.option_origins, problems);
  return problems.size() == before;
}

// configure() says in brackets where the conduit stands, which a problem says in front.
std::string without_place(std::string text, const ConduitSpec& spec) {
  const std::string place = fmt::format(" ({})", spec.where.str());
  if (const size_t at = text.find(place); at != std::string::npos) text.erase(at, place.size());
  return text;
}

// Throws Error where lanes gain nothing: threads do not wait there, and only the first lane would
// map memory.
PreparedConduit check_lanes(PreparedConduit one) {
  const bool waits = one.configured.plugin->ops[0].concurrency != CWYC_MULTI;
  if (one.spec->lanes == 1 || waits) return one;
  throw Error(CWY_ERR_INVALID,
              "lanes: {} is asked for, but threads do not wait for each other in plugin {}; remove "
              "the key",
              one.spec->lanes, one.spec->plugin);
}

}  // namespace

std::vector<PreparedConduit> prepare_conduits(const Config& config, Loader& loader,
                                              WhichConduits which,
                                              std::vector<ConduitFailure>& failures,
                                              Problems& problems, const OwnPlace* place) {
  std::vector<PreparedConduit> prepared;
  const auto inherit = [&](ConduitSpec& spec, const Manifest& manifest) {
    inherit_options(spec, manifest, config);
  };
  ConduitConfigurer configurer(config, loader, inherit, place);
  for (const ConduitSpec& spec : config.conduits) {
    const bool unnamed =
        which != WhichConduits::all && !spec.open_always && !config.uses_conduit(spec.name);
    std::string why = unnamed ? kUnnamed : why_left_out(spec, config, loader, place != nullptr);
    if (!why.empty()) {
      failures.push_back({spec.name, std::move(why), unnamed});
      continue;
    }
    try {
      const ConduitPlugin* plugin = loader.conduit(spec.plugin);
      if (plugin == nullptr)
        failures.push_back({spec.name, why_not_loaded(loader, spec.plugin)});
      else if (takes_options(spec, plugin->manifest, config, problems))
        prepared.push_back(check_lanes({&spec, configurer.configure(spec, *plugin)}));
    } catch (const Error& e) {
      problems.add(spec.where, without_place(e.text(), spec));
    }
  }
  return prepared;
}

}  // namespace causeway
