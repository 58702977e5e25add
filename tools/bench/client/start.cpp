#include "start.h"

#include <fmt/format.h>
#include <sched.h>

#include <cstdio>
#include <fstream>
#include <vector>

namespace causeway::bench {

namespace {

// Is this the first hardware thread of its core?
bool leads_its_core(unsigned cpu) {
  std::ifstream file(
      fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu));
  unsigned first = cpu;
  file >> first;
  return first == cpu;
}

// The CPUs this process may use, one per core first.
std::vector<unsigned> usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return {};
  std::vector<unsigned> leaders, others;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) (leads_its_core(cpu) ? leaders : others).push_back(cpu);
  leaders.insert(leaders.end(), others.begin(), others.end());
  return leaders;
}

}  // namespace

void keep_cores(unsigned count) {
  const std::vector<unsigned> cpus = usable_cpus();
  cpu_set_t set;
  CPU_ZERO(&set);
  for (unsigned i = 0; i < count && i < cpus.size(); ++i) CPU_SET(cpus[i], &set);
  if (count != 0) sched_setaffinity(0, sizeof set, &set);
}

OwnCore pin_to_own_core(unsigned rank, unsigned ranks) {
  const std::vector<unsigned> cpus = usable_cpus();
  OwnCore place{static_cast<unsigned>(cpus.size()), false};
  if (place.cores < ranks) return place;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpus[rank], &set);
  place.pinned = sched_setaffinity(0, sizeof set, &set) == 0;
  return place;
}

void print_facts(unsigned ranks, unsigned cores, bool pinned) {
  fmt::print("facts ranks {} cores {} pinned {}\n", ranks, cores, pinned ? 1 : 0);
  std::fflush(stdout);
}

}  // namespace causeway::bench
