// Loading with the findings kept apart, for tools; load_config() also throws and logs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "config/problem.h"

namespace causeway {

// The name of the origin of everything that no source but the built-in default says.
inline constexpr const char* kBuiltInSource = "built-in default";

struct CheckedConfig {
  std::optional<Config> config;  // absent when there are problems
  // There are problems, but all sources could be read: what holds without that which is wrong.
  std::optional<Config> rest;
  Problems problems;
  std::vector<Problem> warnings;   // keys without effect in this version
  std::vector<std::string> order;  // every source, the strongest last: for Problems::sort
};

CheckedConfig check_config(const ConfigSources& sources);

}  // namespace causeway
