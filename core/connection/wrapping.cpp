#include "connection/wrapping.h"

#include <algorithm>

#include "base/error.h"
#include "fmt/ranges.h"

namespace causeway {
namespace {

// The configuration's entry for a conduit; a name that it does not have is a plugin's.
ConduitSpec spec_named(const Config& config, const std::string& name) {
  const auto configured = std::ranges::find(config.conduits, name, &ConduitSpec::name);
  if (configured != config.conduits.end()) return *configured;
  ConduitSpec spec;
  spec.name = spec.plugin = name;
  return spec;
}

}  // namespace

std::string why_not_loaded(const Loader& loader, const std::string& plugin) {
  std::string reason = fmt::format("plugin '{}' was not found in the search path", plugin);
  for (const LoadFailure& f : loader.failures())
    if (f.path.find("conduit_" + plugin + ".so") != std::string::npos)
      reason = fmt::format("plugin '{}': {}", plugin, f.reason);
  return reason;
}

ConfiguredConduit ConduitConfigurer::configure(const ConduitSpec& spec,
                                               const ConduitPlugin& plugin) {
  ConfiguredConduit out;
  ConduitSpec full = spec;
  inherit_(full, plugin.manifest);
  out.options = make_options(plugin.manifest, full.options, full.option_origins);
  out.option_origins = std::move(full.option_origins);
  under_way_.push_back(spec.name);
  const WrapResolver resolve = [&](const std::string& name) -> const WrappedConduit& {
    out.wrapped.push_back(wrap(name, out));
    return *out.wrapped.back();
  };
  try {
    out.plugin = configure_conduit(plugin, out.options.get(), resolve);
  } catch (const Error& error) {
    under_way_.pop_back();
    throw Error(error.status(), "conduit {}{}: {}", spec.name,
                spec.where.source.empty() ? "" : fmt::format(" ({})", spec.where.str()),
                error.text());
  }
  under_way_.pop_back();
  const bool behind = !out.wrapped.empty() && spec.device.empty() && spec.devices.empty();
  if (place_ == nullptr || behind)
    out.device = {spec.device, behind ? "that of the conduit behind" : ""};
  else
    out.device = choose_device(spec, out.plugin->module, as_c(out.options.get()), *place_);
  return out;
}

std::shared_ptr<const WrappedConduit> ConduitConfigurer::wrap(const std::string& name,
                                                              ConfiguredConduit& front) {
  if (std::ranges::find(under_way_, name) != under_way_.end()) {
    throw Error(CWY_ERR_INVALID, "conduit {} would stand in front of itself: {} -> {}", name,
                fmt::join(under_way_, " -> "), name);
  }
  const ConduitSpec spec = spec_named(config_, name);
  if (spec.lanes != 1)
    throw Error(CWY_ERR_INVALID, "conduit {} has lanes, but stands behind {}: give them to that",
                name, under_way_.back());
  // A plugin finds what it knows of an endpoint by the endpoint, which is the same all along a row.
  for (const std::string& earlier : under_way_) {
    if (spec_named(config_, earlier).plugin != spec.plugin) continue;
    throw Error(CWY_ERR_INVALID, "plugin {} would stand twice in one row: {} -> {}", spec.plugin,
                fmt::join(under_way_, " -> "), name);
  }
  const ConduitPlugin* plugin = loader_.conduit(spec.plugin);
  if (plugin == nullptr) {
    throw Error(CWY_ERR_INVALID, "no conduit '{}' is configured or installed: {}", name,
                why_not_loaded(loader_, spec.plugin));
  }
  ConfiguredConduit inner = configure(spec, *plugin);
  front.wrapped.insert(front.wrapped.end(), inner.wrapped.begin(), inner.wrapped.end());
  front.option_origins.merge(inner.option_origins);
  auto wrapped = std::make_shared<WrappedConduit>();
  wrapped->plugin = spec.plugin;
  wrapped->module = inner.plugin->own;
  wrapped->options = inner.options;
  wrapped->device = inner.device.name;
  return wrapped;
}

}  // namespace causeway
