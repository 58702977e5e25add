// The devices that UCX's transports find on this host.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>

namespace causeway::ucx {

struct Device {
  std::string transports;  // "tcp", "rc_verbs, ud_verbs"
  bool network = false;
};

// By UCX's name of the device: "eth0", "mlx5_0:1", and "memory" for this host's shared memory.
// Looked for once: UCX opens each of them for that.
const std::map<std::string, Device>& find_devices();

}  // namespace causeway::ucx
