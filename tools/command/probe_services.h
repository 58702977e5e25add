// The services that subcommands offer to plugins they load without a job: enough of the core's
// services for init, devices and endpoints.
#pragma once

#include <causeway/plugin.h>

#include <cstdint>

namespace causeway::command {

// Services of rank 0 in a job of `ranks` ranks on this host. The table lives until the process
// ends; later calls return the first call's.
const cwy_services* probe_services(uint32_t ranks = 1, uint64_t limit_ns = 60'000'000'000);

}  // namespace causeway::command
