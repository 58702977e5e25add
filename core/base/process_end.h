// Whether a process has ended, as far as this one can see.
#pragma once

#include <dirent.h>
#include <signal.h>
#include <sys/types.h>

#include <cerrno>
#include <cstdio>

namespace causeway {

// True from when the kernel has taken its descriptors, a moment before a pidfd tells of the end: a
// connection to it may have been refused in between.
inline bool has_ended(pid_t pid) {
  char open_files[32];
  std::snprintf(open_files, sizeof open_files, "/proc/%d/fd", static_cast<int>(pid));
  DIR* const directory = ::opendir(open_files);
  if (directory == nullptr) return ::kill(pid, 0) != 0 && errno == ESRCH;
  constexpr int kItselfAndAbove = 2;
  int entries = 0;
  while (entries <= kItselfAndAbove && ::readdir(directory) != nullptr) ++entries;
  ::closedir(directory);
  return entries <= kItselfAndAbove;
}

}  // namespace causeway
