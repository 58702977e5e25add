// The memory domain of a process: the NUMA node that holds every processor it may run on.
#pragma once

#include <cstdint>

namespace causeway {

// The domain of a process that may run on several NUMA nodes, or of which that is not known.
inline constexpr uint32_t kNoDomain = UINT32_MAX;

// The domain of this process, numbered as hwloc numbers NUMA nodes. HWLOC_SYNTHETIC and
// HWLOC_XMLFILE are obeyed (together with HWLOC_THISSYSTEM=1, without which hwloc does not ask
// where the process may run).
uint32_t own_domain();

}  // namespace causeway
