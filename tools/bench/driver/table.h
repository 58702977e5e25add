// The table that `causeway bench` prints.
#pragma once

#include <string>

#include "earlier.h"
#include "plan.h"

namespace causeway::bench {

std::vector<std::vector<std::string>> list_rows();
std::string list_json();
// `earlier`: an earlier run beside which this one is shown; empty: none.
std::string table_text(const Outcome& outcome, const Earlier& earlier, bool colour);
std::string json_text(const Outcome& outcome, const Earlier& earlier);

// Figures that miss their target.
unsigned count_over(const Outcome& outcome);

}  // namespace causeway::bench
