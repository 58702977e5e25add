// Variables of the environment that begin with CAUSEWAY_.
#pragma once

#include <optional>
#include <string>

#include "config/problem.h"

namespace causeway {

// A warning if nothing reads that variable, with the name that was meant where one is near.
std::optional<Problem> unknown_variable(const std::string& variable);

}  // namespace causeway
