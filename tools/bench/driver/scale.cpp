#include "scale.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

#include "capture.h"

namespace causeway::bench {
namespace {

// $1: make or remove; $2: the bridge, which the names of the hosts begin with; $3: the first three
// parts of addresses, of the network that RFC 2544 reserves for benchmarks; $4: how many.
constexpr const char* kScript = R"(exec 2>&1
remove() {
  for host in $(ip netns list | sed -n "s/^\($1-[0-9]*\).*/\1/p"); do ip netns del $host; done
  ip link del $1
}
[ $1 = make ] || { remove $2; exit; }
for stale in $(ip netns list | sed -n 's/^cwyh\([0-9]*\)-.*/\1/p' | sort -u); do
  [ -d /proc/$stale ] || remove cwyh$stale
done
set -e
ip link add $2 type bridge
ip addr add $3.1/24 dev $2
ip link set $2 up
for i in $(seq 2 $(($4 + 1))); do
  ip netns add $2-$i
  ip link add $2-$i type veth peer name cwy0 netns $2-$i
  ip link set $2-$i master $2 up
  ip -n $2-$i addr add $3.$i/24 dev cwy0
  ip -n $2-$i link set cwy0 up
  ip -n $2-$i link set lo up
done)";

// "Hosts" on this machine: network namespaces, each with a cable to a bridge at which the launcher
// listens. They end with the object; those of a process that was killed, with the next one that is
// made.
class Hosts {
 public:
  // Throws std::runtime_error where there cannot be any: root and iproute2 are needed.
  explicit Hosts(unsigned count);
  ~Hosts() { run("remove"); }
  Hosts(const Hosts&) = delete;
  Hosts& operator=(const Hosts&) = delete;

  // Options of `causeway run`.
  std::vector<std::string> options() const;

 private:
  std::string run(const std::string& what) const;  // the last line of what failed, or nothing
  std::string name_, network_;
  unsigned count_;
};

Hosts::Hosts(unsigned count)
    : name_(fmt::format("cwyh{}", getpid())),
      network_(fmt::format("198.18.{}", getpid() % 256)),
      count_(count) {
  const std::string failed = run("make");
  if (failed.empty()) return;
  run("remove");
  throw std::runtime_error(
      fmt::format("--hosts makes network namespaces, which needs root and iproute2: {}", failed));
}

std::string Hosts::run(const std::string& what) const {
  const Captured done =
      run_captured({"/bin/sh", "-c", kScript, "sh", what, name_, network_, std::to_string(count_)});
  if (done.status == 0) return {};
  return done.lines.empty() ? fmt::format("status {}", done.status) : done.lines.back();
}

std::vector<std::string> Hosts::options() const {
  std::string names;
  for (unsigned i = 2; i < count_ + 2; ++i)
    names += fmt::format("{}{}-{}", names.empty() ? "" : ",", name_, i);
  return {"--hosts", names, "--address", network_ + ".1", "--agent", "ip netns exec %h"};
}

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
