#include "process/suspects.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/clock.h"

namespace causeway {
namespace {

// Readable once the process has ended, reaped or not.
bool has_ended(int pidfd) {
  if (pidfd < 0) return true;
  pollfd look{pidfd, POLLIN, 0};
  return ::poll(&look, 1, 0) == 1;
}

void close_if_open(int pidfd) {
  if (pidfd >= 0) ::close(pidfd);
}

}  // namespace

Suspects::~Suspects() {
  for (const Watched& w : watched_) close_if_open(w.pidfd);
}

void Suspects::add(Suspect suspect, pid_t pid) {
  constexpr uint64_t kLongest = 1'000'000'000;
  const int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (pidfd < 0 && errno != ESRCH) return;  // it cannot be looked at: old kernels, no descriptors
  const std::lock_guard lock(mutex_);
  watched_.push_back({std::move(suspect), pidfd, now_ns() + kLongest});
}

std::vector<Suspects::Suspect> Suspects::take_gone() {
  std::vector<Suspect> gone;
  const std::lock_guard lock(mutex_);
  const uint64_t now = now_ns();
  std::erase_if(watched_, [&](Watched& w) {
    const bool ended = has_ended(w.pidfd);
    if (!ended && now < w.until_ns) return false;
    close_if_open(w.pidfd);
    if (ended) gone.push_back(std::move(w.suspect));
    return true;
  });
  return gone;
}

bool Suspects::any() {
  const std::lock_guard lock(mutex_);
  return !watched_.empty();
}

}  // namespace causeway
