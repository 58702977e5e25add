// Levels: inside each neighborhood through shared memory, and between their leaders by any of the
// algorithms of the catalogue: one candidate for each of those. Inside a neighborhood there may be
// two, within memory domains and between them: for teams of one neighborhood that is a candidate of
// its own for each operation.
#pragma once

#include <causeway/collective.h>

#include "../common/catalogue.h"

namespace hier {

constexpr uint32_t kTwoLevels = base::kAlgorithms + CWYL_OPERATIONS;
// Fills in the candidates `leaders_<algorithm>` and `domains`.
void list_two_level(cwyl_candidate* out);

}  // namespace hier
