// The account of what each transport carried: read from the conduits' own counters.
#pragma once

namespace causeway {

// With `report: true`, rank 0 prints the lines when the job ends.
void print_report_at_exit();

}  // namespace causeway
