// Two levels: inside each neighborhood through shared memory, and between their leaders by any of
// the algorithms of the catalogue. One candidate for each of those.
#pragma once

#include <causeway/collective.h>

#include "../common/catalogue.h"

namespace hier {

constexpr uint32_t kTwoLevels = base::kAlgorithms;
// Fills in the candidates `leaders_<algorithm>`.
void list_two_level(cwyl_candidate* out);

}  // namespace hier
