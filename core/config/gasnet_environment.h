// The GASNET_* variables that stand for a setting of the configuration.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "config/identity.h"

namespace causeway {

// For each variable that is set: how messages call it, and the setting, "path.to.key=value". A
// value that makes no sense is passed on as it is, so that it is refused with the variable's name.
// `program` may be nullptr.
std::vector<std::pair<std::string, std::string>> gasnet_settings(const Identity* program);

// Every variable that the library reads beside those of its tools, for GASNET_VERBOSEENV.
const std::vector<const char*>& gasnet_variables();

}  // namespace causeway
