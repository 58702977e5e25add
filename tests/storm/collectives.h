// A random collective on a team, by the key of a step.
#pragma once

#include "buffer.h"
#include "flights.h"
#include "teams.h"

namespace storm {

// Buffers lie in the arena or on the heap. All members call with the same step.
void begin_collective(const Step& step, const Team& team, Flights& flights, Arena& arena);

}  // namespace storm
