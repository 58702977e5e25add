#include "kinds.h"

#include <map>
#include <memory>

#include "base/error.h"

namespace causeway::conformance {
namespace {

struct Loaded {
  Settings settings;
  Config config;
  std::unique_ptr<Loader> loader;
  std::shared_ptr<const OptionValues> options;
  MemkindPlugin* memkind = nullptr;
  CollectivePlugin* collective = nullptr;
};

Loaded& loaded() {
  static Loaded* const instance = new Loaded;  // the plugin may outlive static destructors
  return *instance;
}

}  // namespace

const std::vector<Case>& kind_cases(PluginKind kind) {
  return kind == PluginKind::memkind ? memkind_cases() : collective_cases();
}

void load_kind(const Settings& settings, PluginKind kind) {
  Loaded& l = loaded();
  l.settings = settings;
  l.loader = std::make_unique<Loader>(l.config, &PluginHost::services());
  const Manifest* manifest;
  if (kind == PluginKind::memkind) {
    l.memkind = l.loader->file<MemkindPlugin>(settings.plugin);
    manifest = &l.memkind->manifest;
  } else {
    l.collective = l.loader->file<CollectivePlugin>(settings.plugin);
    manifest = &l.collective->manifest;
  }
  std::map<std::string, Origin> origins;
  for (const auto& [key, value] : settings.options) origins[key] = {"--set " + key, 0, 0};
  l.options = make_options(*manifest, settings.options, origins);
}

MemkindPlugin& memkind_plugin() {
  return *loaded().memkind;
}
CollectivePlugin& collective_plugin() {
  return *loaded().collective;
}
const Settings& kind_settings() {
  return loaded().settings;
}
const cwy_options* kind_options() {
  return as_c(loaded().options.get());
}

}  // namespace causeway::conformance
