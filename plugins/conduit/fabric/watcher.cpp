#include "watcher.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "../common/signals_blocked.h"

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

namespace causeway::fabric {
namespace {

int open_userfaultfd() {
  const int flags = O_CLOEXEC | O_NONBLOCK;
  int fd = static_cast<int>(syscall(SYS_userfaultfd, flags | UFFD_USER_MODE_ONLY));
  if (fd < 0 && errno == EINVAL) fd = static_cast<int>(syscall(SYS_userfaultfd, flags));
  return fd;
}

}  // namespace

Watcher::Watcher() {
  fd_ = open_userfaultfd();
  if (fd_ < 0) {
    why_ = std::strerror(errno);
    return;
  }
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = UFFD_FEATURE_EVENT_UNMAP | UFFD_FEATURE_EVENT_REMOVE | UFFD_FEATURE_EVENT_REMAP |
                 UFFD_FEATURE_PAGEFAULT_FLAG_WP;
  stop_ = eventfd(0, EFD_CLOEXEC);
  if (ioctl(fd_, UFFDIO_API, &api) != 0 || stop_ < 0) {
    give_up(errno);
    return;
  }
  const SignalsBlocked blocked;
  try {
    monitor_ = std::thread([this] { run(); });
  } catch (const std::system_error& e) {
    give_up(e.code().value());
  }
}

void Watcher::give_up(int error) {
  why_ = std::strerror(error);
  if (stop_ >= 0) close(stop_);
  close(fd_);
  fd_ = stop_ = -1;
}

Watcher::~Watcher() {
  if (fd_ < 0) return;
  const uint64_t one = 1;
  if (write(stop_, &one, sizeof one) == sizeof one) monitor_.join();
  close(fd_);  // ends every watch
  close(stop_);
}

void Watcher::run() {
  pollfd fds[2] = {{fd_, POLLIN, 0}, {stop_, POLLIN, 0}};
  while (true) {
    if (poll(fds, 2, -1) < 0) continue;
    if ((fds[1].revents & POLLIN) != 0) return;
    const std::lock_guard hold(mutex_);
    uffd_msg message;
    while (read(fd_, &message, sizeof message) == sizeof message) {
      Range range{};
      if (message.event == UFFD_EVENT_UNMAP || message.event == UFFD_EVENT_REMOVE)
        range = {message.arg.remove.start, message.arg.remove.end};
      else if (message.event == UFFD_EVENT_REMAP)
        range = {message.arg.remap.from, message.arg.remap.from + message.arg.remap.len};
      else
        continue;
      if (count_ == room)
        overflow_ = true;
      else
        gone_[count_++] = range;
    }
  }
}

bool Watcher::watch(uint64_t base, uint64_t length) {
  // Write-protect mode without protecting anything: no access ever faults, only notices come.
  uffdio_register ask{};
  ask.range = {base, length};
  ask.mode = UFFDIO_REGISTER_MODE_WP;
  return ioctl(fd_, UFFDIO_REGISTER, &ask) == 0;
}

uint32_t Watcher::take(Range* out, bool& everything) {
  const std::lock_guard hold(mutex_);
  const uint32_t n = count_;
  std::copy(gone_, gone_ + n, out);
  everything = overflow_;
  count_ = 0;
  overflow_ = false;
  return n;
}

}  // namespace causeway::fabric
