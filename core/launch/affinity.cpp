#include "launch/affinity.h"

#include <hwloc.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/error.h"

namespace causeway::launch {
namespace {

struct Destroy {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
  void operator()(hwloc_bitmap_t set) const { hwloc_bitmap_free(set); }
};
using Topology = std::unique_ptr<hwloc_topology, Destroy>;
using CpuSet = std::unique_ptr<hwloc_bitmap_s, Destroy>;

// The processors that this process may use.
Topology load() {
  hwloc_topology_t made = nullptr;
  if (hwloc_topology_init(&made) != 0) throw Error(CWY_ERR_NOMEM, "--bind: hwloc does not start");
  Topology topology(made);
  // It asks ten X displays for graphics cards.
  hwloc_topology_set_components(made, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "gl");
  // Where this process is bound belongs to this system, and hwloc wants that said.
  constexpr auto flags = static_cast<unsigned>(HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING) |
                         static_cast<unsigned>(HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM);
  if (hwloc_topology_set_flags(made, flags) != 0 || hwloc_topology_load(made) != 0)
    throw Error(CWY_ERR_UNSUPPORTED, "--bind: hwloc does not find the processors of this host: {}",
                std::strerror(errno));
  return topology;
}

// The NUMA nodes that have processors of their own; else the machine.
std::vector<hwloc_const_cpuset_t> nodes_of(hwloc_topology_t topology) {
  std::vector<hwloc_const_cpuset_t> nodes;
  hwloc_obj_t node = nullptr;
  while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != nullptr) {
    const bool known = std::ranges::any_of(nodes, [node](hwloc_const_cpuset_t other) {
      return hwloc_bitmap_intersects(other, node->cpuset);
    });
    if (!known && !hwloc_bitmap_iszero(node->cpuset)) nodes.push_back(node->cpuset);
  }
  if (nodes.empty()) nodes.push_back(hwloc_topology_get_allowed_cpuset(topology));
  return nodes;
}

// The cores `within` that the `index`-th of so many processes gets.
CpuSet share(hwloc_topology_t topology, hwloc_const_cpuset_t within, size_t index,
             size_t processes) {
  hwloc_obj_type_t type = HWLOC_OBJ_CORE;
  if (hwloc_get_nbobjs_inside_cpuset_by_type(topology, within, type) <= 0) type = HWLOC_OBJ_PU;
  const auto count =
      static_cast<size_t>(hwloc_get_nbobjs_inside_cpuset_by_type(topology, within, type));
  const size_t first = index * count / processes;
  const size_t end = std::max((index + 1) * count / processes, first + 1);
  CpuSet set(hwloc_bitmap_alloc());
  for (size_t i = first; i < end; ++i) {
    const hwloc_obj_t object =
        hwloc_get_obj_inside_cpuset_by_type(topology, within, type, static_cast<unsigned>(i));
    hwloc_bitmap_or(set.get(), set.get(), object->cpuset);
  }
  return set;
}

CpuSet place(hwloc_topology_t topology, const Binding& binding, size_t index, size_t processes) {
  const hwloc_const_cpuset_t all = hwloc_topology_get_allowed_cpuset(topology);
  if (binding.to.empty()) return CpuSet(hwloc_bitmap_dup(all));
  const std::vector<hwloc_const_cpuset_t> nodes = nodes_of(topology);
  const bool in_turn = binding.numa_in_turn;
  const size_t node = in_turn ? index % nodes.size() : index * nodes.size() / processes;
  if (binding.to == "numa") return CpuSet(hwloc_bitmap_dup(nodes[node]));
  if (!in_turn) return share(topology, all, index, processes);
  const size_t with_it = (processes - node + nodes.size() - 1) / nodes.size();
  return share(topology, nodes[node], index / nodes.size(), with_it);
}

}  // namespace

std::vector<std::string> bind_processes(const std::vector<RankProcess>& processes,
                                        const Binding& binding) {
  const Topology topology = load();
  const bool here = hwloc_topology_is_thissystem(topology.get()) != 0;  // else hwloc binds nothing
  std::vector<std::string> out;
  for (size_t i = 0; i < processes.size(); ++i) {
    const CpuSet set = place(topology.get(), binding, i, processes.size());
    if (!binding.to.empty() &&
        hwloc_set_proc_cpubind(topology.get(), processes[i].pid, set.get(), 0) != 0)
      throw Error(CWY_ERR_UNSUPPORTED, "--bind {}: this host does not bind a process: {}{}",
                  binding.to, std::strerror(errno),
                  ::access("/proc/self", F_OK) == 0 ? "" : "; /proc is not mounted");
    char text[512];
    hwloc_bitmap_list_snprintf(text, sizeof text, set.get());
    out.emplace_back(text + std::string(here ? "" : " of a made-up machine, not bound"));
  }
  return out;
}

}  // namespace causeway::launch
