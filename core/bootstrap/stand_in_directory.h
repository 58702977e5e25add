// StandInDirectory: while an object lives, the process has a current directory, because without one
// the PMIx library prints lines of its own. At its end the process has its own directory back, even
// a removed one.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <climits>

namespace causeway {

class StandInDirectory {
 public:
  StandInDirectory() {
    char name[PATH_MAX];
    if (::getcwd(name, sizeof name) != nullptr) return;
    fd_ = ::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd_ >= 0 && ::chdir("/") != 0) forget();
  }
  ~StandInDirectory() {
    // Succeeds whatever has become of the name.
    if (fd_ >= 0) [[maybe_unused]]
      const int entered = ::fchdir(fd_);
    forget();
  }
  StandInDirectory(const StandInDirectory&) = delete;
  StandInDirectory& operator=(const StandInDirectory&) = delete;

 private:
  void forget() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

  int fd_ = -1;
};

}  // namespace causeway
