// The table that `causeway bench` prints.
#pragma once

#include <string>

#include "plan.h"

namespace causeway::bench {

std::vector<std::vector<std::string>> list_rows();
std::string list_json();
std::string table_text(const Outcome& outcome, bool colour);
std::string json_text(const Outcome& outcome);

// Figures that miss their target.
unsigned count_over(const Outcome& outcome);

}  // namespace causeway::bench
