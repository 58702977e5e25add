// Whether peers' processes still run.
#include <algorithm>
#include <cstdio>
#include <utility>

#include "endpoint.h"

namespace causeway::shm {
namespace {

// Sweeps are made by idle polls, with a system call per connection. A failure is to be noticed
// within 100 ms: the shortest interval and the patience below leave half of it to the scheduler.
// Beyond 50 connections sweeps cost as much as those of 50.
constexpr uint64_t shortest_interval_ns = 10'000'000, longest_interval_ns = 50'000'000;
constexpr uint64_t per_connection_ns = 200'000;
// Messages that a dead peer had sent are delivered first, but not for ever.
constexpr uint32_t patient_sweeps = 4;

void report_gone(Connection& c) {
  c.failed.store(true, std::memory_order_relaxed);
  if (std::exchange(c.reported, true)) return;
  char text[64];
  std::snprintf(text, sizeof text, "process %u is gone", c.peer_pid);
  conduit::tell_peer_state(c.conn->ep->params, c.conn->peer, CWY_PEER_FAILED, text);
  if (c.conn->ep->domain->posix) sweep_stale_objects();  // the dead cannot remove their names
}

}  // namespace

// A pidfd where one can be had: it never means another process. Else the pid and its start time,
// which no process has where this one has been reaped before.
ProcessHandle::ProcessHandle(uint32_t pid) : pidfd_(watch_pid(pid)), pid_(pid) {
  if (pidfd_) return;
  start_time_ = process_start_time(pid).value_or(0);
  if (start_time_ == 0 && process_start_time(getpid()).value_or(0) != 0) start_time_ = UINT64_MAX;
}

bool ProcessHandle::gone() const {
  if (pidfd_) return has_ended(pidfd_);
  return pid_ != 0 && process_start_time(pid_).value_or(start_time_) != start_time_;
}

bool check_peer(Connection& c) {
  if (c.has_failed()) return true;
  // Acquire: the peer's last stores come before its farewell.
  if (c.peer_control->closed.load(std::memory_order_acquire) != 0) {
    c.failed.store(true, std::memory_order_relaxed);  // in good order: nothing to report
    return true;
  }
  if (!c.process.gone()) return false;
  const std::lock_guard lock(c.conn->ep->connections_mutex);
  report_gone(c);
  return true;
}

void check_liveness(cwyc_ep* ep) {
  const uint64_t now = services->now();
  if (now < ep->next_liveness.load(std::memory_order_relaxed)) return;
  const std::unique_lock lock(ep->connections_mutex, std::try_to_lock);
  if (!lock.owns_lock()) return;
  ep->next_liveness.store(now + std::clamp(ep->connections.size() * per_connection_ns,
                                           shortest_interval_ns, longest_interval_ns),
                          std::memory_order_relaxed);
  for (Connection* c : ep->connections) {
    if (c->reported || c->has_failed()) continue;
    if (c->peer_control->closed.load(std::memory_order_acquire) != 0) continue;
    if (!c->process.gone()) continue;
    if (has_unread(ep, c->conn->peer.rank) && ++c->dead_sweeps < patient_sweeps) continue;
    report_gone(*c);
  }
}

}  // namespace causeway::shm
