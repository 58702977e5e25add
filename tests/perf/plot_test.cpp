// Plots of values that are hard to draw. With PLOT_DIR they are written there too, for a browser to
// look at (report_browser.sh).
#include "driver/plot.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>

namespace causeway::bench {
namespace {

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
  return n;
}

// A plot of one series; with what any plot has to hold.
std::string drawn(const char* name, std::vector<PlotPoint> points, bool has_sizes) {
  const std::string svg =
      svg_plot({"Title", "x", "unit", has_sizes, {{"one & <two>", 0, points, true}}});
  if (const char* directory = std::getenv("PLOT_DIR"))
    std::ofstream(std::string(directory) + "/" + name + ".svg") << svg;
  EXPECT_EQ(svg.find("nan"), svg.npos) << svg;
  EXPECT_EQ(svg.find("inf"), svg.npos) << svg;
  EXPECT_EQ(count(svg, "one &amp; &lt;two&gt;</text>"), 1u);
  return svg;
}

// Would catch: a division by the length of an axis that has none, labels left out where nothing
// varies.
TEST(Plot, NothingVaries) {
  EXPECT_GE(count(drawn("single", {{4, 20}}, false), "<text"), 6u);
  EXPECT_GE(count(drawn("flat", {{4, 20}, {8, 20}, {16, 20}}, true), "class=\"mark\""), 3u);
  drawn("nothing", {}, true);
}

// Would catch: a logarithm of nothing, a gap that is drawn as a point.
TEST(Plot, WhatIsNotAboveZeroIsLeftOut) {
  const std::string svg = drawn("gaps", {{8, 0}, {16, 5}, {32, -1}, {64, 7}}, true);
  EXPECT_EQ(count(svg, "<title>"), 2u);
}

// Would catch: a tick for each of hundreds of steps, whose labels lie on each other; an axis that
// ends before its values; numbers that run out of the margin.
TEST(Plot, ManyDecadesAndManySteps) {
  std::vector<PlotPoint> wide, many;
  for (int i = 0; i < 21; ++i) wide.push_back({8. * (1 << i), 1e-3 * std::pow(10, i / 2)});
  for (int i = 2; i < 200; ++i) many.push_back({static_cast<double>(i), 1.0 + i % 3 * 0.1});
  EXPECT_LE(count(drawn("wide", wide, true), "class=\"grid\""), 30u);
  EXPECT_LE(count(drawn("many", many, false), "class=\"grid\""), 30u);
}

// Would catch: bounds that reach out of the picture.
TEST(Plot, BandsCount) {
  const std::string svg = drawn("band", {{8, 10, 0.1, 1000}, {16, 10, 9, 11}}, true);
  EXPECT_EQ(count(svg, "<polygon"), 1u);
  EXPECT_NE(svg.find(">1000</text>"), svg.npos);
  EXPECT_NE(svg.find(">0.1</text>"), svg.npos);
}

}  // namespace
}  // namespace causeway::bench
