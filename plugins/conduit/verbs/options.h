// What the configuration may set, read once per domain.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <causeway/plugin.h>

#include <cstdint>

#include "../fabric/options.h"

namespace causeway::verbs {

// First contacts are answered by a thread of the conduit too, or by calls of this rank alone.
enum class FirstContact : uint32_t { thread, progress };

struct Options : fabric::Options {
  int64_t gid_index = -1;   // -1 chooses
  uint64_t mtu = 0;         // bytes; 0 takes the port's
  uint64_t pkey_index = 0;  // of the port's table of partitions
  uint64_t service_level = 0;
  uint64_t traffic_class = 0;
  uint64_t receive_buffers = 0;  // of an endpoint; 0 chooses
  uint64_t tx_depth = 0;         // work requests per connection
  uint64_t inline_bytes = 0;
  uint64_t ack_timeout_ns = 0;   // 0 follows peer_timeout
  uint64_t peer_timeout_ns = 0;  // 0: no keepalive
  FirstContact first_contact = FirstContact::thread;

  cwy_status read(const cwy_options* opts, cwy_err* err);
};

}  // namespace causeway::verbs
