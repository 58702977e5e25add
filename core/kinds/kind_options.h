// The options of a memory kind, as the configuration has them.
#pragma once

#include <map>
#include <string>

#include "config/config.h"

namespace causeway {

struct KindOptions {
  std::map<std::string, std::string> values;
  std::map<std::string, Origin> origins;
};

// The options of `memkinds.<name>.options`.
KindOptions kind_options(const Config& config, const std::string& name);

}  // namespace causeway
