// The end of a rank: what it has to say, in a file and in a line, and how it goes.
#pragma once

#include <string>

#include "options.h"

namespace storm {

// After a barrier of all. Returns what main has to return, where the plan is to return. `folder`:
// where last words go; empty: nobody asks for them.
int leave(const Options& options, const std::string& folder);

}  // namespace storm
