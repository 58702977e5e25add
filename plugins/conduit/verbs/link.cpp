// What the engine asks of this network's links: how they are moved on and ended.
#include <algorithm>

#include "calls.h"

namespace causeway::verbs {

void Network::retired(Link& link, const Ticket& ticket) {
  link.ep->in_flight -= ticket.own;
  link.ep->unsignaled -= ticket.slots - ticket.own;
}

void Network::path_lost(Link& link) {
  unwatch_process(link);
  // Its operations end now, not after the last retransmission.
  if (link.state != LinkState::connecting) stop_queue_pair(link);
}

void Network::end_path(Link& link) {
  purge_path(link);
  withdraw_buffers(link);
}

// Ending the queue pair takes all buffers back from the device.
void Network::purge_path(Link& link) {
  unwatch_process(link);
  end_queue_pair(link);
}

void Network::left(Link& link) {
  unwatch_process(link);
}

// The connecting side repeats its hello; both sides give up after a while.
uint32_t Network::push_connecting(Link& link, uint64_t now) {
  constexpr uint64_t longest_gap = 500'000'000;
  if (now >= link.deadline) {
    finish_connect(link, CWY_ERR_TIMEOUT);
    return 1;
  }
  if (!link.active || now < link.next_hello) return 0;
  link.hello_gap = std::min(link.hello_gap * 2, longest_gap);
  link.next_hello = now + link.hello_gap;
  send_hello(link, step_hello);
  return 0;
}

bool Network::push_path(Link& link) {
  if (link.state == LinkState::up && link.ready_due)
    link.ready_due = !send_control(link, FrameKind::ready);
  return link.ready_due;
}

}  // namespace causeway::verbs
