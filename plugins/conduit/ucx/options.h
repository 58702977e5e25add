// The options of one configured instance; their meaning stands in README.md.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <causeway/conduit.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace causeway::ucx {

struct Options {
  std::string tls;
  std::vector<std::pair<std::string, std::string>> settings;  // UCX names without "UCX_"
  uint64_t medium_max = 0;
  uint64_t outstanding = 0;
  uint64_t peer_timeout_ns = 0;
  bool leaves_ethernet = false;
  bool wakeup = true;
};

cwy_status read_options(const cwy_options* opts, Options& out, cwy_err* err);

// Does a UCX_TLS list admit shared memory between processes?
bool admits_shared_memory(const std::string& tls);
// Does it admit nothing that leaves the host?
bool only_shared_memory(const std::string& tls);
// Does it admit nothing but TCP to other processes?
bool only_tcp(const std::string& tls);

}  // namespace causeway::ucx
