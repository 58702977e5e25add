// Trace files as pictures: time lines, and who sends how much to whom.
#pragma once

#include <string>
#include <vector>

#include "trace_file.h"

namespace causeway::command {

// Time lines for ui.perfetto.dev and about:tracing: the JSON of the Trace Event Format. A process
// per rank, a thread per thread, an arrow from each message to its handler. `about` becomes a line
// that says how the clocks were brought together.
std::string trace_timeline(const std::vector<Trace>& traces, std::string& about);

// The bytes from each rank to each other, as SVG; ranks are taken together where they are many.
std::string trace_traffic(const std::vector<Trace>& traces);

}  // namespace causeway::command
