// A page of what `causeway bench` has measured, as plots and tables: one file that needs no network
// and no script.
#pragma once

#include <string>
#include <vector>

#include "scale.h"
#include "sweep.h"

namespace causeway {
extern const char k_report_html[];  // report.html
}

namespace causeway::bench {

struct Report {
  Outcome outcome;  // of a sweep; nothing measured: there was none
  Earlier earlier;
  std::vector<ScaleStep> steps;  // empty: there were none
};
std::string report_page(const Request& request, const Report& report);

}  // namespace causeway::bench
