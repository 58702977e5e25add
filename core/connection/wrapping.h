// Conduits in front of other conduits: which one a name means, with which options, and that none
// stands in front of itself.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "config/config.h"
#include "connection/adapters.h"
#include "loader/instance.h"

namespace causeway {

// The tables of one conduit, its options, and what keeps alive the conduits it wraps.
struct ConfiguredConduit {
  std::shared_ptr<const ConduitPlugin> plugin;
  std::shared_ptr<const OptionValues> options;
  std::vector<std::shared_ptr<const WrappedConduit>> wrapped;
  DeviceChoice device{};
  // Where options were written, its own and those of the conduits behind.
  std::map<std::string, Origin> option_origins{};
};

// Everything that a configured conduit inherits from elsewhere in the configuration.
using InheritOptions = std::function<void(ConduitSpec&, const Manifest&)>;

class ConduitConfigurer {
 public:
  // `place`: NULL where no device is to be chosen.
  ConduitConfigurer(const Config& config, Loader& loader, InheritOptions inherit,
                    const OwnPlace* place = nullptr)
      : config_(config), loader_(loader), inherit_(std::move(inherit)), place_(place) {}

  // Throws Error when the plugin refuses its options, or what it wraps cannot be had.
  ConfiguredConduit configure(const ConduitSpec& spec, const ConduitPlugin& plugin);

 private:
  std::shared_ptr<const WrappedConduit> wrap(const std::string& name, ConfiguredConduit& front);
  const Config& config_;
  Loader& loader_;
  InheritOptions inherit_;
  const OwnPlace* place_;
  std::vector<std::string> under_way_;  // names, the outermost first
};

// Why the loader has no conduit plugin of this name.
std::string why_not_loaded(const Loader& loader, const std::string& plugin);

}  // namespace causeway
