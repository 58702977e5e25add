// Room for shared memory, and why a library that shares memory through /dev/shm may have failed,
// when it does not say so.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

namespace causeway {

// Bytes that a file system has free; UINT64_MAX where it has no size.
inline uint64_t room_in(const char* directory) {
  struct statvfs space {};
  const bool limited = statvfs(directory, &space) == 0 && space.f_blocks != 0;
  return limited ? uint64_t{space.f_bavail} * space.f_frsize : UINT64_MAX;
}

// "" where there is nothing wrong with it. `wanted`: bytes that `who` needs there, roughly.
inline std::string complaint_of_dev_shm(const std::string& who, uint64_t wanted) {
  constexpr const char* place = "/dev/shm";
  const auto mib = [](uint64_t bytes) { return std::to_string((bytes >> 20)) + " MiB"; };
  const std::string advice = ", or name the conduit shm, whose memory lies elsewhere";
  if (faccessat(AT_FDCWD, place, R_OK | W_OK | X_OK, AT_EACCESS) != 0)
    return std::string("; no file can be made in /dev/shm (") + std::strerror(errno) +
           "): let this user write there" + advice;
  const uint64_t free = room_in(place);
  if (free >= wanted) return {};
  return "; " + who + " needs about " + mib(wanted) + " in /dev/shm, where " + mib(free) +
         " are free: enlarge it" + advice;
}

}  // namespace causeway
