// Settings of UCX's transports, as RC_VERBS_TIMEOUT or POSIX_FIFO_SIZE, by the names that
// `ucx_info -cf` shows.
//
// UCX 1.13 reads what belongs to a transport from the environment, and from nowhere else, when it
// opens a context or a worker. For TCP's settings ucp_config_modify() is another way there, with
// the name without TCP_ in 1.13 and with it in 1.18; the other name has no effect. So such settings
// stand in the environment for those moments: who else uses UCX in this process, an MPI library for
// one, does not see them.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace causeway::ucx {

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
