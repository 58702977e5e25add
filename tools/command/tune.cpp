// causeway tune: measures the algorithms of every collective for a job of N ranks on this machine
// and writes the rules that choose the fastest, or compares the rules of a file with none.
#include <fmt/chrono.h>
#include <fmt/ranges.h>
#include <unistd.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/regular_file.h"
#include "bench/client/measure.h"
#include "bench/driver/capture.h"
#include "bench/driver/tune_launch.h"
#include "bench/driver/tuning.h"
#include "collective/table.h"
#include "commands.h"
#include "config/config.h"
#include "probe_services.h"
#include "world.h"

namespace causeway::command {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct TuneOptions {
  uint32_t ranks = 4;
  std::string config;
  std::vector<std::string> sets;
  std::string output = "tuned.yaml";
  std::string compare;
  double budget_s = 60;
  std::vector<std::string> operations{"barrier", "broadcast", "reduce_one", "reduce_all"};
  std::vector<uint64_t> sizes{8, 64, 512, 4096, 32768, 262144, 2097152, 8388608};
  double noise = 0.1;
  bool fresh = false;
};

bench::TunedJob job_of(const TuneOptions& options) {
  const std::string tool = bench::executable_path();
  return {tool, bench::measuring_program(tool), options.ranks, options.config, options.sets};
}

// A launch: one algorithm (or the default) for one collective, at all sizes.
struct Step {
  std::string operation, algorithm;
  unsigned round;
};

class Tuner {
 public:
  explicit Tuner(const TuneOptions& options)
      : options_(options),
        job_(job_of(options)),
        began_(Clock::now()),
        steps_(plan(options)),
        tuning_(state_file(options), shape_text(options)) {}

  int run() {
    if (std::error_code none; fs::equivalent(options_.output, options_.config, none))
      throw UsageError("--output", "'" + options_.output + "' is the configuration that is read");
    if (tuning_.resumed()) fmt::print(stderr, "causeway tune: goes on where it was interrupted\n");
    size_t done = 0;
    for (const Step& step : steps_) {
      if (seconds() >= options_.budget_s) break;
      show_progress(done, step);
      if (!carry_out(step)) return kFailed;
      ++done;
    }
    show_progress(done, {});
    if (done < steps_.size()) {
      fmt::print(stderr,
                 "causeway tune: {} of {} launches made within {:g} s; --budget allows more\n",
                 done, steps_.size(), options_.budget_s);
    }
    write();
    return kOk;
  }

 private:
  static std::string state_file(const TuneOptions& options) {
    const std::string file = options.output + ".part";
    if (options.fresh) std::remove(file.c_str());
    return file;
  }
  static std::string shape_text(const TuneOptions& options) {
    return fmt::format("ranks={} config={} sets={} sizes={}", options.ranks, options.config,
                       fmt::join(options.sets, ","), fmt::join(options.sizes, ","));
  }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }

  // Defaults first, then what a rule could name; all twice, so that a passing disturbance of one
  // launch decides nothing.
  static std::vector<Step> plan(const TuneOptions& options) {
    const std::vector<std::string> files(options.config.empty() ? 0 : 1, options.config);
    const Config config = load_config_of(files, options.sets);
    Loader loader(config, probe_services(options.ranks));
    const CollectiveTable table(config, loader);
    std::vector<Step> steps;
    for (const unsigned round : {1u, 2u}) {
      for (const std::string& operation : options.operations)
        steps.push_back({operation, "default", round});
      for (const std::string& operation : options.operations) {
        for (const CollectiveTable::Candidate& c : table.candidates()) {
          const cwyl_candidate& a = *c.algorithm;
          if (operation != operation_word(a.operation)) continue;
          if (options.ranks < a.min_team || options.ranks > a.max_team) continue;
          steps.push_back({operation, c.name(), round});
        }
      }
    }
    return steps;
  }

  void show_progress(size_t done, const Step& step) const {
    if (isatty(STDERR_FILENO) == 0) return;
    constexpr size_t kWidth = 30;
    const size_t full = steps_.empty() ? kWidth : done * kWidth / steps_.size();
    fmt::print(stderr, "\r[{:#<{}}{:.<{}}] {}/{} {:3.0f} s {:<40}", "", full, "", kWidth - full,
               done, steps_.size(), seconds(), step.operation + " " + step.algorithm);
    if (step.operation.empty()) fmt::print(stderr, "\n");
    fflush(stderr);
  }

  // So long for each size that all launches fit into the budget with their start-up.
  double row_ns() const {
    constexpr double kStartS = 0.4;
    const double launches = static_cast<double>(steps_.size());
    const double each = options_.budget_s / launches - kStartS;
    return std::clamp(each / static_cast<double>(options_.sizes.size()), 0.001, 0.1) * 1e9;
  }

  bool carry_out(const Step& step) {
    // The second round's are new measurements of the same.
    const std::string key = step.round == 1 ? step.algorithm : step.algorithm + "#2";
    std::vector<uint64_t> sizes;
    for (const uint64_t bytes :
         step.operation == "barrier" ? std::vector<uint64_t>{0} : options_.sizes) {
      const bool known = tuning_.has(step.operation, bytes, key);
      const bool hopeless = step.round == 2 && too_slow(step, bytes);
      if (!known && !hopeless) sizes.push_back(bytes);
    }
    if (sizes.empty()) return true;
    const std::string rules =
        step.algorithm == "default"
            ? ""
            : fmt::format("[{{operation: {}, use: [{}]}}]", step.operation, step.algorithm);
    const bench::TuneResult result =
        bench::launch_tune(job_, rules, step.operation, sizes, row_ns(), patience());
    if (!result.locality.empty()) tuning_.set_locality(result.locality);
    for (const bench::Timing& timing : result.timings) take(step, timing);
    if (result.status == 0 || result.status == 124) return true;  // 124: too slow, or over budget
    fmt::print(stderr, "causeway tune: {} {} ended with status {}\n", step.operation,
               step.algorithm, result.status);
    return step.algorithm != "default";
  }
  double patience() const { return std::max(10.0, options_.budget_s - seconds() + 5); }

  // Not worth another look: more than half as slow again as the default was.
  bool too_slow(const Step& step, uint64_t bytes) const {
    const auto found = first_.find({step.operation, bytes});
    if (found == first_.end() || step.algorithm == "default") return false;
    const auto own = found->second.find(step.algorithm), normal = found->second.find("default");
    if (own == found->second.end() || normal == found->second.end()) return true;
    return own->second > 1.5 * normal->second;
  }

  void take(const Step& step, bench::Timing timing) {
    timing.asked = step.algorithm;
    tuning_.add(timing);
    if (step.algorithm == "default" || step.algorithm == timing.algorithm)
      first_[{timing.operation, timing.bytes}][step.algorithm] = timing.ns;
    if (step.round != 2) return;
    timing.asked += "#2";
    tuning_.add(timing);
  }

  void write() {
    char host[256] = "this host";
    gethostname(host, sizeof host - 1);
    const std::string about =
        fmt::format("Written by `causeway tune` of Causeway {} on {}, {:%Y-%m-%d %H:%M}: {} ranks.",
                    CAUSEWAY_VERSION, host, fmt::localtime(std::time(nullptr)), options_.ranks);
    // A file is replaced as a whole; a device, a pipe or a link stays what it is.
    const fs::file_type type = fs::symlink_status(options_.output).type();
    const bool whole = type == fs::file_type::regular || type == fs::file_type::not_found;
    const std::string made = options_.output + (whole ? ".new" : "");
    {
      std::ofstream out(made);
      out << tuning_.table(options_.ranks, about, options_.noise);
      if (!out.flush()) {
        const int error = errno;
        if (whole) fs::remove(made);
        throw Error(CWY_ERR_INVALID, "cannot write {}: {}", made, std::strerror(error));
      }
    }
    if (whole) fs::rename(made, options_.output);
    tuning_.forget();
    fmt::print("{}\n", options_.output);
  }

  const TuneOptions& options_;
  const bench::TunedJob job_;
  const Clock::time_point began_;
  const std::vector<Step> steps_;
  bench::Tuning tuning_;
  std::map<std::pair<std::string, uint64_t>, std::map<std::string, double>> first_;
};

// ---- --compare: the rules of a file beside the configuration without them

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
void check_rules(const TuneOptions& options) {
  ConfigSources sources = ConfigSources::from_environment();
  if (!options.config.empty()) sources.files = {options.config};
  sources.files.push_back(options.compare);
  add_sets(sources, options.sets);
  const Config config = load_config(sources);
  Loader loader(config, probe_services(options.ranks));
  const CollectiveTable table(config, loader);
}

// The measurements of one side in one row.
struct Side {
  std::string algorithm;
  std::vector<double> ns;
};
struct ComparedRow {
  Side normal, tuned;
};

class Comparer {
 public:
  explicit Comparer(const TuneOptions& options)
      : options_(options),
        job_(job_of(options)),
        rules_(rules_of(options.compare)),
        began_(Clock::now()) {
    check_rules(options);
  }

  // Prints a row per collective and size. kFailed where the rules choose an algorithm that is
  // slower than the default's by more than the noise, or a job fails. Throws Error.
  int run() {
    unsigned round = 0;
    for (; round < kRounds && (round == 0 || seconds() < options_.budget_s); ++round) {
      for (const std::string& operation : options_.operations) {
        // The side that begins changes: what the launch before left behind meets both.
        for (const bool tuned : {round % 2 != 0, round % 2 == 0})
          if (!launch(operation, tuned)) return kFailed;
      }
    }
    if (round < kRounds)
      fmt::print(stderr,
                 "causeway tune: {} of {} rounds made within {:g} s; --budget allows more\n", round,
                 kRounds, options_.budget_s);
    return print(round);
  }

 private:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }

  double row_ns() const {
    const double rows =
        static_cast<double>(2 * kRounds * options_.operations.size() * options_.sizes.size());
    return std::clamp(options_.budget_s / 2 / rows, 0.001, 0.1) * 1e9;
  }

  bool launch(const std::string& operation, bool tuned) {
    const std::vector<uint64_t> none{0};
    const bench::TuneResult result = bench::launch_tune(
        job_, tuned ? rules_ : "", operation, operation == "barrier" ? none : options_.sizes,
        row_ns(), options_.budget_s + 60);
    for (const bench::Timing& t : result.timings) {
      ComparedRow& row = rows_[{t.operation, t.bytes}];
      Side& side = tuned ? row.tuned : row.normal;
      side.algorithm = t.algorithm;
      side.ns.push_back(t.ns);
    }
    if (result.status == 0) return true;
    fmt::print(stderr, "causeway tune: {} {} ended with status {}\n", operation,
               tuned ? "by the rules of " + options_.compare : "by default", result.status);
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
      const bool bad = !same && ratio > 1 + options_.noise;
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
                 slower, options_.compare, options_.noise * 100);
    }
    return slower == 0 ? kOk : kFailed;
  }

  const TuneOptions& options_;
  const bench::TunedJob job_;
  const std::string rules_;
  const Clock::time_point began_;
  std::map<std::pair<std::string, uint64_t>, ComparedRow> rows_;
};

}  // namespace

void add_tune(Options& app, int& status) {
  auto options = std::make_shared<TuneOptions>();
  Options& sub = app.subcommand(
      "tune", "Measure the collective algorithms for a job on this machine and write their rules",
      [options, &status] {
        std::sort(options->sizes.begin(), options->sizes.end());
        status = options->compare.empty() ? Tuner(*options).run() : Comparer(*options).run();
      });
  sub.option("-n,--ranks", options->ranks, "Ranks of the job").in_range(2u, 4096u).shows_default();
  sub.option("-o,--output", options->output,
             "Configuration file to write; what an interrupted run has measured lies in "
             "FILE.part, where the next run goes on")
      .check([](const std::string& file) {
        return file.empty() || fs::is_directory(file) ? "'" + file + "' is no name of a file" : "";
      })
      .shows_default();
  sub.option("--budget", options->budget_s, "Seconds it may take").positive().shows_default();
  sub.option("--operations", options->operations, "Collectives to tune")
      .commas()
      .one_of({"barrier", "broadcast", "reduce_one", "reduce_all"});
  sub.option("--sizes", options->sizes, "Sizes in bytes, multiples of 8, up to 8 MiB")
      .commas()
      .in_range(uint64_t{8}, uint64_t{8} << 20)
      .check([](const std::string& text) {
        const bool whole = std::strtoull(text.c_str(), nullptr, 0) % 8 == 0;
        return whole ? "" : "'" + text + "' is no multiple of 8";
      });
  sub.option("--noise", options->noise,
             "A rule must be faster than the default by more than this part of its time")
      .in_range(0.0, 0.9)
      .shows_default();
  sub.option("--compare", options->compare,
             "Tune nothing: measure the rules of FILE beside the configuration without them, "
             "in turns; status 1 where they are slower by more than --noise")
      .existing_file()
      .named("FILE");
  sub.option("--config", options->config, "Configuration of the measured jobs").existing_file();
  sub.option("--set", options->sets, "path=value over the configuration; may be repeated")
      .one_at_a_time();
  sub.flag("--fresh", options->fresh, "Begin anew, also where an interrupted run could go on");
}

}  // namespace causeway::command
