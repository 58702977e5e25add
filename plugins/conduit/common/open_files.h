// Whether a process has used up the files that it may open, when a library does not say so.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace causeway {

// "" while so many more can be opened. Else what is wrong and what to do, without a stop.
inline std::string complaint_of_open_files(int wanted = 1) {
  const int probe = eventfd(0, EFD_CLOEXEC);
  if (probe < 0 && errno == EMFILE) {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    return "the limit on open files (ulimit -n), " + std::to_string(limit.rlim_cur) +
           ", leaves too few: raise it";
  }
  if (probe < 0) return {};
  std::string complaint = wanted > 1 ? complaint_of_open_files(wanted - 1) : std::string();
  close(probe);
  return complaint;
}

}  // namespace causeway
