// While one lives, the process has a current directory. One that was removed makes the PMIx library
// print lines of its own; it comes back at the end.
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
