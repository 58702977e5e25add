// How every measuring program begins: its arguments, a core for each rank, and the line of facts
// that `causeway bench` reads before the records.
#pragma once

#include <fmt/format.h>
#include <sched.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <optional>
#include <vector>

namespace causeway::bench {

// The status to end with, when there is nothing to measure.
inline std::optional<int> parse_arguments(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
}

// Is this the first hardware thread of its core?
inline bool leads_its_core(unsigned cpu) {
  std::ifstream file(
      fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu));
  unsigned first = cpu;
  file >> first;
  return first == cpu;
}

// The CPUs this process may use, one per core first.
inline std::vector<unsigned> usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return {};
  std::vector<unsigned> leaders, others;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) (leads_its_core(cpu) ? leaders : others).push_back(cpu);
  leaders.insert(leaders.end(), others.begin(), others.end());
  return leaders;
}

// From here on, before the library counts them, only so many CPUs.
inline void keep_cores(unsigned count) {
  const std::vector<unsigned> cpus = usable_cpus();
  cpu_set_t set;
  CPU_ZERO(&set);
  for (unsigned i = 0; i < count && i < cpus.size(); ++i) CPU_SET(cpus[i], &set);
  if (count != 0) sched_setaffinity(0, sizeof set, &set);
}

struct OwnCore {
  unsigned cores = 1;
  bool pinned = false;
};
// Binds this rank to a core of its own, where there is one for each.
inline OwnCore pin_to_own_core(unsigned rank, unsigned ranks) {
  const std::vector<unsigned> cpus = usable_cpus();
  OwnCore place{static_cast<unsigned>(cpus.size()), false};
  if (place.cores < ranks) return place;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpus[rank], &set);
  place.pinned = sched_setaffinity(0, sizeof set, &set) == 0;
  return place;
}

inline void print_facts(unsigned ranks, unsigned cores, bool pinned) {
  fmt::print("facts ranks {} cores {} pinned {}\n", ranks, cores, pinned ? 1 : 0);
  std::fflush(stdout);
}

}  // namespace causeway::bench
