// Shared by every loop of the launcher that waits: descriptors in an epoll set, by a tag of its
// own.
#pragma once

#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>

#include <cstdint>

#include "base/unique_fd.h"

namespace causeway::launch {

// Events of `epoll` that carry `tag` say that `fd` can be read.
inline void watch_readable(int epoll, int fd, uint64_t tag) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = tag;
  ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

// Readable when children have ended. The signal has to be blocked.
inline UniqueFd child_signals() {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  return UniqueFd(::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
}

}  // namespace causeway::launch
