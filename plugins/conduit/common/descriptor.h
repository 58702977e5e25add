// Descriptors that close by themselves, and processes that are watched by one.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <poll.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

namespace causeway {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(long fd) : fd_(static_cast<int>(fd)) {}  // as a system call answers
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  explicit operator bool() const { return fd_ >= 0; }
  int get() const { return fd_; }

 private:
  int fd_ = -1;
};

inline bool add_to_epoll(const Descriptor& epoll, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  return epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

// A pidfd: it never means another process. None: errno says why.
inline Descriptor watch_pid(uint32_t pid) {
  return Descriptor(syscall(SYS_pidfd_open, pid, 0));
}
inline bool has_ended(const Descriptor& process) {
  pollfd p{process.get(), POLLIN, 0};
  // Readable once the process has ended, reaped or not. Not known where a program has closed it.
  return poll(&p, 1, 0) == 1 && (p.revents & POLLNVAL) == 0;
}

// Inode of a namespace of this process, by its file in /proc/self/ns; 0: not known.
inline uint64_t namespace_inode(const char* file) {
  struct stat info {};
  return stat(file, &info) == 0 ? info.st_ino : 0;
}
inline uint64_t pid_namespace() {
  return namespace_inode("/proc/self/ns/pid");  // where it is equal, pids mean the same
}

}  // namespace causeway
