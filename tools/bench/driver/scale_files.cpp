// The same figures for other programs: JSON, and a plot without a library, an SVG with both axes
// logarithmic, a polyline and a line of the legend per figure.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "command/json.h"
#include "scale.h"

namespace causeway::bench {
namespace {

// A logarithmic axis on so many pixels from `begin` on; a negative length goes up.
struct Axis {
  double begin, length;
  double from = 1e9, to = -1e9;  // decimal logarithms
  void include(double least, double most) {
    from = std::min(from, least);
    to = std::max(to, most);
  }
  double at(double value) const {
    return begin + length * (std::log10(value) - from) / std::max(to - from, 1e-9);
  }
};

constexpr double kLeft = 60, kTop = 20, kWidth = 560, kHeight = 420;
constexpr const char* kColours[] = {"#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd",
                                    "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf"};

std::string tick(double x, double y, double to_x, double to_y, const std::string& text) {
  return fmt::format(R"(<path d="M{:.1f} {:.1f}L{:.1f} {:.1f}" stroke="#ddd"/>)"
                     R"(<text x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>)"
                     "\n",
                     x, y, to_x, to_y, x == to_x ? x : x - 6, x == to_x ? y + 16 : y + 4,
                     x == to_x ? "middle" : "end", text);
}

}  // namespace

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

std::string scale_plot(const std::vector<ScaleStep>& steps) {
  const std::vector<std::string> figures = figures_of(steps);
  Axis ranks{kLeft, kWidth}, values{kTop + kHeight, -kHeight};
  for (const ScaleStep& step : steps) {
    ranks.include(std::log10(step.ranks), std::log10(step.ranks));
    for (const auto& [name, value] : step.columns)
      if (value > 0) values.include(std::floor(std::log10(value)), std::ceil(std::log10(value)));
  }
  std::string out = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" font-family="sans-serif" )"
      R"(font-size="12"><rect width="{0}" height="{1}" fill="#fff"/>)"
      "\n",
      kLeft + kWidth + 220, kTop + kHeight + 45);
  for (const ScaleStep& step : steps) {
    const double x = ranks.at(step.ranks);
    out += tick(x, kTop + kHeight, x, kTop, std::to_string(step.ranks));
  }
  out += tick(kLeft - 35, kTop + kHeight, kLeft - 35, kTop + kHeight, "ranks");
  for (double log = values.from; log <= values.to; ++log) {
    const double y = values.at(std::pow(10, log));
    out += tick(kLeft, y, kLeft + kWidth, y, fmt::format("{:g}", std::pow(10, log)));
  }
  for (size_t i = 0; i < figures.size(); ++i) {
    std::string points;
    for (const ScaleStep& step : steps)
      if (const double* value = value_in(step, figures[i]); value != nullptr && *value > 0)
        points += fmt::format("{:.1f},{:.1f} ", ranks.at(step.ranks), values.at(*value));
    const auto power = growth(steps, figures[i]);
    const char* const colour = kColours[i % std::size(kColours)];
    out += fmt::format(R"(<polyline fill="none" stroke="{}" stroke-width="2" points="{}"/>)"
                       R"(<text x="{}" y="{}" fill="{}">{}{}</text>)"
                       "\n",
                       colour, points, kLeft + kWidth + 15, kTop + 15 + 18 * i, colour, figures[i],
                       power ? fmt::format(" (grows with n^{:.2f})", *power) : "");
  }
  return out + "</svg>\n";
}

}  // namespace causeway::bench
