// Which libfabric provider, endpoint type and interface a domain uses, and why.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <causeway/conduit.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>

#include <memory>
#include <string>

#include "options.h"

namespace causeway::ofi {

struct FreeInfo {
  void operator()(fi_info* info) const { fi_freeinfo(info); }
};
using Info = std::unique_ptr<fi_info, FreeInfo>;

// One provider on one interface, as it will be opened, and what may be relied on.
struct Path {
  Info info;
  std::string provider;
  std::string device;  // domain name, with the address where the domain has several
  std::string why;     // one clause: why this one
  bool msg = false;    // connected endpoints
  bool multi_receive = false;
  bool atomics = false;
  bool loopback = false;        // the address reaches this host only
  bool host_only = false;       // the provider does
  bool local_mr = false;        // local buffers need a registration
  bool endpoint_mr = false;     // registrations belong to one endpoint
  bool shared_receive = false;  // msg: one pool of receive buffers for all connections
  bool order_send_after_write = false;
  uint64_t ordered_write = 0;  // longest write that a read behind it is kept behind; 0: none
  bool delivery_complete = false;
};

// Fills `out`, or answers UNREACHABLE (nothing usable) or INVALID (what was named does not exist)
// with the candidates and their reasons.
cwy_status choose_path(const Options& options, const char* device, Path& out, cwy_err* err);

// Why the provider `shm` may lack what it shares; "" of others.
std::string complaint_of_shared_memory(const std::string& provider);

}  // namespace causeway::ofi
