#include "leases.h"

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

#include "../common/signals_blocked.h"

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

namespace causeway::verbs {
namespace {

uint64_t page_bytes() {
  static const auto bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

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
    why_ = std::strerror(errno);
    if (stop_ >= 0) close(stop_);
    close(fd_);
    fd_ = stop_ = -1;
    return;
  }
  const SignalsBlocked blocked;
  monitor_ = std::thread([this] { run(); });
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
      if (message.event == UFFD_EVENT_UNMAP || message.event == UFFD_EVENT_REMOVE) {
        range = {message.arg.remove.start, message.arg.remove.end};
      } else if (message.event == UFFD_EVENT_REMAP) {
        range = {message.arg.remap.from, message.arg.remap.from + message.arg.remap.len};
      } else {
        continue;
      }
      if (count_ == room) {
        overflow_ = true;
      } else {
        gone_[count_++] = range;
      }
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

Leases::Leases(ibv_pd* pd, RegistrationCache mode, uint64_t idle_bytes_max)
    : pd_(pd), mode_(mode), idle_max_(idle_bytes_max) {}

Leases::~Leases() {
  for (auto& [base, lease] : by_base_) ibv_dereg_mr(lease->mr);
}

// The watcher and its thread come with the first buffer that needs one.
void Leases::start_watching() {
  started_ = true;
  if (mode_ != RegistrationCache::watch) return;
  watcher_ = std::make_unique<Watcher>();
  if (watcher_->usable()) return;
  unwatched_why_ = watcher_->why();
  watcher_.reset();
  mode_ = RegistrationCache::in_flight;
}

void Leases::drop(Lease* lease) {
  const auto [first, last] = by_base_.equal_range(lease->base);
  for (auto at = first; at != last; ++at) {
    if (at->second.get() != lease) continue;
    ibv_dereg_mr(lease->mr);
    by_base_.erase(at);
    return;
  }
}

void Leases::drop_idle(Lease* lease) {
  idle_.erase(lease->idle);
  idle_bytes_ -= lease->length;
  drop(lease);
}

void Leases::forget(uint64_t begin, uint64_t end) {
  auto at = by_base_.lower_bound(begin > longest_ ? begin - longest_ : 0);
  while (at != by_base_.end() && at->first < end) {
    Lease* lease = at->second.get();
    ++at;  // the lease may go
    if (lease->base + lease->length <= begin || lease->stale) continue;
    ++invalidated_;
    lease->stale = true;
    if (lease->users == 0) drop_idle(lease);
  }
}

void Leases::forget_what_went_away() {
  if (watcher_ == nullptr) return;
  bool everything = false;
  const uint32_t n = watcher_->take(gone_, everything);
  if (everything) return forget(0, UINT64_MAX);
  for (uint32_t i = 0; i < n; ++i) forget(gone_[i].begin, gone_[i].end);
}

Lease* Leases::find(uint64_t base, uint64_t length, bool write) {
  // Neighbours that begin at or before `base` are looked at while they are near; a program that
  // reuses buffers meets its lease at once.
  auto at = by_base_.upper_bound(base);
  for (int looked = 0; at != by_base_.begin() && looked < 8; ++looked) {
    --at;
    Lease& lease = *at->second;
    if (!lease.stale && base + length <= lease.base + lease.length && (lease.writable || !write))
      return &lease;
  }
  return nullptr;
}

ibv_mr* Leases::make(Lease& lease, bool write) {
  void* at = reinterpret_cast<void*>(lease.base);
  lease.writable = true;
  ibv_mr* mr = ibv_reg_mr(pd_, at, lease.length, local_access);
  if (mr == nullptr && errno == ENOMEM && !idle_.empty()) {
    while (!idle_.empty()) drop_idle(idle_.front());
    mr = ibv_reg_mr(pd_, at, lease.length, local_access);
  }
  if (mr != nullptr || write) return mr;
  lease.writable = false;  // constants
  return ibv_reg_mr(pd_, at, lease.length, 0);
}

Lease* Leases::take(const void* base, size_t length, bool write) {
  const auto begin = reinterpret_cast<uint64_t>(base);
  if (!started_) start_watching();
  forget_what_went_away();
  if (Lease* lease = find(begin, length, write)) {
    ++hits_;
    if (lease->users++ == 0) {
      idle_.erase(lease->idle);
      idle_bytes_ -= lease->length;
    }
    return lease;
  }
  ++misses_;
  auto lease = std::make_unique<Lease>();
  const uint64_t page = page_bytes();
  lease->base = begin / page * page;
  lease->length = (begin + length - lease->base + page - 1) / page * page;
  // Watched before it is registered: nothing is missed between the two.
  lease->keep = mode_ == RegistrationCache::keep ||
                (watcher_ != nullptr && watcher_->watch(lease->base, lease->length));
  lease->mr = make(*lease, write);
  if (lease->mr == nullptr) return nullptr;
  lease->users = 1;
  longest_ = std::max(longest_, lease->length);
  return by_base_.emplace(lease->base, std::move(lease))->second.get();
}

void Leases::give_back(Lease* lease) {
  if (--lease->users != 0) return;
  if (lease->stale || !lease->keep || lease->length > idle_max_) return drop(lease);
  lease->idle = idle_.insert(idle_.end(), lease);
  idle_bytes_ += lease->length;
  while (idle_bytes_ > idle_max_) drop_idle(idle_.front());
}

}  // namespace causeway::verbs
