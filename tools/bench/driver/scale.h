// `causeway bench --scale`: the measuring program among more and more ranks, and how each of its
// figures grows.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "plan.h"
#include "plot.h"

namespace causeway::bench {

struct ScaleStep {
  unsigned ranks = 0;
  std::vector<std::pair<std::string, double>> columns;  // name and value; empty: it failed
};

// The names of the columns; nothing where every step failed.
std::vector<std::string> figures_of(const std::vector<ScaleStep>& steps);
// NULL: the step has no such column.
const double* value_in(const ScaleStep& step, const std::string& column);

// The exponent of the power of the number of ranks that a column grows with, by least squares over
// the logarithms; nothing of fewer than two steps that have it above zero.
std::optional<double> growth(const std::vector<ScaleStep>& steps, const std::string& column);

// "2,16,64": the numbers in it; throws std::runtime_error.
std::vector<unsigned> steps_of(const std::string& text);

// Launches a job per step. What went wrong is added to `problems`.
std::vector<ScaleStep> measure_scale(const Request& request, const std::string& tool,
                                     const std::string& program,
                                     std::vector<std::string>& problems);

// The table's rows, cells as text: a step each, and the exponents.
std::vector<std::vector<std::string>> scale_rows(const std::vector<ScaleStep>& steps);

// {"steps":[{"ranks":2,"job ms":1.5,...},...],"growth":{"job ms":0.9,...},"problems":[...]}: what
// failed is left out.
std::string scale_json(const std::vector<ScaleStep>& steps,
                       const std::vector<std::string>& problems);
// An SVG of all figures; and plots of those that share a unit: times, memory, files.
std::string scale_plot(const std::vector<ScaleStep>& steps);
std::vector<Plot> scale_plots(const std::vector<ScaleStep>& steps);

}  // namespace causeway::bench
