#include "collective/domain.h"

#include <hwloc.h>

#include <cstdlib>
#include <string>

#include "base/regular_file.h"

namespace causeway {
namespace {

// Loading a topology takes longer than everything else at the start of a process: not where there
// is one node only.
bool has_several_nodes() {
  if (std::getenv("HWLOC_SYNTHETIC") != nullptr || std::getenv("HWLOC_XMLFILE") != nullptr)
    return true;
  const std::string nodes = first_line_of("/sys/devices/system/node/online");
  return nodes.find_first_of(",-") != std::string::npos;
}

uint32_t node_of(hwloc_topology_t topology, hwloc_bitmap_t set) {
  if (hwloc_get_cpubind(topology, set, HWLOC_CPUBIND_PROCESS) != 0) return kNoDomain;
  uint32_t found = kNoDomain;
  for (hwloc_obj_t node = nullptr;
       (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != nullptr;) {
    if (node->cpuset == nullptr || !hwloc_bitmap_intersects(node->cpuset, set)) continue;
    // Memory of another sort beside the same processors is no other domain.
    if (found == kNoDomain && hwloc_bitmap_isincluded(set, node->cpuset))
      found = node->logical_index;
    else if (!hwloc_bitmap_isincluded(set, node->cpuset))
      return kNoDomain;
  }
  return found;
}

}  // namespace

uint32_t own_domain() {
  if (!has_several_nodes()) return kNoDomain;
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return kNoDomain;
  // It asks ten X displays for graphics cards.
  hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "gl");
  uint32_t node = kNoDomain;
  hwloc_bitmap_t set = hwloc_bitmap_alloc();
  if (set != nullptr && hwloc_topology_load(topology) == 0) node = node_of(topology, set);
  hwloc_bitmap_free(set);
  hwloc_topology_destroy(topology);
  return node;
}

}  // namespace causeway
