#include "table.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <vector>

#include "command/text.h"

namespace causeway::bench {
namespace {

bool oversubscribed(const Outcome& outcome) {
  return outcome.facts && outcome.facts->oversubscribed();
}

std::optional<bool> verdict(const Outcome& outcome, const Measured& measured) {
  const Figure* figure = find_figure(measured.name);
  if (figure == nullptr || (figure->launch == Launch::threads && !threads_are_judged()))
    return std::nullopt;
  return judge(*figure, measured, oversubscribed(outcome));
}

using Row = std::vector<std::string>;

// The columns of numbers, which stand at their right ends.
bool is_number(const std::string& title) {
  static const std::set<std::string> numbers = {"ours",  "95 %",   "mad",    "raw",
                                                "ratio", "before", "change", "was"};
  return numbers.count(title) != 0;
}

// Adds of an earlier run the figure, by how much it has changed, and what its ratio was.
void add_earlier(Row& row, const Measured& measured, const Earlier& earlier) {
  const auto at = earlier.find(measured.name);
  if (at == earlier.end())
    row.insert(row.end(), 3, "-");
  else
    row.insert(row.end(), {number(at->second.ours), change_text(measured, at->second),
                           ratio_text(at->second)});
}

// Figures of sweeps are in no catalogue.
std::string unit_of(const Measured& measured) {
  if (const Figure* figure = find_figure(measured.name)) return figure->unit;
  return measured.name.find(".latency.") != std::string::npos ? "us" : "GB/s";
}

Row row_of(const Outcome& outcome, const Measured& measured, const Earlier& earlier) {
  const Figure* figure = find_figure(measured.name);
  const std::optional<bool> good = verdict(outcome, measured);
  Row row = {measured.name,
             number(measured.ours),
             bounds_text(measured),
             mad_text(measured),
             measured.raw ? number(*measured.raw) : "-",
             unit_of(measured),
             ratio_text(measured)};
  if (!earlier.empty()) add_earlier(row, measured, earlier);
  row.insert(row.end(), {figure != nullptr ? target_text(*figure) : "-",
                         !good   ? "-"
                         : *good ? "ok"
                                 : "over",
                         measured.path, measured.note});
  return row;
}

// The last column, of notes, is folded to the page.
std::string render(const std::vector<Row>& rows, bool colour) {
  const size_t notes = rows[0].size() - 1;
  std::vector<size_t> width(notes);
  for (const Row& row : rows)
    for (size_t i = 0; i < notes; ++i) width[i] = std::max(width[i], row[i].size());
  size_t before = 2 * notes;
  for (const size_t one : width) before += one;
  constexpr size_t kNarrow = 16;
  const size_t left = std::max(command::page_columns(), before + kNarrow) - before;
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (size_t i = 0; i < notes; ++i) {
      const std::string cell = is_number(rows[0][i]) ? fmt::format("{:>{}}", row[i], width[i])
                                                     : fmt::format("{:<{}}", row[i], width[i]);
      const bool bad = colour && row[i] == "over";
      line += (bad ? "\x1b[31m" + cell + "\x1b[0m" : cell) + "  ";
    }
    for (const std::string& part : command::folded(row[notes], left)) {
      line += part;
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + '\n';
      line.assign(before, ' ');
    }
  }
  return text;
}

std::string json_earlier(const Measured& measured, const Earlier& earlier) {
  const auto at = earlier.find(measured.name);
  if (at == earlier.end()) return "";
  return fmt::format(R"(, "before": {:.9g}, "change": {:.6g}, "same": {})", at->second.ours,
                     change(measured, at->second), is_same(measured, at->second));
}

std::string json_beside(const Measured& measured) {
  std::string out;
  for (const auto& [side, value] : measured.beside)
    out += fmt::format("{}{}: {:.9g}", out.empty() ? "" : ", ", command::json_text(side), value);
  return out.empty() ? "" : fmt::format(R"(, "beside": {{{}}})", out);
}

std::string json_figure(const Outcome& outcome, const Measured& measured, const Earlier& earlier) {
  const Figure* figure = find_figure(measured.name);
  const std::optional<bool> good = verdict(outcome, measured);
  return fmt::format(
      R"({{"name": {}, "ours": {:.9g}, "raw": {}, "unit": {}, "ratio": {}, "target": {}, )"
      R"("ok": {}, "path": {}, "note": {}{}{}{}}})",
      command::json_text(measured.name), measured.ours,
      measured.raw ? fmt::format("{:.9g}", *measured.raw) : "null",
      command::json_text(unit_of(measured)),
      measured.raw ? fmt::format("{:.6g}", measured.ours / *measured.raw) : "null",
      command::json_text(figure != nullptr ? target_text(*figure) : "-"),
      !good   ? "null"
      : *good ? "true"
              : "false",
      command::json_text(measured.path), command::json_text(measured.note),
      spread_members(measured), json_beside(measured), json_earlier(measured, earlier));
}

}  // namespace

std::string number(double value) {
  if (value < 0.1) return fmt::format("{:#.2g}", value);
  if (value < 10) return fmt::format("{:.2f}", value);
  if (value < 1000) return fmt::format("{:.1f}", value);
  return fmt::format("{:.0f}", value);
}

std::string ratio_text(const Measured& measured) {
  return measured.raw ? fmt::format("{:.2f}", measured.ours / *measured.raw) : "-";
}

std::string bounds_text(const Measured& m) {
  if (m.spread.runs < 2) return "-";
  return number(m.spread.low * m.ours) + "-" + number(m.spread.high * m.ours);
}

std::string mad_text(const Measured& m) {
  return m.spread.runs < 2 ? "-" : fmt::format("{:.0f} %", m.spread.mad * 100);
}

std::string change_text(const Measured& now, const Measured& before) {
  return is_same(now, before) ? "same" : fmt::format("{:+.0f} %", change(now, before) * 100);
}

std::string facts_text(const Facts& facts) {
  std::string text =
      fmt::format("{} ranks on {} core{}", facts.ranks, facts.cores, facts.cores == 1 ? "" : "s");
  if (facts.oversubscribed())
    text += ": OVERSUBSCRIBED, figures that need ranks to run at the same time are not judged";
  else if (facts.pinned)
    text += ", each bound to its own";
  else
    text += ", not bound to cores";
  return text;
}

std::vector<std::vector<std::string>> list_rows() {
  std::vector<std::vector<std::string>> rows;
  for (const Figure& figure : catalogue())
    rows.push_back({figure.name, figure.unit, target_text(figure), figure.what});
  return rows;
}

std::string list_json() {
  const auto figure_json = [](const Figure& figure) {
    return fmt::format(R"({{"name":{},"unit":{},"target":{},"what":{}}})",
                       command::json_text(figure.name), command::json_text(figure.unit),
                       command::json_text(target_text(figure)), command::json_text(figure.what));
  };
  return command::json_each(catalogue(), figure_json) + "\n";
}

std::string table_text(const Outcome& outcome, const Earlier& earlier, bool colour) {
  Row titles = {"figure", "ours", "95 %", "mad", "raw", "unit", "ratio"};
  if (!earlier.empty()) titles.insert(titles.end(), {"before", "change", "was"});
  titles.insert(titles.end(), {"target", "", "path", "note"});
  std::vector<Row> rows = {titles};
  for (const Measured& measured : outcome.measured)
    rows.push_back(row_of(outcome, measured, earlier));
  std::string text;
  if (outcome.facts) text += facts_text(*outcome.facts) + '\n';
  return text + render(rows, colour);
}

std::string json_text(const Outcome& outcome, const Earlier& earlier) {
  std::vector<std::string> figures, problems;
  for (const Measured& measured : outcome.measured)
    figures.push_back("    " + json_figure(outcome, measured, earlier));
  for (const std::string& problem : outcome.problems)
    problems.push_back(command::json_text(problem));
  std::string facts = "null";
  if (outcome.facts) {
    facts = fmt::format(R"({{"ranks": {}, "cores": {}, "pinned": {}, "oversubscribed": {}}})",
                        outcome.facts->ranks, outcome.facts->cores, outcome.facts->pinned,
                        outcome.facts->oversubscribed());
  }
  return fmt::format("{{\n  \"job\": {},\n  \"figures\": [\n{}\n  ],\n  \"problems\": [{}]\n}}\n",
                     facts, fmt::join(figures, ",\n"), fmt::join(problems, ", "));
}

unsigned count_over(const Outcome& outcome) {
  return static_cast<unsigned>(
      std::count_if(outcome.measured.begin(), outcome.measured.end(),
                    [&](const Measured& measured) { return verdict(outcome, measured) == false; }));
}

}  // namespace causeway::bench
