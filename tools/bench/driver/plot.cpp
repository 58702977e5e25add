#include "plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "command/svg_matrix.h"
#include "command/text.h"

namespace causeway::bench {
namespace {

using command::xml_text;

// Pixels.
constexpr double kLeft = 56, kRight = 16, kWidth = 560, kHeight = 280, kLine = 19;
constexpr double kLetter = 6.6;  // of the font's mean width

// A logarithmic axis from `begin` to `end`.
struct Axis {
  double begin, end;
  double from = 1e300, to = 0;
  void include(double value) {
    if (!(value > 0)) return;
    from = std::min(from, value);
    to = std::max(to, value);
  }
  double at(double value) const {
    return begin + (end - begin) * std::log(value / from) / std::log(to / from);
  }
};

// 1, 2 and 5 times powers of ten, or only the powers where there are two or more. The axis ends at
// the nearest of the former, and by some of them later where all its values are the same.
std::vector<double> decimal_ticks(Axis& axis) {
  if (axis.to <= 0) axis.from = axis.to = 1;
  std::vector<double> all, powers;
  const int first = static_cast<int>(std::floor(std::log10(axis.from) + 1e-9));
  const int last = static_cast<int>(std::ceil(std::log10(axis.to) - 1e-9));
  for (int power = first; power <= std::max(last, first + 1); ++power)
    for (const double step : {1., 2., 5.}) all.push_back(step * std::pow(10, power));
  const auto upto = [](double value) { return value * (1 + 1e-9); };
  while (all.size() > 3 && all[1] <= upto(axis.from)) all.erase(all.begin());
  while (all.size() > 3 && upto(all[all.size() - 2]) >= axis.to) all.pop_back();
  axis.from = all.front();
  axis.to = all.back();
  for (const double tick : all)
    if (const double log = std::log10(tick); std::abs(log - std::round(log)) < 1e-6)
      powers.push_back(tick);
  return axis.to / axis.from < 150 ? all : powers;
}

std::string decimal_text(double value) {
  if (value >= 1e6) return fmt::format("{:g} M", value / 1e6);
  return value >= 1e4 ? fmt::format("{:g} k", value / 1e3) : fmt::format("{:.6g}", value);
}

// Every value that the series have, as far as their labels leave room.
std::vector<double> value_ticks(const Plot& plot, const Axis& axis, double room) {
  std::vector<double> all, out;
  for (const PlotSeries& series : plot.series)
    for (const PlotPoint& point : series.points) all.push_back(point.x);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  if (axis.from == axis.to || all.empty()) return all;
  const double step = all.size() > 1 ? axis.at(all[1]) - axis.at(all[0]) : room;
  const size_t every = plot.has_sizes ? static_cast<size_t>(std::ceil(room / step)) : 1;
  for (size_t i = 0; i < all.size(); i += std::max<size_t>(every, 1))
    if (out.empty() || axis.at(all[i]) - axis.at(out.back()) >= room) out.push_back(all[i]);
  return out;
}

const char* colour(const PlotSeries& series) {
  if (series.look == kEarlierLook) return "#8b949e";
  return command::kPalette[series.look % std::size(command::kPalette)];
}

// How its line is drawn. More series than colours: dashed from then on.
std::string stroke(const PlotSeries& series) {
  const bool dashed = series.look >= std::size(command::kPalette);
  return fmt::format(R"(stroke="{}" stroke-width="{}"{})", colour(series),
                     series.is_main ? 3.5 : 1.5, dashed ? R"( stroke-dasharray="5 3")" : "");
}

// A mark of a form of the series' own, so that colours are not all there is to tell them by.
std::string mark(const PlotSeries& series, double x, double y, double size) {
  constexpr const char* kForms[] = {"M-1 0A1 1 0 1 1 1 0A1 1 0 1 1 -1 0Z", "M-1 -1H1V1H-1Z",
                                    "M0 -1.2L1.2 1H-1.2Z", "M0 -1.4L1.4 0L0 1.4L-1.4 0Z"};
  return fmt::format(
      R"_(<path class="mark" transform="translate({:.1f} {:.1f}) scale({})" d="{}" fill="{}")_", x,
      y, size, kForms[series.look % std::size(kForms)], colour(series));
}

class Picture {
 public:
  explicit Picture(const Plot& plot) : plot_(plot), legend_(legend()) {
    top_ = 26 + kLine * rows_ + 38;
    x_ = {kLeft, kWidth - kRight};
    y_ = {top_ + kHeight, top_};
    for (const PlotSeries& series : plot.series) {
      for (const PlotPoint& point : series.points) {
        x_.include(point.x);
        for (const double value : {point.y, point.low, point.high}) y_.include(value);
      }
    }
    if (x_.to <= 0) x_.from = x_.to = 1;
    if (x_.from == x_.to) x_.from /= 2, x_.to *= 2;
  }

  std::string text() {
    const std::string axes = grid();
    std::string lines;
    for (const bool main : {true, false})
      for (const PlotSeries& series : plot_.series)
        if (series.is_main == main) lines += curve(series);
    return fmt::format(
        R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}" )"
        R"(role="img" aria-label="{2}" font-family="system-ui, sans-serif" font-size="12">)"
        R"(<rect class="paper" width="{0}" height="{1}" fill="#fff"/>)"
        R"(<text class="ink" x="8" y="22" font-size="14" font-weight="600">{2}</text>)"
        "\n{3}{4}{5}</svg>\n",
        kWidth, top_ + kHeight + 52, xml_text(plot_.title), legend_, axes, lines);
  }

 private:
  static std::string words(double x, double y, const char* anchor, const std::string& text) {
    return fmt::format(R"(<text class="ink" x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>)"
                       "\n",
                       x, y, anchor, xml_text(text));
  }

  std::string grid() {
    std::string out = words(8, top_ - 14, "start", plot_.y_name);
    const auto line = [&](double x, double y, double to_x, double to_y) {
      out += fmt::format(R"(<path class="grid" d="M{:.1f} {:.1f}L{:.1f} {:.1f}" stroke="#ddd"/>)"
                         "\n",
                         x, y, to_x, to_y);
    };
    const std::vector<double> ticks = decimal_ticks(y_);
    line(kLeft, y_.begin, kWidth - kRight, y_.begin);
    for (const double value : ticks) {
      line(kLeft, y_.at(value), kWidth - kRight, y_.at(value));
      out += words(kLeft - 6, y_.at(value) + 4, "end", decimal_text(value));
    }
    for (const double value : value_ticks(plot_, x_, plot_.has_sizes ? 52 : 34)) {
      line(x_.at(value), top_, x_.at(value), top_ + kHeight);
      out += words(x_.at(value), top_ + kHeight + 21, "middle", x_text(value));
    }
    return out + words((kLeft + kWidth - kRight) / 2, top_ + kHeight + 41, "middle", plot_.x_name);
  }

  // Side by side, in as many rows as that takes.
  std::string legend() {
    std::string out;
    double x = 8;
    for (const PlotSeries& series : plot_.series) {
      const double width = 46 + kLetter * static_cast<double>(series.name.size());
      if (x + width > kWidth && x > 8) x = 8, ++rows_;
      const double y = 26 + kLine * rows_;
      out += fmt::format(R"(<path d="M{:.1f} {:.1f}h24" {}/>)", x, y - 4, stroke(series));
      out += mark(series, x + 12, y - 4, 3.5) + "/>" + words(x + 30, y, "start", series.name);
      x += width;
    }
    return out;
  }

  std::string curve(const PlotSeries& series) const {
    std::string points, marks, above, below;
    for (const PlotPoint& point : series.points) {
      if (!(point.y > 0)) continue;
      const double x = x_.at(point.x), y = y_.at(point.y);
      points += fmt::format("{:.1f},{:.1f} ", x, y);
      marks += mark(series, x, y, series.is_main ? 3.5 : 2.5) +
               fmt::format("><title>{}, {}: {:.3g}</title></path>\n", xml_text(series.name),
                           x_text(point.x), point.y);
      if (!(point.low > 0)) continue;
      above += fmt::format("{:.1f},{:.1f} ", x, y_.at(point.high));
      below = fmt::format("{:.1f},{:.1f} ", x, y_.at(point.low)) + below;
    }
    std::string out;
    if (!above.empty())
      out = fmt::format(R"(<polygon fill="{}" fill-opacity="0.2" points="{}{}"/>)", colour(series),
                        above, below);
    return out +
           fmt::format(R"(<polyline fill="none" {} stroke-linejoin="round" points="{}"/>)"
                       "\n",
                       stroke(series), points) +
           marks;
  }

  std::string x_text(double x) const {
    return plot_.has_sizes ? command::size_text(static_cast<uint64_t>(x)) : fmt::format("{:g}", x);
  }

  const Plot& plot_;
  int rows_ = 1;
  std::string legend_;
  double top_ = 0;
  Axis x_{0, 0}, y_{0, 0};
};

}  // namespace

std::string svg_plot(const Plot& plot) {
  return Picture(plot).text();
}

}  // namespace causeway::bench
