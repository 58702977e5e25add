// The output of `causeway explain --collectives`: which algorithm each collective of teams on one
// host and on two would run, by size, and the algorithms that a rule can name.
#pragma once

#include <cstdint>
#include <string>

#include "world.h"

namespace causeway::command {

void print_collectives(const World& world, uint32_t ranks);
std::string collectives_json(const World& world, uint32_t ranks);

}  // namespace causeway::command
