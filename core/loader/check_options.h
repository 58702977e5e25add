// Checking the options of a plugin: the one place that says which values it does not take.
#pragma once

#include <map>
#include <string>

#include "config/problem.h"
#include "loader/loader.h"

namespace causeway {

// Adds all that is wrong with `values`, where it was written. make_options() refuses the same.
void check_options(const Manifest& manifest, const std::map<std::string, std::string>& values,
                   const std::map<std::string, Origin>& origins, Problems& problems);

// The most problems of a start that are said.
inline constexpr size_t kMostProblemsSaid = 20;

}  // namespace causeway
