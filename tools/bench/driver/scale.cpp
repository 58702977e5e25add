#include "scale.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

#include "capture.h"
#include "hosts.h"

namespace causeway::bench {
namespace {

ScaleStep launch(const Request& request, const std::string& tool, const std::string& program,
                 unsigned ranks, const Hosts* hosts, std::vector<std::string>& problems) {
  constexpr unsigned kPatienceS = 300;
  std::vector<std::string> words{tool,      "run",  "-n",        std::to_string(ranks),
                                 "--stdin", "none", "--timeout", std::to_string(kPatienceS)};
  if (hosts != nullptr)
    for (const std::string& word : hosts->options()) words.push_back(word);
  if (request.config) words.insert(words.end(), {"--config", *request.config});
  for (const std::string& set : request.sets) words.insert(words.end(), {"--set", set});
  words.insert(words.end(), {"--", program, "--launch", "scale"});
  if (request.quick) words.push_back("--quick");
  const auto begin = std::chrono::steady_clock::now();
  const Captured captured = run_captured(words);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  ScaleStep step{ranks, {{"job ms", took.count()}}};
  for (const std::string& line : captured.lines) {
    std::istringstream cells(line);
    std::string word, column, value;
    std::getline(cells, word, '\t');
    if (word != "scale" || !std::getline(cells, column, '\t') || !std::getline(cells, value))
      continue;
    step.columns.emplace_back(column, std::strtod(value.c_str(), nullptr));
  }
  if (captured.status == 0 && step.columns.size() > 1) return step;
  problems.push_back(fmt::format("{} ranks: the job ended with status {}", ranks, captured.status));
  return {ranks, {}};
}

}  // namespace

const double* value_in(const ScaleStep& step, const std::string& column) {
  for (const auto& [name, value] : step.columns)
    if (name == column) return &value;
  return nullptr;
}

std::vector<std::string> figures_of(const std::vector<ScaleStep>& steps) {
  std::vector<std::string> out;
  for (const ScaleStep& step : steps) {
    if (!out.empty()) break;
    for (const auto& [name, value] : step.columns) out.push_back(name);
  }
  return out;
}

std::optional<double> growth(const std::vector<ScaleStep>& steps, const std::string& column) {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (const ScaleStep& step : steps) {
    const double* value = value_in(step, column);
    if (value == nullptr || *value <= 0) continue;
    const double at = std::log(step.ranks), is = std::log(*value);
    n += 1, x += at, y += is, xx += at * at, xy += at * is;
  }
  const double spread = n * xx - x * x;
  if (n < 2 || spread <= 0) return std::nullopt;
  return (n * xy - x * y) / spread;
}

std::vector<unsigned> steps_of(const std::string& text) {
  std::vector<unsigned> out;
  std::istringstream in(text);
  for (std::string item; std::getline(in, item, ',');) {
    char* end = nullptr;
    const unsigned long ranks = std::strtoul(item.c_str(), &end, 10);
    if (end == item.c_str() || *end != '\0' || ranks < 2 || ranks > 4096)
      throw std::runtime_error(fmt::format("'{}' is no number of ranks from 2 to 4096", item));
    out.push_back(static_cast<unsigned>(ranks));
  }
  return out;
}

std::vector<ScaleStep> measure_scale(const Request& request, const std::string& tool,
                                     const std::string& program,
                                     std::vector<std::string>& problems) {
  const std::vector<unsigned> steps = steps_of(request.scale);
  std::optional<Hosts> hosts;
  if (request.hosts > 1) hosts.emplace(request.hosts);
  std::vector<ScaleStep> out;
  for (const unsigned ranks : steps) {
    say(fmt::format("{} ranks, job {} of {}", ranks, out.size() + 1, steps.size()));
    out.push_back(launch(request, tool, program, ranks, hosts ? &*hosts : nullptr, problems));
  }
  return out;
}

std::vector<std::vector<std::string>> scale_rows(const std::vector<ScaleStep>& steps) {
  std::vector<std::vector<std::string>> rows{figures_of(steps)};
  std::vector<std::string> exponents{"growth"};
  rows[0].insert(rows[0].begin(), "ranks");
  for (const ScaleStep& step : steps) {
    std::vector<std::string> row{std::to_string(step.ranks)};
    for (size_t i = 1; i < rows[0].size(); ++i) {
      const double* value = value_in(step, rows[0][i]);
      row.push_back(value == nullptr ? "failed"
                                     : fmt::format("{:.{}f}", *value, *value < 10 ? 2 : 0));
    }
    rows.push_back(std::move(row));
  }
  for (size_t i = 1; i < rows[0].size(); ++i) {
    const std::optional<double> power = growth(steps, rows[0][i]);
    exponents.push_back(power ? fmt::format("{:.2f}", *power) : "-");
  }
  rows.push_back(std::move(exponents));
  return rows;
}

}  // namespace causeway::bench
