// Which device of a conduit this rank takes, where the conduit leaves that open: the nearest one
// that is up. Ranks of a host share those that are equally near.
#pragma once

#include <causeway/conduit.h>

#include <string>
#include <vector>

#include "config/config.h"
#include "loader/plugin_call.h"

namespace causeway {

// A cwyc_device that is kept: devices are what memory kinds have (kinds/device.h).
struct Adapter {
  std::string name, description, path;
  uint64_t speed = 0, network = 0;
  int32_t numa_node = -1;
  uint32_t state = CWYC_DEVICE_UNKNOWN, ports = 0, port = 0;
};
// None where the conduit does not tell.
std::vector<Adapter> list_adapters(const PluginName& whose, const cwyc_module& module,
                                   const cwy_options* options);

struct DeviceChoice {
  std::string name;  // "": the conduit chooses
  std::string why;
};

// This process in its job, as far as it decides what is opened, and how.
struct OwnPlace {
  const cwy_job* job = nullptr;
  std::string host;
  std::string job_key;  // of Bootstrap::job_key()
};

// The distances of the processors that this process may use from each NUMA node, in the kernel's
// numbers: 10 is here.
std::vector<uint32_t> node_distances(const std::string& root = "/sys/devices/system/node");

// Of the devices `named`; where none is, of those of the network of the first one that is up.
DeviceChoice nearest_device(const std::vector<std::string>& named,
                            const std::vector<Adapter>& listed, uint32_t local_index,
                            const std::vector<uint32_t>& distances);

// The same by what the configuration says for this rank and host.
DeviceChoice choose_device(const ConduitSpec& spec, const cwyc_module& module,
                           const cwy_options* options, const OwnPlace& place);

}  // namespace causeway
