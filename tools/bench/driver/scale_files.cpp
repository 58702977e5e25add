// The same figures for other programs: JSON, and plots.
#include <fmt/format.h>

#include "command/json.h"
#include "plot.h"
#include "scale.h"

namespace causeway::bench {

std::string scale_json(const std::vector<ScaleStep>& steps,
                       const std::vector<std::string>& problems) {
  const std::string each = command::json_each(steps, [](const ScaleStep& step) {
    std::string out = fmt::format(R"({{"ranks":{})", step.ranks);
    for (const auto& [name, value] : step.columns)
      out += fmt::format(",{}:{:.9g}", command::json_text(name), value);
    return out + "}";
  });
  std::string exponents;
  for (const std::string& name : figures_of(steps))
    if (const auto power = growth(steps, name))
      exponents += fmt::format("{}{}:{:.6g}", exponents.empty() ? "" : ",",
                               command::json_text(name), *power);
  return fmt::format("{{\"steps\":{},\n\"growth\":{{{}}},\n\"problems\":{}}}\n", each, exponents,
                     command::json_texts(problems));
}

namespace {

// Columns that `of` has a factor for, in one unit.
template <typename Of>
Plot plot_of(const std::vector<ScaleStep>& steps, const char* title, const char* unit, Of of,
             bool keeps_units = false) {
  Plot out{title, "ranks of one host", unit, false, {}};
  for (const std::string& column : figures_of(steps)) {
    const double factor = of(column);
    const auto power = growth(steps, column);
    std::string name = column;
    for (const char* own : {" ms", " us", " MB"})
      if (const size_t at = name.find(own); !keeps_units && at != name.npos) name.erase(at, 3);
    PlotSeries series{power ? fmt::format("{} (n^{:.2f})", name, *power) : name, out.series.size()};
    for (const ScaleStep& step : steps)
      if (const double* value = value_in(step, column); value != nullptr && factor * *value > 0)
        series.points.push_back({static_cast<double>(step.ranks), factor * *value});
    if (factor > 0) out.series.push_back(std::move(series));
  }
  return out;
}

}  // namespace

std::string scale_plot(const std::vector<ScaleStep>& steps) {
  return svg_plot(plot_of(
      steps, "What a rank costs, and the power of the ranks it grows with", "each in its own unit",
      [](const std::string&) { return 1; }, true));
}

std::vector<Plot> scale_plots(const std::vector<ScaleStep>& steps) {
  const auto has = [](const char* word, double factor) {
    return [=](const std::string& column) {
      return (column + " ").find(fmt::format(" {} ", word)) != column.npos ? factor : 0;
    };
  };
  const auto times = [&](const std::string& column) {
    return has("ms", 1)(column) + has("us", 1e-3)(column);
  };
  return {plot_of(steps, "Times of the slowest rank", "milliseconds", times),
          plot_of(steps, "Memory of a rank", "MB", has("MB", 1)),
          plot_of(steps, "Open files of a rank", "files",
                  [](const std::string& column) { return column.starts_with("files") ? 1 : 0; })};
}

}  // namespace causeway::bench
