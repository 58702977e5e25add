#include "report.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <set>

#include "command/svg_matrix.h"
#include "command/text.h"
#include "table.h"

namespace causeway::bench {
namespace {

using command::xml_text;
using Rows = std::vector<std::vector<std::string>>;

std::string table_html(const Rows& rows) {
  std::string out = "<div class=\"wide\"><table>\n";
  for (size_t i = 0; i < rows.size(); ++i) {
    const char* const kind = i == 0 ? "th scope=\"col\"" : "td";
    out += "<tr>";
    for (const std::string& cell : rows[i])
      out += fmt::format("<{}>{}</{:.2}>", kind, xml_text(cell), kind);
    out += "</tr>\n";
  }
  return out + "</table></div>\n";
}

std::string figure_html(const std::string& plots, const Rows& rows) {
  return fmt::format(
      "<figure>\n{}<details><summary>The numbers</summary>\n{}</details>"
      "</figure>\n",
      plots, table_html(rows));
}

Plot plot_of(const Curve& curve, const Earlier& earlier) {
  Plot out;
  out.title = curve.title();
  out.x_name = curve.operation == "allreduce" ? "bytes of each rank" : "bytes of an operation";
  out.y_name = curve.is_latency() ? "microseconds; less is better" : "GB/s; more is better";
  out.has_sizes = true;
  const auto add = [&](const std::string& name, size_t look, auto&& value) {
    PlotSeries series{name, look};
    for (const auto& [bytes, measured] : curve.points)
      if (const PlotPoint point = value(static_cast<double>(bytes), *measured); point.y > 0)
        series.points.push_back(point);
    if (!series.points.empty()) out.series.push_back(std::move(series));
  };
  add("Causeway", 0, [](double x, const Measured& m) {
    if (m.spread.runs < 2) return PlotPoint{x, m.ours};
    return PlotPoint{x, m.ours, m.ours * m.spread.low, m.ours * m.spread.high};
  });
  if (!out.series.empty()) out.series[0].is_main = true;
  add("raw loop", 1, [](double x, const Measured& m) { return PlotPoint{x, m.raw.value_or(0)}; });
  for (const std::string& side : curve.sides())
    add(side, side == "openmpi" ? 2 : 3, [&](double x, const Measured& m) {
      const auto at = m.beside.find(side);
      return PlotPoint{x, at == m.beside.end() ? 0 : at->second};
    });
  add("Causeway, earlier run", kEarlierLook, [&](double x, const Measured& m) {
    const auto at = earlier.find(m.name);
    return PlotPoint{x, at == earlier.end() ? 0 : at->second.ours};
  });
  return out;
}

// People ask first for the latency of the smallest size and for the most bandwidth, of each curve.
Rows glance(const std::vector<Curve>& curves) {
  Rows rows{{"", "", "Causeway", "95 %", "raw loop"}};
  std::set<std::string> sides;
  for (const Curve& curve : curves)
    for (const std::string& side : curve.sides()) sides.insert(side);
  rows[0].insert(rows[0].end(), sides.begin(), sides.end());
  for (const Curve& curve : curves) {
    const auto& ours = [](const Curve::At& at) { return at.measured->ours; };
    const Curve::At& best = curve.is_latency() ? curve.points.front()
                                               : *std::ranges::max_element(curve.points, {}, ours);
    const Measured& m = *best.measured;
    std::vector<std::string> row{
        fmt::format("{} {}", curve.operation, curve.operation == "allreduce" ? "time" : curve.what),
        "at " + command::size_text(best.bytes), fmt::format("{} {}", number(m.ours), curve.unit()),
        bounds_text(m), m.raw ? number(*m.raw) : "-"};
    for (const std::string& side : sides) {
      const auto at = m.beside.find(side);
      row.push_back(at == m.beside.end() ? "-" : number(at->second));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string processor() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (const size_t at = line.find(": "); line.starts_with("model name") && at != line.npos)
      return line.substr(at + 2);
  return "unknown processor";
}

std::string facts_html(const Request& request, const Report& report) {
  std::vector<std::string> facts{fmt::format("Causeway {}, {:%F %H:%M} UTC, {}", CAUSEWAY_VERSION,
                                             fmt::gmtime(std::time(nullptr)), processor())};
  const unsigned launches = request.launches.value_or(1);
  if (!report.outcome.measured.empty())
    facts.push_back(fmt::format(
        "Sweep of {} {}, {} launch{}", request.sweep,
        request.network.empty() ? "between ranks of this host" : "over " + request.network,
        launches, launches == 1 ? "" : "es"));
  if (report.outcome.facts) facts.push_back(facts_text(*report.outcome.facts));
  if (!report.steps.empty()) facts.push_back(fmt::format("Growth over {} ranks", request.scale));
  if (request.quick) facts.emplace_back("QUICK: few and short repetitions, no measurement");
  for (const auto* lines : {&report.outcome.notes, &report.outcome.problems})
    facts.insert(facts.end(), lines->begin(), lines->end());
  std::string out;
  for (const std::string& fact : facts) out += fmt::format("<li>{}</li>\n", xml_text(fact));
  return out;
}

}  // namespace

std::string report_page(const Request& request, const Report& report) {
  const std::vector<Curve> curves = curves_of(report.outcome);
  std::string figures;
  if (!curves.empty()) figures += "<h2>At a glance</h2>\n" + table_html(glance(curves));
  if (!curves.empty()) figures += "<h2>Over size</h2>\n<div class=\"grid\">\n";
  for (const Curve& curve : curves)
    figures +=
        figure_html(svg_plot(plot_of(curve, report.earlier)), curve_rows(curve, report.earlier));
  if (!curves.empty()) figures += "</div>\n";
  if (!report.steps.empty()) {
    figures += "<h2>Over ranks</h2>\n<div class=\"grid\">\n";
    for (const Plot& plot : scale_plots(report.steps))
      figures += "<figure>\n" + svg_plot(plot) + "</figure>\n";
    figures += "</div>\n" + table_html(scale_rows(report.steps));
  }
  std::string page = k_report_html;
  const auto fill = [&](const std::string& place, const std::string& text) {
    page.replace(page.find(place), place.size(), text);
  };
  fill("{{facts}}", facts_html(request, report));
  fill("{{figures}}", figures);
  return page;
}

}  // namespace causeway::bench
