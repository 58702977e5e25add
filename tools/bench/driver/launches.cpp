#include "launches.h"

#include <fmt/format.h>

#include <algorithm>

namespace causeway::bench {
namespace {

double ratio_of(const Measured& row) {
  return row.raw ? row.ours / *row.raw : row.ours;
}

// The launches of one figure.
Measured middle(std::vector<Measured> rows) {
  std::ranges::sort(rows,
                    [](const Measured& a, const Measured& b) { return ratio_of(a) < ratio_of(b); });
  Measured out = rows[rows.size() / 2];
  if (rows.size() == 1) return out;
  out.note += fmt::format("{}{:.2f} to {:.2f} in {} launches", out.note.empty() ? "" : "; ",
                          ratio_of(rows.front()), ratio_of(rows.back()), rows.size());
  std::vector<double> ours;
  for (const Measured& row : rows) ours.push_back(row.ours);
  out.spread = spread_of(std::move(ours), out.ours);
  return out;
}

}  // namespace

std::vector<Measured> middle_launches(const std::vector<Measured>& rows) {
  std::vector<std::vector<Measured>> figures;
  for (const Measured& row : rows) {
    const auto same = std::ranges::find_if(
        figures, [&](const auto& figure) { return figure.front().name == row.name; });
    if (same == figures.end())
      figures.push_back({row});
    else
      same->push_back(row);
  }
  std::vector<Measured> out;
  for (auto& figure : figures) out.push_back(middle(std::move(figure)));
  return out;
}

}  // namespace causeway::bench
