// SessionDir: the private directory of one job. PMIx keeps its files there, conduits may put
// sockets there, and it is gone when the job is.
#pragma once

#include <string>

#include "base/unique_fd.h"

namespace causeway::launch {

class SessionDir {
 public:
  // Chooses place and name, below $TMPDIR or /tmp. The name, "causeway-<uid>-<pid>-<random>", is
  // also that of the job. A relay gives it: that of its job and what tells the hosts apart.
  explicit SessionDir(const std::string& name = "");

  // Sweeps directories whose launchers are dead, then makes this one, mode 0700. In the keeper: a
  // front that is killed before it has one leaves nothing then. Throws Error.
  void make();

  const std::string& path() const { return path_; }
  const std::string& job_id() const { return job_id_; }

  // Removes the directory and every /dev/shm object whose name starts with the job's, and what
  // relays of the job on this machine have left when they could not do so. Idempotent.
  void sweep() const;

 private:
  std::string base_;
  std::string job_id_;
  std::string path_;
  UniqueFd lock_;  // its flock says that the job lives: held by the keeper, not by ranks
};

}  // namespace causeway::launch
