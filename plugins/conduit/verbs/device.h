// RDMA devices: which port is taken, which address of it, and why not.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <causeway/conduit.h>
#include <infiniband/verbs.h>

#include <memory>
#include <string>

#include "options.h"
#include "wire.h"

namespace causeway::verbs {

struct CloseContext {
  void operator()(ibv_context* context) const { ibv_close_device(context); }
};

// An opened device, one of its ports and what a connection needs of them.
struct Port {
  std::unique_ptr<ibv_context, CloseContext> context;
  ibv_device_attr device{};
  std::string name;  // device:port
  std::string about;
  uint8_t number = 0;
  uint16_t lid = 0;
  uint8_t gid_index = 0;
  ibv_gid gid{};
  Addressing network = Addressing::infiniband;
  ibv_mtu mtu = IBV_MTU_1024;
  uint64_t max_message = 0;
  double bytes_per_second = 0;
  bool software = false;  // soft-RoCE
};

const char* network_text(Addressing network);

// `wish` is "", a device or device:port. Fills `out` or says why there is none.
cwy_status choose_port(const Options& options, const std::string& wish, Port& out, cwy_err* err);

// What to do about locked memory, to be put behind a message of failed registration; "" if there
// is no limit.
std::string memlock_advice();

}  // namespace causeway::verbs
