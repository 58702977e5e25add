// Descriptors that loops of the launcher wait for: in an epoll set, under a tag of its own.
#pragma once

#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cstdint>

#include "base/unique_fd.h"
#include "launch/clock.h"

namespace causeway::launch {

// Events of `epoll` that carry `tag` say that `fd` can be read.
inline void watch_readable(int epoll, int fd, uint64_t tag) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = tag;
  ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

// A descriptor that is watched now and then.
class Watch {
 public:
  Watch() = default;
  Watch(int epoll, uint64_t tag, uint32_t events) : epoll_(epoll), tag_(tag), events_(events) {}

  void set(int fd, bool wanted) {
    if (fd < 0 || wanted == watched_) return;
    epoll_event event{};
    event.events = events_;
    event.data.u64 = tag_;
    // Removed, not masked: EPOLLHUP is reported whatever the mask says.
    ::epoll_ctl(epoll_, wanted ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, fd, &event);
    watched_ = wanted;
  }

 private:
  int epoll_ = -1;
  uint64_t tag_ = 0;
  uint32_t events_ = 0;
  bool watched_ = false;
};

// What happens until `deadline`, or waits there for something to happen: its tags.
template <typename Take>
void take_events(int epoll, double deadline, Take&& take) {
  epoll_event events[64];
  const int count = ::epoll_wait(epoll, events, 64, ms_until(deadline));
  for (int i = 0; i < count; ++i) take(events[i].data.u64);
}

// Readable when children have ended. The signal has to be blocked.
inline UniqueFd child_signals() {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  return UniqueFd(::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
}

// Makes an eventfd readable.
inline void wake(int event) {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = ::write(event, &one, sizeof one);
}

// Takes what can be read now from a non-blocking descriptor that says only that something is there.
inline void discard_input(int fd) {
  char any[4096];
  while (::read(fd, any, sizeof any) > 0) {
  }
}

}  // namespace causeway::launch
