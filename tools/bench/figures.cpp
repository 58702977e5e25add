#include "figures.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "command/json.h"

namespace causeway::bench {
namespace {

constexpr std::string_view kLaunches[] = {"pair",      "startup",  "memory",  "instructions",
                                          "network",   "modes",    "threads", "collectives",
                                          "one_sided", "memkinds", "staged",  "gaspi"};

// As target_text() writes it.
Target target_of(const std::string& text) {
  Target out;
  if (text == "-") return out;
  size_t end = 0;
  const double value = std::stod(text.substr(3), &end);
  const size_t plus = text.find('+');
  if (text[0] == '>')
    out.min_value = value;
  else if (end + 3 == text.size())
    out.max_value = value;
  else
    out.max_ratio = value;
  if (plus != std::string::npos) out.max_extra = std::stod(text.substr(plus + 1));
  return out;
}

void add_group(std::vector<Figure>& all, const YAML::Node& group) {
  const auto text = [&](const char* key) { return group[key].as<std::string>(""); };
  const auto at = std::ranges::find(kLaunches, text("launch"));
  if (at == std::end(kLaunches)) throw std::invalid_argument("launch: " + text("launch"));
  const auto launch = static_cast<Launch>(at - std::begin(kLaunches));
  const auto needs = group["needs"].as<std::vector<std::string>>(std::vector<std::string>{});
  const auto has = [&](const char* need) { return std::ranges::count(needs, need) != 0; };
  for (const YAML::Node& row : group["figures"]) {
    const auto column = [&](size_t n) { return row[n].as<std::string>(); };
    all.push_back({text("before") + column(0), column(1), launch, target_of(column(2)),
                   has("direct"), has("cores"), column(3) + text("behind")});
  }
}

const std::vector<Figure>& figures() {
  static const std::vector<Figure> all = [] {
    std::vector<Figure> made;
    for (const YAML::Node& group : YAML::Load(k_figures_yaml)) add_group(made, group);
    return made;
  }();
  return all;
}

double raw_or_nan(const Measured& measured) {
  return measured.raw.value_or(std::nan(""));
}

}  // namespace

std::span<const Figure> catalogue() {
  return figures();
}

const Figure* find_figure(std::string_view name) {
  for (const Figure& figure : figures())
    if (name == figure.name) return &figure;
  return nullptr;
}

std::optional<bool> judge(const Figure& figure, const Measured& measured, bool oversubscribed) {
  const Target& target = figure.target;
  if (!target.max_ratio && !target.min_value && !target.max_value) return std::nullopt;
  if (figure.direct_only && measured.path != "direct") return std::nullopt;
  if (figure.needs_cores && oversubscribed) return std::nullopt;
  if (target.min_value) return measured.ours >= *target.min_value;
  if (target.max_value) return measured.ours <= *target.max_value;
  if (!measured.raw) return std::nullopt;
  const double raw = raw_or_nan(measured);
  return measured.ours <= *target.max_ratio * raw || measured.ours - raw <= target.max_extra;
}

std::string target_text(const Figure& figure) {
  const Target& target = figure.target;
  if (target.min_value) return fmt::format(">= {:g}", *target.min_value);
  if (target.max_value) return fmt::format("<= {:g}", *target.max_value);
  if (!target.max_ratio) return "-";
  if (target.max_extra == 0) return fmt::format("<= {:.3g}x", *target.max_ratio);
  return fmt::format("<= {:g}x or +{:g}", *target.max_ratio, target.max_extra);
}

std::string spread_members(const Measured& measured) {
  const Spread& spread = measured.spread;
  if (spread.runs < 2) return {};
  return fmt::format(R"(, "low": {:.9g}, "high": {:.9g}, "mad": {:.9g}, "runs": {})",
                     spread.low * measured.ours, spread.high * measured.ours,
                     spread.mad * measured.ours, spread.runs);
}

Spread read_spread(const YAML::Node& figure, double ours) {
  if (!figure["runs"] || !(ours > 0)) return {};
  const auto part = [&](const char* key) { return figure[key].as<double>() / ours; };
  return {figure["runs"].as<unsigned>(), part("low"), part("high"), part("mad")};
}

std::string to_record(const Measured& measured) {
  return fmt::format(R"({{"figure": {}, "ours": {:.9g}, "raw": {}, "path": {}, "note": {}{}}})",
                     command::json_text(measured.name), measured.ours,
                     measured.raw ? fmt::format("{:.9g}", *measured.raw) : "null",
                     command::json_text(measured.path), command::json_text(measured.note),
                     spread_members(measured));
}

std::optional<Measured> from_record(const std::string& line) {
  if (line.rfind(R"({"figure": )", 0) != 0) return std::nullopt;
  try {
    const YAML::Node node = YAML::Load(line);  // JSON is YAML
    Measured measured;
    measured.name = node["figure"].as<std::string>();
    measured.ours = node["ours"].as<double>();
    if (!node["raw"].IsNull()) measured.raw = node["raw"].as<double>();
    measured.path = node["path"].as<std::string>();
    measured.note = node["note"].as<std::string>();
    measured.spread = read_spread(node, measured.ours);
    return measured;
  } catch (const YAML::Exception&) {
    return std::nullopt;
  }
}

}  // namespace causeway::bench
