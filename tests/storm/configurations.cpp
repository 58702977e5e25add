#include "configurations.h"

#include <sched.h>

#include <filesystem>

#include "options.h"
#include "random.h"

namespace storm {
namespace {

std::vector<std::string> site(const char* file) {
  return {"--config", std::string(STORM_SOURCES) + "/configs/sites/" + file + ".yaml"};
}
std::vector<std::string> test_file(const char* file) {
  return {"--config", std::string(STORM_SOURCES) + "/tests/spec/gex/" + file + ".yaml"};
}
std::vector<std::string> with(std::vector<std::string> flags, const char* setting) {
  flags.insert(flags.end(), {"--set", setting});
  return flags;
}

// Names that the plugins' tables list. What cannot serve a call leaves it to the scores.
using Names = std::vector<const char*>;
const Names kBarriers = {
    "base/dissemination",         "base/tree",        "hier/flat", "hier/domains",
    "hier/leaders_dissemination", "hier/leaders_tree"};
const Names kBroadcasts = {"base/binomial",
                           "base/knomial",
                           "base/chain",
                           "base/scatter_allgather",
                           "hier/flat",
                           "hier/shared",
                           "hier/domains",
                           "hier/leaders_binomial",
                           "hier/leaders_knomial",
                           "hier/leaders_chain",
                           "hier/leaders_scatter_allgather"};
const Names kToOne = {"base/binomial",      "base/chain",
                      "base/rabenseifner",  "hier/shared",
                      "hier/domains",       "hier/leaders_binomial",
                      "hier/leaders_chain", "hier/leaders_rabenseifner"};
const Names kToAll = {"base/doubling",
                      "base/rabenseifner",
                      "base/ring",
                      "base/trees",
                      "hier/flat",
                      "hier/shared",
                      "hier/domains",
                      "hier/leaders_doubling",
                      "hier/leaders_rabenseifner",
                      "hier/leaders_ring",
                      "hier/leaders_trees"};

struct Forced {
  const char* operation;
  const Names& names;
};
const Forced kForced[] = {{"barrier", kBarriers},
                          {"broadcast", kBroadcasts},
                          {"reduce_one", kToOne},
                          {"reduce_all", kToAll}};

// Two of three jobs of a configuration force an algorithm for every operation, each list in its
// order. Nothing where the job forces none.
const char* forced(const Forced& list, uint64_t turn) {
  if (turn % 3 == 2) return nullptr;
  return list.names[(turn / 3 * 2 + turn % 3) % list.names.size()];
}

bool forces(uint64_t turn, std::string_view name) {
  for (const Forced& list : kForced)
    if (const char* const chosen = forced(list, turn); chosen && name == chosen) return true;
  return false;
}

unsigned processors() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<unsigned>(CPU_COUNT(&set)) : 1;
}

}  // namespace

const std::vector<Configuration>& configurations() {
  static const std::vector<Configuration> all = {
      {"shm", {}, 2, 5, ""},
      {"am-only", with(site("am-only"), "report=false"), 2, 4, ""},
      {"ofi-tcp", site("ofi-tcp"), 2, 3, "ofi"},
      {"ucx-tcp", site("ucx-tcp"), 2, 3, "ucx"},
      {"chaos", site("chaos-shm"), 2, 4, "chaos"},
      {"eth", site("eth"), 2, 4, ""},
      {"domains", test_file("split/domains"), 2, 3, "ofi"},
      {"two-level", test_file("two_level"), 3, 5, "ofi"},
      {"rails", test_file("split/rail"), 2, 3, "ofi ucx"},
      {"failover", test_file("split/failover"), 2, 4, "ofi chaos failover"},
      {"sizes", test_file("split/sizes"), 2, 4, "ofi"},
      {"ofi-shm", site("ofi-shm"), 2, 3, "ofi"},
      {"ucx-shm", site("ucx-shm"), 2, 3, "ucx"},
      {"own-thread", {"--set", "threads.progress=thread"}, 2, 4, ""},
      {"oversubscribed", site("oversubscribed"), 8, 8, ""},
      {"checks", {"--set", "checks=full"}, 2, 4, ""},
  };
  return all;
}

const Configuration* find_configuration(std::string_view name) {
  for (const Configuration& c : configurations())
    if (c.name == name) return &c;
  return nullptr;
}

std::vector<std::string> standins_in(const std::string& folder) {
  std::vector<std::string> found;
  for (const char* kind : {"cuda", "hip", "ze"})
    if (!folder.empty() && std::filesystem::is_directory(folder + "/" + kind))
      found.emplace_back(kind);
  return found;
}

uint32_t ranks_of(const Configuration& c, uint64_t seed) {
  return c.least + static_cast<uint32_t>(mix(seed, 71) % (c.most - c.least + 1));
}

std::vector<std::string> Job::flags() const {
  std::vector<std::string> flags = configuration->flags;
  const auto set = [&](const std::string& setting) {
    flags.insert(flags.end(), {"--set", setting});
  };
  if (forced(kForced[0], turn)) {
    std::string rules;
    for (const Forced& list : kForced)
      rules += std::string(rules.empty() ? "" : ", ") + "{operation: " + list.operation +
               ", use: [" + forced(list, turn) + "]}";
    set("collectives.rules=[" + rules + "]");
  }
  Random random(mix(seed, 73));
  if (configuration->name == "shm" && random.chance(30)) set("conduits.shm.options.cma=never");
  if (configuration->name == "shm" && random.chance(25)) set("direct_map=never");
  if (random.chance(20)) set("collectives.scratch=64KiB");
  if (Random(mix(seed, 89)).chance(30)) set("atomics.mechanism=cpu");
  // Transfers that are posted bit by bit, and so for long need what they were begun with.
  if (random.chance(40)) {
    set("vis.pipeline=1");
    set("vis.pack_below=" + std::to_string(random.one_of({64, 256, 4096})));
  }
  if (configuration->name == "failover")
    set("conduits.first.options.fail_at=" + std::to_string(50 + seed % 3000));
  if (configuration->name == "chaos")
    set("conduits.chaos.options.seed=" + std::to_string(1 + seed % 100000));
  return flags;
}

std::vector<std::pair<std::string, std::string>> Job::environment() const {
  std::vector<std::pair<std::string, std::string>> all;
  // Freed memory is filled and handed out again late, so that whoever still reads it reads
  // nonsense.
  if (mix(seed, 79) % 2 == 0) {
    all.emplace_back("MALLOC_PERTURB_", "165");
    all.emplace_back("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0");
  }
  if (ops >> static_cast<unsigned>(Family::device) & 1) {
    const std::vector<std::string> kinds = standins_in(standins);
    const std::string& kind = kinds[Random(mix(seed, 83)).below(kinds.size())];
    all.emplace_back("SPEC_MK", kind);
    all.emplace_back("LD_LIBRARY_PATH", standins + "/" + kind);
  }
  return all;
}

// Levels of memory domains are there only where ranks are bound to domains, which this machine need
// not have: the script makes some.
std::string Job::wrapper() const {
  if (configuration->name != "shm" || ranks < 3 || processors() < 2) return "";
  return forces(turn, "hier/domains") ? STORM_SOURCES "/tests/spec/gex/domains/two_nodes.sh" : "";
}

std::string Job::again() const {
  return "storm_driver --seed " + std::to_string(seed) + " --configs " + configuration->name +
         " --ops " + print_ops(ops) + " --steps " + std::to_string(steps) + " --ranks " +
         std::to_string(ranks) + " --turn " + std::to_string(turn);
}

}  // namespace storm
