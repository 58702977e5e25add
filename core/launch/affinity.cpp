#include "launch/affinity.h"

#include <hwloc.h>

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
  hwloc_topology_set_flags(made, HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING);
  if (hwloc_topology_load(made) != 0)
    throw Error(CWY_ERR_UNSUPPORTED, "--bind: hwloc does not find the processors of this host: {}",
                std::strerror(errno));
  return topology;
}

// The processors of the `index`-th of so many processes.
CpuSet share(hwloc_topology_t topology, const std::string& to, size_t index, size_t processes) {
  hwloc_obj_type_t type = to == "numa" ? HWLOC_OBJ_NUMANODE : HWLOC_OBJ_CORE;
  if (hwloc_get_nbobjs_by_type(topology, type) <= 0) type = HWLOC_OBJ_PU;
  const auto count = static_cast<size_t>(hwloc_get_nbobjs_by_type(topology, type));
  const size_t first = index * count / processes;
  const size_t end =
      to == "numa" ? first + 1 : std::max((index + 1) * count / processes, first + 1);
  CpuSet set(hwloc_bitmap_alloc());
  for (size_t i = first; i < end; ++i) {
    const hwloc_obj_t object = hwloc_get_obj_by_type(topology, type, static_cast<unsigned>(i));
    hwloc_bitmap_or(set.get(), set.get(), object->cpuset);
  }
  return set;
}

}  // namespace

std::vector<std::string> bind_processes(const std::vector<RankProcess>& processes,
                                        const Binding& binding) {
  const Topology topology = load();
  std::vector<std::string> out;
  for (size_t i = 0; i < processes.size(); ++i) {
    CpuSet set(hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(topology.get())));
    if (!binding.to.empty()) {
      set = share(topology.get(), binding.to, i, processes.size());
      if (hwloc_set_proc_cpubind(topology.get(), processes[i].pid, set.get(), 0) != 0)
        throw Error(CWY_ERR_UNSUPPORTED, "--bind {}: this host does not bind a process: {}",
                    binding.to, std::strerror(errno));
    }
    char text[512];
    hwloc_bitmap_list_snprintf(text, sizeof text, set.get());
    out.emplace_back(text);
  }
  return out;
}

}  // namespace causeway::launch
