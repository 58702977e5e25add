// Deals seeds over configurations, runs a job for each, and shrinks the first that fails.
//
//   storm_driver [--seconds S | --seeds A..B | --seed N] [--configs quick|all|NAME,...]
//                [--ops all|NAME,...] [--steps N] [--ranks N] [--shrink S] [--keep-going]
//
// Without a seed the base seed comes from STORM_SEED, or else from the clock; it is always printed.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

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
  bool keep_going = false, verbose = false;
};

[[noreturn]] void misuse(const std::string& what) {
  std::fprintf(stderr,
               "storm_driver: %s\nusage: storm_driver [--seconds S | --seeds A..B | --seed N] "
               "[--configs quick|all|NAME,...] [--ops all|NAME,...] [--steps N] [--ranks N] "
               "[--shrink S] [--limit S] [--keep-going] [--verbose]\n",
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
  for (const char* conduit : {"ofi", "ucx", "chaos"})
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
    else if (option == "--shrink")
      w.shrink_s = std::atof(value);
    else if (option == "--limit")
      w.limit_s = std::atof(value);
    else
      misuse("unknown option " + std::string(option));
  }
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

void tell(const Job& job, const Verdict& verdict, double shrink_s) {
  std::printf("storm: seed %lu over %s with %u ranks failed after %.1f s: %s\n",
              static_cast<unsigned long>(job.seed), job.configuration->name.c_str(), job.ranks,
              verdict.seconds, verdict.reason.c_str());
  print_tail(verdict.output);
  std::printf("storm: again: %s\n", job.again().c_str());
  std::fflush(stdout);
  if (shrink_s <= 0) return;
  const Shrunk small = shrink(job, verdict, shrink_s);
  std::printf("storm: shortest that failed (in the %u. of at most 5 runs): %s\n", small.runs,
              small.job.again().c_str());
  std::printf("storm: its failing operation: %s\n", small.verdict.reason.c_str());
  std::fflush(stdout);
}

int drive(const Wishes& w) {
  const auto start = std::chrono::steady_clock::now();
  const auto passed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  std::printf("storm: first seed %lu, operations %s, %u steps\n",
              static_cast<unsigned long>(w.first), print_ops(w.ops).c_str(), w.steps);
  std::fflush(stdout);
  unsigned runs = 0, failed = 0;
  std::map<std::string, unsigned> dealt;
  for (uint64_t seed = w.first; seed <= w.last; ++seed) {
    if (w.seconds > 0 && passed() >= w.seconds) break;
    Job job;
    job.configuration = w.configurations[runs % w.configurations.size()];
    job.seed = seed;
    job.ranks = w.ranks ? w.ranks : ranks_of(*job.configuration, seed);
    job.ops = w.ops;
    job.steps = w.steps;
    job.limit_s = w.limit_s;
    const Verdict verdict = run_trial(job);
    ++runs;
    ++dealt[job.configuration->name];
    if (w.verbose)
      std::printf("storm: seed %lu over %s: %s (%.1f s)\n", static_cast<unsigned long>(seed),
                  job.configuration->name.c_str(), verdict.good ? "good" : verdict.reason.c_str(),
                  verdict.seconds);
    if (verdict.good) continue;
    ++failed;
    std::printf("storm: %u. run, %.1f s after the start:\n", runs, passed());
    tell(job, verdict, w.keep_going ? 0 : w.shrink_s);
    if (!w.keep_going) break;
  }
  std::printf("storm: %u of %u runs failed in %.1f s:", failed, runs, passed());
  for (const auto& [name, count] : dealt) std::printf(" %s %u", name.c_str(), count);
  std::printf("\n");
  return failed == 0 && runs > 0 ? 0 : 1;
}

}  // namespace
}  // namespace storm

int main(int argc, char** argv) {
  return storm::drive(storm::parse(argc, argv));
}
