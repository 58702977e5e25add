#include "tune_compare.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>

#include "base/error.h"
#include "base/regular_file.h"
#include "bench/client/measure.h"
#include "collective/table.h"
#include "commands.h"
#include "config/config.h"
#include "probe_services.h"
#include "world.h"

namespace causeway::command {
namespace {

using Clock = std::chrono::steady_clock;

// So often each side is launched, if the budget allows it: medians bear two bad launches of either.
constexpr unsigned kRounds = 5;
constexpr size_t kLargestFile = 4 << 20;  // of rules

std::string rules_of(const std::string& file) {
  std::string why;
  const std::optional<std::string> read = read_regular_file(file, kLargestFile, why);
  if (!read) throw Error(CWY_ERR_INVALID, "{} cannot be read: {}", file, why);
  YAML::Node rules;
  try {
    rules = YAML::Load(*read)["collectives"]["rules"];
  } catch (const YAML::Exception& e) {
    throw Error(CWY_ERR_INVALID, "{} cannot be read: {}", file, e.what());
  }
  if (!rules.IsDefined() || !rules.IsSequence())
    throw Error(CWY_ERR_INVALID, "{} has no list collectives.rules to compare", file);
  rules.SetStyle(YAML::EmitterStyle::Flow);
  YAML::Emitter out;
  out << rules;
  std::string text = out.c_str();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

// Mistakes are told where they stand: ranks would find them in a --set.
void check_rules(const Comparison& c) {
  ConfigSources sources = ConfigSources::from_environment();
  if (!c.job.config.empty()) sources.files = {c.job.config};
  sources.files.push_back(c.file);
  add_sets(sources, c.job.sets);
  const Config config = load_config(sources);
  Loader loader(config, probe_services(c.job.ranks));
  const CollectiveTable table(config, loader);
}

// The measurements of one side in one row.
struct Side {
  std::string algorithm;
  std::vector<double> ns;
};
struct Row {
  Side normal, tuned;
};

class Comparer {
 public:
  explicit Comparer(const Comparison& c) : c_(c), rules_(rules_of(c.file)), began_(Clock::now()) {
    check_rules(c);
  }

  int run() {
    unsigned round = 0;
    for (; round < kRounds && (round == 0 || seconds() < c_.budget_s); ++round) {
      for (const std::string& operation : c_.operations) {
        // The side that begins changes: what the launch before left behind meets both.
        for (const bool tuned : {round % 2 != 0, round % 2 == 0})
          if (!launch(operation, tuned)) return kFailed;
      }
    }
    if (round < kRounds)
      fmt::print(stderr,
                 "causeway tune: {} of {} rounds made within {:g} s; --budget allows more\n", round,
                 kRounds, c_.budget_s);
    return print(round);
  }

 private:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }

  double row_ns() const {
    const double rows = static_cast<double>(2 * kRounds * c_.operations.size() * c_.sizes.size());
    return std::clamp(c_.budget_s / 2 / rows, 0.001, 0.1) * 1e9;
  }

  bool launch(const std::string& operation, bool tuned) {
    const std::vector<uint64_t> none{0};
    const bench::TuneResult result =
        bench::launch_tune(c_.job, tuned ? rules_ : "", operation,
                           operation == "barrier" ? none : c_.sizes, row_ns(), c_.budget_s + 60);
    for (const bench::Timing& t : result.timings) {
      Row& row = rows_[{t.operation, t.bytes}];
      Side& side = tuned ? row.tuned : row.normal;
      side.algorithm = t.algorithm;
      side.ns.push_back(t.ns);
    }
    if (result.status == 0) return true;
    fmt::print(stderr, "causeway tune: {} {} ended with status {}\n", operation,
               tuned ? "by the rules of " + c_.file : "by default", result.status);
    return false;
  }

  // Where both sides ran the same algorithm a difference is noise, whatever it is.
  int print(unsigned rounds) const {
    unsigned slower = 0;
    fmt::print("{} rounds, medians\n{:<12}{:>10}  {:<28}{:>12}  {:<28}{:>12}{:>8}\n", rounds,
               "collective", "bytes", "by default", "us", "by the rules", "us", "ratio");
    for (const auto& [key, row] : rows_) {
      if (row.normal.ns.empty() || row.tuned.ns.empty()) continue;
      const double normal = bench::median(row.normal.ns), tuned = bench::median(row.tuned.ns);
      const double ratio = tuned / normal;
      const bool same = row.normal.algorithm == row.tuned.algorithm;
      const bool bad = !same && ratio > 1 + c_.noise;
      slower += bad ? 1 : 0;
      fmt::print("{:<12}{:>10}  {:<28}{:>12.1f}  {:<28}{:>12.1f}{:>8.2f}{}\n", key.first,
                 key.second, row.normal.algorithm, normal / 1e3,
                 same ? "the same" : row.tuned.algorithm, tuned / 1e3, ratio,
                 bad ? "  SLOWER" : "");
    }
    if (slower != 0) {
      fmt::print(stderr,
                 "causeway tune: in {} rows the rules of {} are slower than the default by more "
                 "than {:.0f} %\n",
                 slower, c_.file, c_.noise * 100);
    }
    return slower == 0 ? kOk : kFailed;
  }

  const Comparison& c_;
  const std::string rules_;
  const Clock::time_point began_;
  std::map<std::pair<std::string, uint64_t>, Row> rows_;
};

}  // namespace

int compare_rules(const Comparison& comparison) {
  return Comparer(comparison).run();
}

}  // namespace causeway::command
