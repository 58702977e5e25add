// Plots with two logarithmic axes as SVG, without a library and without a script.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace causeway::bench {

struct PlotPoint {
  double x, y;
  double low = 0, high = 0;  // the band around it; 0: none
};
constexpr size_t kEarlierLook = SIZE_MAX;
struct PlotSeries {
  std::string name;
  size_t look = 0;  // its colour and mark; kEarlierLook: grey and dashed
  std::vector<PlotPoint> points = {};
  bool is_main = false;  // drawn broad, below the others, which may lie on it
};
struct Plot {
  std::string title;
  std::string x_name, y_name;
  bool has_sizes = false;  // on the x axis: bytes, in powers of two
  std::vector<PlotSeries> series;
};
// Points that are not above zero are left out.
std::string svg_plot(const Plot& plot);

}  // namespace causeway::bench
