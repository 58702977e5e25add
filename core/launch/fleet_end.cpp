// How hosts leave a fleet: in good order, lost, or when they have been waited for long enough.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>

#include "base/error.h"
#include "launch/clock.h"
#include "launch/fleet.h"

namespace causeway::launch {
namespace {

// From the order to end to the end of the agents, beyond the processes' own time.
constexpr double kDismissPatience = 3.0;
// A host whose processes have ended takes its leave within this time of the last news of them, and
// has this much left that they wrote, for each: two pipes and what is under way.
constexpr double kLeavePatience = 10.0;
constexpr size_t kLastOutput = 4 << 20;

}  // namespace

// The relay takes its leave: its processes have ended, and what they wrote has come.
void Fleet::take_done(uint32_t host) {
  for (const uint32_t process : layout_.on_host(host))
    if (!ended_[process])
      throw Error(CWY_ERR_INVALID, "it has nothing left, but process {} has not ended", process);
  hosts_[host].state = State::done;
  end_output(host);
  hosts_[host].channel.send(Word::dismiss);
}

void Fleet::lose(uint32_t host, const std::string& how) {
  Host& lost = hosts_[host];
  if (lost.state == State::lost || lost.state == State::done) return;
  lost.state = State::lost;
  lost.channel.close();
  if (lost.running == 0)
    events_.on_remark(
        fmt::format("host {} is lost, whose processes have ended: {}; what they wrote last may be "
                    "missing",
                    layout_.hosts[host], how));
  for (const uint32_t process : layout_.on_host(host)) forget(process);
  end_output(host);
  if (reads_stdin(host)) end_stdin();
  if (started_ && lost.began) return events_.on_host_lost(host, how);
  start_failed_ = start_failed_ || !started_;
  events_.on_start_failure(fmt::format("host {} is lost: {}", layout_.hosts[host], how));
  events_.on_host_lost(host, how);
  if (!started_) abandon_start();
}

void Fleet::end_output(uint32_t host) {
  for (const uint32_t process : layout_.on_host(host)) {
    for (const uint32_t index : {2 * process, 2 * process + 1}) {
      feeds_[index].end();
      feeds_[index].pump();
    }
  }
}

bool Fleet::waits_for_our_reader(uint32_t host) const {
  const std::vector<uint32_t> processes = layout_.on_host(host);
  return hosts_[host].running == 0 && std::ranges::any_of(processes, [&](uint32_t p) {
           return !feeds_[2 * p].empty() || !feeds_[2 * p + 1].empty();
         });
}

double Fleet::leaves_until(uint32_t host) const {
  const bool leaves = started_ && hosts_[host].state == State::joined &&
                      hosts_[host].running == 0 && !waits_for_our_reader(host);
  return leaves ? hosts_[host].told_at + kLeavePatience : kNever;
}

bool Fleet::sends_too_late(uint32_t host, size_t bytes) {
  Host& from = hosts_[host];
  if (from.given_up || from.running == 0) from.late += bytes;
  return from.late > kLastOutput && from.late > kLastOutput * layout_.on_host(host).size();
}

void Fleet::give_up(double since) {
  for (uint32_t host = 0; host < hosts_.size(); ++host) {
    hosts_[host].given_up = true;
    if (hosts_[host].state != State::joined || hosts_[host].told_at > since) continue;
    if (waits_for_our_reader(host)) continue;
    events_.on_remark(
        fmt::format("host {} does not say that its processes have ended after they "
                    "were killed; some may be left there",
                    layout_.hosts[host]));
    lose(host, "it does not end");
  }
}

bool Fleet::quiet() const {
  for (const Host& host : hosts_)
    if (host.state == State::joined) return false;
  return std::ranges::none_of(feeds_, [](const Feed& feed) { return feed.open(); });
}

// Relays that are told end their processes, if any are left, put their host in order and go.
void Fleet::dismiss() {
  for (Host& host : hosts_)
    if (host.state == State::joined) host.channel.send(Word::dismiss);
  const double sent_until = now_s() + 1.0;
  for (Host& host : hosts_) {
    if (host.state == State::lost) continue;
    host.channel.drain(sent_until);
    host.agent.in.reset();
  }
  const double until = now_s() + options_.kill_grace_s + kDismissPatience;
  const auto waits = [this] {
    return std::ranges::any_of(hosts_, [](const Host& host) {
      return host.agent_runs && (host.state == State::joined || host.state == State::done);
    });
  };
  while (waits() && now_s() < until) {
    on_children();
    if (waits()) ::usleep(2000);
  }
}

}  // namespace causeway::launch
