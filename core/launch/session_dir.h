// SessionDir: the private directory of one job. PMIx keeps its files there, conduits may put
// sockets there, and it is gone when the job is.
#pragma once

#include <string>

#include "launch/unique_fd.h"

namespace causeway::launch {

class SessionDir {
 public:
  // Sweeps directories whose launchers are dead, then makes a new one, mode 0700, below $TMPDIR
  // or /tmp. Its name, "causeway-<uid>-<pid>-<random>", is also the name of the job. A relay gives
  // the name: that of its job and what tells the hosts apart. Throws Error.
  static SessionDir create(const std::string& name = "");

  const std::string& path() const { return path_; }
  const std::string& job_id() const { return job_id_; }

  // Removes the directory and every /dev/shm object whose name starts with the job's, and what
  // relays of the job on this machine have left when they could not do so. Idempotent.
  void sweep() const;

 private:
  std::string path_;
  std::string job_id_;
  UniqueFd lock_;  // its flock says that the job lives: held by front and keeper, not by ranks
};

}  // namespace causeway::launch
