// Collectives of GASPI: of all ranks, or of groups and segments that are made for them.
#pragma once

#include "random.h"
#include "script.h"

namespace storm {

// By everybody's first thread; in some steps only.
void gaspi_together(const Step& step, Random& whim);

}  // namespace storm
