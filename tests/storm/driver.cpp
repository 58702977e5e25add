// Deals seeds over configurations, runs a job for each, and shrinks the first that fails.
//
//   storm_driver [--seconds S | --seeds A..B | --seed N] [--configs quick|all|NAME,...]
//                [--ops all|NAME,...] [--steps N] [--ranks N] [--turn N] [--shrink S]
//                [--keep-going]
//                [--jobs N] [--program FILE] [--standins FOLDER] [--plan]
//
// --jobs: so many at once. --plan: says what each job would be run with, and runs none.
// Without a seed the base seed comes from STORM_SEED, or else from the clock; it is always printed.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "end_plan.h"
#include "options.h"
#include "shrink.h"

namespace storm {
namespace {

struct Wishes {
  uint64_t first = 0, last = ~uint64_t{0};
  double seconds = 0;
  std::vector<const Configuration*> configurations;
  uint32_t ops = 0, steps = 192, ranks = 0;
  double shrink_s = 60, limit_s = 60;
  std::optional<uint64_t> turn;
  std::string program = STORM_PROGRAM, standins = STORM_STANDINS;
  unsigned jobs = 1;
  bool keep_going = false, verbose = false, plan = false;
};

[[noreturn]] void misuse(const std::string& what) {
  std::fprintf(stderr,
               "storm_driver: %s\nusage: storm_driver [--seconds S | --seeds A..B | --seed N] "
               "[--configs quick|all|NAME,...] [--ops all|NAME,...] [--steps N] [--ranks N] "
               "[--turn N] [--shrink S] [--limit S] [--jobs N] [--program FILE] "
               "[--standins FOLDER] [--keep-going] [--verbose] [--plan]\n",
               what.c_str());
  std::exit(2);
}

uint64_t number(const char* text) {
  char* end = nullptr;
  const uint64_t value = std::strtoull(text, &end, 0);
  if (end == text || *end != 0) misuse(std::string("no number: ") + text);
  return value;
}

bool is_built(const Configuration& c) {
  // STORM_MISSING names conduits that this build does not have.
  const std::string missing = STORM_MISSING;
  for (const char* conduit : {"ofi", "ucx", "chaos", "failover"})
    if (missing.find(conduit) != std::string::npos && c.needs.find(conduit) != std::string::npos) {
      std::printf("storm: %s is left out: conduit %s was not built\n", c.name.c_str(), conduit);
      return false;
    }
  return true;
}

std::vector<const Configuration*> choose(std::string_view text) {
  std::vector<const Configuration*> all;
  const auto& known = configurations();
  if (text == "quick" || text == "all") {
    for (size_t i = 0; i < (text == "quick" ? kQuick : known.size()); ++i)
      if (is_built(known[i])) all.push_back(&known[i]);
    return all;
  }
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    text = comma == std::string_view::npos ? "" : text.substr(comma + 1);
    const Configuration* const c = find_configuration(word);
    if (!c) misuse("unknown configuration " + std::string(word));
    if (is_built(*c)) all.push_back(c);
  }
  return all;
}

void choose_ops(Wishes& wishes, std::string_view text) {
  std::string bad;
  if (text == "all")
    wishes.ops = (1u << kFamilies) - 1;
  else if (!parse_ops(text, wishes.ops, bad))
    misuse("unknown family " + bad);
}

// Without its stand-ins a family cannot be asked for.
void drop_devices(Wishes& wishes) {
  const uint32_t device = 1u << static_cast<unsigned>(Family::device);
  if ((wishes.ops & device) == 0 || !standins_in(wishes.standins).empty()) return;
  std::printf("storm: family device is left out: there is no stand-in for a driver\n");
  wishes.ops &= ~device;
}

Wishes parse(int argc, char** argv) {
  Wishes w;
  const char* const base = std::getenv("STORM_SEED");
  w.first = base ? number(base)
                 : static_cast<uint64_t>(std::chrono::system_clock::now().time_since_epoch() /
                                         std::chrono::seconds(1));
  choose_ops(w, "all");
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "--keep-going")
      w.keep_going = true;
    else if (option == "--verbose")
      w.verbose = true;
    else if (option == "--plan")
      w.plan = true;
    else if (i + 1 == argc)
      misuse("unknown option or no value: " + std::string(option));
    else if (const char* const value = argv[++i]; option == "--seconds")
      w.seconds = std::atof(value);
    else if (option == "--seed")
      w.first = w.last = number(value);
    else if (option == "--seeds") {
      const char* const dots = std::strstr(value, "..");
      if (!dots) misuse("--seeds A..B");
      w.first = number(std::string(value, dots).c_str());
      w.last = number(dots + 2);
    } else if (option == "--configs")
      w.configurations = choose(value);
    else if (option == "--ops")
      choose_ops(w, value);
    else if (option == "--steps")
      w.steps = static_cast<uint32_t>(number(value));
    else if (option == "--ranks")
      w.ranks = static_cast<uint32_t>(number(value));
    else if (option == "--turn")
      w.turn = number(value);
    else if (option == "--program")
      w.program = value;
    else if (option == "--standins")
      w.standins = value;
    else if (option == "--jobs")
      w.jobs = std::max(1u, static_cast<unsigned>(number(value)));
    else if (option == "--shrink")
      w.shrink_s = std::atof(value);
    else if (option == "--limit")
      w.limit_s = std::atof(value);
    else
      misuse("unknown option " + std::string(option));
  }
  drop_devices(w);
  if (w.configurations.empty()) w.configurations = choose("quick");
  if (w.seconds == 0 && w.last == ~uint64_t{0}) w.seconds = 60;
  return w;
}

// The end of what the job printed: reports stand there.
void print_tail(const std::string& output) {
  size_t at = output.size();
  for (int lines = 0; at > 0 && lines < 12; --at)
    if (output[at - 1] == '\n') ++lines;
  std::printf("%s", output.c_str() + at);
  if (!output.empty() && output.back() != '\n') std::printf("\n");
}

void tell(const Job& job, const Verdict& verdict) {
  std::printf("storm: seed %lu over %s with %u ranks failed after %.1f s: %s\n",
              static_cast<unsigned long>(job.seed), job.configuration->name.c_str(), job.ranks,
              verdict.seconds, verdict.reason.c_str());
  if (job.ops >> static_cast<unsigned>(Family::ends) & 1) {
    Options options;
    options.seed = job.seed;
    options.ops = job.ops;
    std::printf("storm: its end: %s\n", describe(end_of(options, job.ranks)).c_str());
  }
  print_tail(verdict.output);
  std::printf("storm: again: %s\n", job.again().c_str());
}

void show_plan(const Job& job) {
  std::printf("storm: %s:", job.again().c_str());
  for (const auto& [name, value] : job.environment())
    std::printf(" %s=%s", name.c_str(), value.c_str());
  for (const std::string& flag : job.flags()) std::printf(" '%s'", flag.c_str());
  std::printf("\n");
}

// Deals seeds in their order to workers, each of which runs one job at a time.
class Dealer {
 public:
  explicit Dealer(const Wishes& wishes)
      : w_(wishes), start_(std::chrono::steady_clock::now()), seed_(wishes.first) {}

  int deal() {
    std::printf("storm: first seed %lu, operations %s, %u steps\n",
                static_cast<unsigned long>(w_.first), print_ops(w_.ops).c_str(), w_.steps);
    std::fflush(stdout);
    std::vector<std::thread> others;
    for (unsigned i = 1; i < w_.jobs; ++i) others.emplace_back([this] { work(); });
    work();
    for (std::thread& other : others) other.join();
    // Alone, so that nothing else disturbs it.
    if (first_failed_ && !w_.keep_going) shrink_first();
    std::printf("storm: %u of %u runs failed in %.1f s:", failed_, runs_, passed());
    for (const auto& [name, count] : dealt_) std::printf(" %s %u", name.c_str(), count);
    std::printf("\n");
    return failed_ == 0 && runs_ > 0 ? 0 : 1;
  }

 private:
  double passed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

  std::optional<Job> next() {
    const std::lock_guard lock(mutex_);
    if (over_ || (w_.seconds > 0 && passed() >= w_.seconds)) return {};
    Job job;
    job.configuration = w_.configurations[given_ % w_.configurations.size()];
    job.turn = w_.turn.value_or(given_ / w_.configurations.size());
    job.seed = seed_;
    job.ranks = w_.ranks ? w_.ranks : ranks_of(*job.configuration, seed_);
    job.ops = w_.ops;
    job.steps = w_.steps;
    job.program = w_.program;
    job.standins = w_.standins;
    job.limit_s = w_.limit_s;
    ++given_;
    over_ = seed_++ == w_.last;
    return job;
  }

  void work() {
    while (const std::optional<Job> job = next()) {
      Verdict none;
      none.good = true;
      note(*job, w_.plan ? none : run_trial(*job));
    }
  }

  void note(const Job& job, const Verdict& verdict) {
    const std::lock_guard lock(mutex_);
    ++runs_;
    ++dealt_[job.configuration->name];
    if (w_.plan) show_plan(job);
    if (w_.verbose)
      std::printf("storm: seed %lu over %s: %s (%.1f s)\n", static_cast<unsigned long>(job.seed),
                  job.configuration->name.c_str(), verdict.good ? "good" : verdict.reason.c_str(),
                  verdict.seconds);
    if (!verdict.good) {
      ++failed_;
      std::printf("storm: %u. run, %.1f s after the start:\n", runs_, passed());
      tell(job, verdict);
      if (!first_failed_) first_failed_ = {job, verdict};
      over_ = over_ || !w_.keep_going;
    }
    std::fflush(stdout);
  }

  void shrink_first() {
    if (w_.shrink_s <= 0) return;
    const Shrunk small = shrink(first_failed_->first, first_failed_->second, w_.shrink_s);
    std::printf("storm: shortest that failed (in the %u. of at most 5 runs): %s\n", small.runs,
                small.job.again().c_str());
    std::printf("storm: its failing operation: %s\n", small.verdict.reason.c_str());
  }

  const Wishes& w_;
  const std::chrono::steady_clock::time_point start_;
  std::mutex mutex_;
  uint64_t seed_, given_ = 0;
  bool over_ = false;
  unsigned runs_ = 0, failed_ = 0;
  std::map<std::string, unsigned> dealt_;
  std::optional<std::pair<Job, Verdict>> first_failed_;
};

}  // namespace
}  // namespace storm

int main(int argc, char** argv) {
  const storm::Wishes wishes = storm::parse(argc, argv);
  return storm::Dealer(wishes).deal();
}
