// Settings of the configuration, read once per domain.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <causeway/plugin.h>

#include <cstdint>

#include "../fabric/options.h"

namespace causeway::eth {

struct Options : fabric::Options {
  uint64_t peer_timeout_ns = 0;  // a host that answers nothing for so long is dead
  uint64_t socket_buffer = 0;    // bytes each way; 0: the kernel's choice
  uint64_t connections = 0;      // of an endpoint at most; 0: by the limit of open files
  bool datagrams = true;         // for what is small

  cwy_status read(const cwy_options* opts, cwy_err* err);
};

}  // namespace causeway::eth
