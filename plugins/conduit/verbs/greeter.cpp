#include "greeter.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <system_error>

#include "../common/signals_blocked.h"
#include "calls.h"

namespace causeway::verbs {

Greeter::Greeter(cwyc_ep* ep) : ep_(ep), stop_(eventfd(0, EFD_CLOEXEC)) {
  const SignalsBlocked blocked;
  try {
    if (!stop_) throw std::system_error(errno, std::generic_category());
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& e) {
    log(CWY_LOG_INFO, "no thread for first contacts, which wait for this rank's calls: %s",
        e.what());
  }
}

// The caller may be inside the gate, which the thread only tries to enter.
Greeter::~Greeter() {
  if (!thread_.joinable()) return;
  eventfd_write(stop_.get(), 1);
  thread_.join();
}

void Greeter::run() {
  constexpr int soonest_ms = 1, latest_ms = 16;
  pollfd fds[2] = {{stop_.get(), POLLIN, 0}, {ep_->datagram_channel->fd, POLLIN, 0}};
  int again_ms = soonest_ms;  // the first look asks for events
  while (true) {
    // While a call is inside, that call or this thread's next look answers.
    const bool waits = again_ms != 0;
    if (poll(fds, waits ? 1 : 2, waits ? again_ms : -1) < 0) continue;
    if (fds[0].revents != 0) return;
    // The device has gone, or the program has closed the descriptor: nothing is announced any more.
    if (!waits && (fds[1].revents & POLLIN) == 0) fds[1].fd = -1;
    again_ms = answer() ? 0 : std::clamp(2 * again_ms, soonest_ms, latest_ms);
  }
}

// False: not now, since a call is inside or there is no memory.
bool Greeter::answer() try {
  const Visit visit(ep_->domain->gate);
  if (visit.refused()) return false;
  take_events(ep_->datagram_channel.get(), ep_->datagram_cq.get());
  ibv_req_notify_cq(ep_->datagram_cq.get(), solicited_only);
  if (collect_datagrams(ep_)) answer_hellos(ep_);
  // The event may have been the sleeper's; and what is left is for `progress`.
  if (ep_->sleeps || !ep_->introductions.empty()) wake_sleeper(ep_);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

}  // namespace causeway::verbs
