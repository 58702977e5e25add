// A domain: one UCX context with its registrations.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <causeway/conduit.h>
#include <ucp/api/ucp.h>

#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "options.h"
#include "shared_object.h"

namespace causeway::ucx {

// Settings of UCX's transports, as RC_VERBS_TIMEOUT or POSIX_FIFO_SIZE, by the names that
// `ucx_info -cf` shows.
//
// UCX 1.13 reads what belongs to a transport from the environment, and from nowhere else, when it
// opens a context or a worker. For TCP's settings ucp_config_modify() is another way there, with
// the name without TCP_ in 1.13 and with it in 1.18; the other name has no effect. So such settings
// stand in the environment for those moments: who else uses UCX in this process, an MPI library for
// one, does not see them.
//
// Names without `UCX_`, and values.
using TransportSettings = std::vector<std::pair<std::string, std::string>>;

// The environment has `settings` while this lives, and afterwards what it had before. One at a time
// in a process. Programs that change the environment on another thread, while they open or create
// endpoints, break the rules of the C library.
class InEnvironment {
 public:
  explicit InEnvironment(const TransportSettings& settings);
  ~InEnvironment();
  InEnvironment(const InEnvironment&) = delete;
  InEnvironment& operator=(const InEnvironment&) = delete;

 private:
  std::unique_lock<std::mutex> alone_;
  std::vector<std::pair<std::string, std::optional<std::string>>> before_;
};

}  // namespace causeway::ucx

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
  causeway::ucx::SharedObject object;
};
