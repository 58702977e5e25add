// The table that `causeway bench` prints.
#pragma once

#include <string>

#include "earlier.h"
#include "plan.h"

namespace causeway::bench {

// Cells of a measured figure.
std::string number(double value);
std::string bounds_text(const Measured& measured);  // of its median
std::string ratio_text(const Measured& measured);
std::string mad_text(const Measured& measured);
std::string change_text(const Measured& now, const Measured& before);

std::string facts_text(const Facts& facts);
std::vector<std::vector<std::string>> list_rows();
std::string list_json();
// `earlier`: an earlier run beside which this one is shown; empty: none.
std::string table_text(const Outcome& outcome, const Earlier& earlier, bool colour);
std::string json_text(const Outcome& outcome, const Earlier& earlier);

// Figures that miss their target.
unsigned count_over(const Outcome& outcome);

}  // namespace causeway::bench
