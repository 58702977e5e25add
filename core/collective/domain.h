// The memory domain of a process: the NUMA node that holds every processor it may run on.
#pragma once

#include <cstdint>

namespace causeway {

// A process that may run anywhere, or nobody knows where.
inline constexpr uint32_t kNoDomain = UINT32_MAX;

// This process', numbered as hwloc numbers NUMA nodes. HWLOC_SYNTHETIC and HWLOC_XMLFILE are obeyed
// (together with HWLOC_THISSYSTEM=1, without which hwloc does not ask where the process may run).
uint32_t own_domain();

}  // namespace causeway
