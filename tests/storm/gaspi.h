// The start of GASPI in this process.
#pragma once

namespace storm {

// Collective. Before or after GASNet-EX; the second time nothing.
void start_gaspi();

}  // namespace storm
