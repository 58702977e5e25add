// A configured conduit: the tables that serve a plugin with certain options, and what it needs to
// stand in front of another conduit (wrap_conduit).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "loader/loader.h"

namespace causeway {

// A conduit that another one wraps. Whoever resolves a name keeps the object alive as long as the
// wrapping conduit's.
struct WrappedConduit {
  std::string plugin;  // its name
  const cwyc_module* module = nullptr;
  std::shared_ptr<const OptionValues> options;
  std::string device;
};

// Answers a name that a conduit wants to wrap. Throws Error when there is no such conduit.
using WrapResolver = std::function<const WrappedConduit&(const std::string& name)>;

// The tables that serve `plugin` with these options: its own, or what its configure answers.
// `resolver` answers wrap_conduit meanwhile. Throws Error with the plugin's reason.
std::shared_ptr<const ConduitPlugin> configure_conduit(const ConduitPlugin& plugin,
                                                       const OptionValues* options,
                                                       const WrapResolver& resolver);

// The wrap_conduit member of cwy_services.
void fill_wrap_service(cwy_services& services);

}  // namespace causeway
