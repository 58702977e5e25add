// Variables of the environment that begin with CAUSEWAY_.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/problem.h"

namespace causeway {

// The names of those of this process.
std::vector<std::string> own_variables();

// A warning if nothing reads that variable, with the name that was meant where one is near.
std::optional<Problem> check_variable(const std::string& variable);

}  // namespace causeway
