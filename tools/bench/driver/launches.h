// The result of several launches of one measuring program. Where memory and descriptors lie differs
// from launch to launch, and with it either side's time, by more than targets allow.
#pragma once

#include <vector>

#include "../figures.h"

namespace causeway::bench {

// For each figure the launch in the middle, by its ratio (by its value where there is nothing
// beside it); of an even number the slower one of the two. Notes tell the range. In the order in
// which the figures came first.
std::vector<Measured> middle_launches(const std::vector<Measured>& rows);

}  // namespace causeway::bench
