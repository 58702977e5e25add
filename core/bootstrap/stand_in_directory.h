// StandInDirectory: while an object lives, the process has a current directory, because without one
// the PMIx library prints lines of its own. At its end the process has its own directory back, even
// a removed one.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <climits>

#include "base/unique_fd.h"

namespace causeway {

class StandInDirectory {
 public:
  StandInDirectory() {
    char name[PATH_MAX];
    if (::getcwd(name, sizeof name) != nullptr) return;
    own_ = UniqueFd(::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (own_ && ::chdir("/") != 0) own_.reset();
  }
  ~StandInDirectory() {
    // Succeeds whatever has become of the name.
    if (own_) [[maybe_unused]]
      const int entered = ::fchdir(own_.get());
  }
  StandInDirectory(const StandInDirectory&) = delete;
  StandInDirectory& operator=(const StandInDirectory&) = delete;

 private:
  UniqueFd own_;
};

}  // namespace causeway
