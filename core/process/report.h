// The account of what each transport carried: read from the conduits' own counters.
#pragma once

#include <functional>
#include <string>

namespace causeway {

// Prints a line per conduit of the primordial endpoint.
void report_transports(const std::function<void(const std::string&)>& line);
// With `report: true`, rank 0 prints the lines when the job ends.
void print_report_at_exit();

}  // namespace causeway
