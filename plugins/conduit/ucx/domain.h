// A domain: one UCX context with its registrations.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <causeway/conduit.h>
#include <ucp/api/ucp.h>

#include "options.h"
#include "transport_settings.h"

struct cwyc_domain {
  causeway::ucx::Options options;
  causeway::ucx::TransportSettings transports;
  ucp_context_h context = nullptr;
  uint64_t rkey_max = 0;
  uint64_t memory_types = 0;  // bit mask of ucs_memory_type_t
  uint64_t pid_namespace = 0;
  uint64_t job = 0;                 // the first half of the job's key
  bool shared_memory = false;       // UCX may choose it between processes
  bool only_shared_memory = false;  // and nothing else
  bool worker_left = false;         // UCX's context must stay, too
  bool over_tcp = false;            // no other network
  // A long of so many bytes fits into one segment of TCP, where that is the network; 0: it is not.
  size_t segment_room = 0;
  ~cwyc_domain();
};

struct cwyc_mem {
  cwyc_domain* domain = nullptr;
  ucp_mem_h handle = nullptr;
  uint64_t base = 0;
  uint64_t length = 0;
  ucs_memory_type_t type = UCS_MEMORY_TYPE_HOST;
};
