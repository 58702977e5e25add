// Reads the JSON of `causeway bench` and checks that it holds every figure that is measured
// without --instructions, --network, --collectives, --one-sided and --memkinds, once, with sensible
// members. Exit status 0 when it does. Of `--scale` it checks that every step has the same figures,
// each a number above zero with the power that it grows with, and prints how many.
#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <cmath>
#include <iostream>
#include <iterator>
#include <map>

#include "figures.h"

namespace {

using causeway::bench::Figure;
using causeway::bench::Launch;

std::string problem_with(const Figure& figure, const YAML::Node& node) {
  const double ours = node["ours"].as<double>();
  if (!std::isfinite(ours) || ours <= 0) return fmt::format("ours is {}", ours);
  if (node["unit"].as<std::string>() != figure.unit) return "another unit";
  for (const char* key : {"target", "ok", "path", "note", "ratio"})
    if (!node[key].IsDefined()) return fmt::format("no member {}", key);
  // Without a raw loop beside it, a figure says why.
  const bool excused = node["raw"].IsNull() &&
                       node["note"].as<std::string>().find("no raw loop") != std::string::npos;
  if (figure.launch == Launch::pair && !excused) {
    const double raw = node["raw"].as<double>();
    if (!std::isfinite(raw) || raw <= 0) return fmt::format("raw is {}", raw);
  }
  return {};
}

int check_scale(const YAML::Node& root) {
  const auto number = [](const YAML::Node& node) {
    if (!std::isfinite(node.as<double>())) throw std::runtime_error("a figure is no number");
    return node.as<double>();
  };
  const YAML::Node growth = root["growth"];
  for (const YAML::Node& step : root["steps"]) {
    if (step["ranks"].as<int>() < 2) throw std::runtime_error("a job of less than 2 ranks");
    if (step.size() != growth.size() + 1) throw std::runtime_error("steps of different figures");
    for (const auto& power : growth) {
      number(power.second);
      if (number(step[power.first.as<std::string>()]) <= 0) throw std::runtime_error("0");
    }
  }
  fmt::print("{}\n", growth.size());
  return root["problems"].size() == 0 && root["steps"].size() > 1 ? 0 : 1;
}

// A figure of a sweep is above zero and within its bounds.
int check_sweep(const YAML::Node& figures) {
  std::map<std::string, bool> seen;
  for (const YAML::Node& node : figures) {
    const auto name = node["name"].as<std::string>();
    const auto number = [&](const char* key) { return node[key].as<double>(); };
    const bool good = number("low") > 0 && number("low") <= number("ours") * (1 + 1e-6) &&
                      number("ours") <= number("high") * (1 + 1e-6) && number("runs") >= 5;
    const bool is_latency = name.find(".latency.") != std::string::npos;
    if (!good || node["unit"].as<std::string>() != (is_latency ? "us" : "GB/s") ||
        !seen.emplace(name, true).second)
      throw std::runtime_error(name);
  }
  fmt::print("{}\n", seen.size());
  return 0;
}

int check(const std::string& text) {
  const YAML::Node root = YAML::Load(text);  // JSON is YAML
  if (root["steps"]) return check_scale(root);
  if (root["figures"][0]["name"].as<std::string>().find(".latency.") != std::string::npos)
    return check_sweep(root["figures"]);
  if (root["job"]["ranks"].as<int>() < 2) throw std::runtime_error("job of less than 2 ranks");
  std::map<std::string, YAML::Node> found;
  for (const YAML::Node& node : root["figures"]) {
    const auto name = node["name"].as<std::string>();
    if (!found.emplace(name, node).second) throw std::runtime_error(name + " appears twice");
  }
  int bad = 0;
  for (const Figure& figure : causeway::bench::catalogue()) {
    if (figure.launch == Launch::instructions || figure.launch == Launch::network ||
        figure.launch == Launch::collectives || figure.launch == Launch::one_sided ||
        figure.launch == Launch::memkinds || figure.launch == Launch::staged) {
      continue;
    }
    const auto at = found.find(figure.name);
    const std::string problem = at == found.end() ? "is missing" : problem_with(figure, at->second);
    if (problem.empty()) continue;
    fmt::print(stderr, "{}: {}\n", figure.name, problem);
    ++bad;
  }
  return bad == 0 ? 0 : 1;
}

}  // namespace

int main() {
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  try {
    return check(text);
  } catch (const std::exception& e) {
    fmt::print(stderr, "check_bench_json: {}\n{}", e.what(), text);
    return 1;
  }
}
