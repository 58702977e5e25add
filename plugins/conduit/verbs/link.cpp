// Links: one queue pair to a peer's endpoint each, their table, and how they end.
#include <algorithm>
#include <utility>

#include "calls.h"

namespace causeway::verbs {
namespace {

// After an end without a good-bye: time for the launcher, or for the news that the job ends, to
// come first. Operations fail at once.
constexpr uint64_t grace_ns = 200'000'000;

void tell_death(Link& link) {
  if (link.reported) return;
  link.reported = true;
  services->peer_state(link.ep->params.core_ep, link.peer, CWY_PEER_FAILED, link.why);
}

// True when nothing more can come of it.
bool is_finished(const Link& link) {
  if (link.conn != nullptr || link.connect_op != nullptr) return false;
  if (link.purged || link.state == LinkState::failed) return true;
  return link.local_closed && link.remote_closed && link.bye_sent && link.pending == nullptr;
}

// The connecting side repeats its hello; both sides give up after a while.
uint32_t push_connecting(Link& link, uint64_t now) {
  constexpr uint64_t longest_gap = 500'000'000;
  if (now >= link.deadline) {
    finish_connect(link, CWY_ERR_TIMEOUT);
    return 1;
  }
  if (!link.active || now < link.next_hello) return 0;
  link.hello_gap = std::min(link.hello_gap * 2, longest_gap);
  link.next_hello = now + link.hello_gap;
  send_hello(link, Step::hello);
  return 0;
}

// One step of a link that asked for attention. True when it wants another one.
bool push(Link& link, uint32_t& events) {
  const uint64_t now = services->now();
  if (link.state == LinkState::connecting) events += push_connecting(link, now);
  if (link.state == LinkState::up && link.ready_due)
    link.ready_due = !send_control(link, FrameKind::ready);
  if (link.state == LinkState::up && !link.purged) tell_credit(link);
  if (link.state == LinkState::up && link.bye_due && !link.ready_due)
    link.bye_due = !send_control(link, FrameKind::bye);
  if (link.lost && !link.reported && link.state == LinkState::failed && now > link.deadline) {
    ++events;
    tell_death(link);
  }
  return link.state == LinkState::connecting || link.ready_due || link.bye_due ||
         (link.lost && !link.reported);
}

}  // namespace

Link* make_link(cwyc_ep* ep, cwy_peer peer, const Address& address) {
  uint32_t place = 0;
  while (place < ep->links.size() && ep->links[place] != nullptr) ++place;
  if (place > link_place_mask) return nullptr;
  if (place == ep->links.size()) {
    ep->links.emplace_back();
    ep->generations.push_back(0);
  }
  auto link = std::make_unique<Link>();
  link->ep = ep;
  link->peer = peer;
  link->address = address;
  link->index = link_name(place, ++ep->generations[place]);
  // Packets of an earlier queue pair of the same number must not fit in.
  link->psn = static_cast<uint32_t>((ep->nonce >> 16) * (link->index + 1)) & 0xffffff;
  link->deadline = services->now() + ep->domain->options.connect_timeout_ns;
  ++ep->counters.connections;
  ep->links[place] = std::move(link);
  return ep->links[place].get();
}

void detach_pending(Ticket* ticket) {
  Link* const link = leave_pending(ticket);
  if (link == nullptr) return;
  link->ep->in_flight -= ticket->own;
  link->ep->unsignaled -= ticket->slots - ticket->own;
}

void abandon_pending(Link& link, cwy_status status) {
  while (link.pending != nullptr) {
    Ticket* ticket = link.pending;
    detach_pending(ticket);
    // The ticket returns to the pool with its completion, which has been read already.
    ticket->copy_to = nullptr;
    report_op(ticket, 0, status);
  }
}

void want_attention(Link* link) {
  if (link->on_todo) return;
  link->on_todo = true;
  link->ep->todo.push_back(link);
}

void destroy_link(Link* link) {
  cwyc_ep* ep = link->ep;
  unwatch_process(*link);
  end_queue_pair(*link);
  abandon_pending(*link, CWY_ERR_PEER_FAILED);
  withdraw_buffers(*link);
  if (link->on_todo) std::erase(ep->todo, link);
  ep->links[link->index & link_place_mask].reset();
}

void finish_connect(Link& link, cwy_status status) {
  if (link.state == LinkState::connecting)
    link.state = status == CWY_OK ? LinkState::up : LinkState::failed;
  if (cwyc_op* op = std::exchange(link.connect_op, nullptr)) {
    if (status != CWY_OK) {
      // The core does not disconnect what never was connected.
      if (link.conn != nullptr) link.conn->priv = nullptr;
      link.conn = nullptr;
    }
    op->fn(op, CWYC_DONE_REMOTE, status);
  }
  want_attention(&link);
}

void lose_link(Link& link, const char* why) {
  if (link.lost) return;
  link.lost = true;
  link.why = why;
  unwatch_process(link);
  if (link.state == LinkState::connecting) {
    finish_connect(link, CWY_ERR_UNREACHABLE);
    return;
  }
  link.state = LinkState::failed;
  link.deadline = services->now() + grace_ns;
  stop_queue_pair(link);  // its operations end now, not after the last retransmission
  if (link.remote_closed || link.conn == nullptr) link.reported = true;  // in order, or nobody's
  if (!link.reported)
    services->peer_state(link.ep->params.core_ep, link.peer, CWY_PEER_SUSPECT, why);
  want_attention(&link);
}

// The table is small and grows to the largest rank that was heard of.
bool admit_epoch(cwyc_ep* ep, cwy_peer peer) {
  if (peer.rank >= ep->newest_epoch.size()) {
    if (peer.rank > (1u << 24)) return false;  // no such job: these are strange bytes
    ep->newest_epoch.resize(peer.rank + 1, 0);
  }
  uint32_t& newest = ep->newest_epoch[peer.rank];
  if (peer.epoch < newest) return false;
  if (peer.epoch == newest) return true;
  newest = peer.epoch;
  for (const auto& link : ep->links) {
    if (link == nullptr || link->peer.rank != peer.rank || link->peer.epoch >= peer.epoch) continue;
    link->purged = true;  // what still arrives is dropped
    want_attention(link.get());
  }
  return true;
}

// One step for every link that asked for it. Links that need another one ask again.
uint32_t push_todo(cwyc_ep* ep) {
  std::vector<Link*> due;
  due.swap(ep->todo);
  for (Link* link : due) link->on_todo = false;
  uint32_t events = 0;
  for (Link* link : due) {
    const bool again = push(*link, events);
    if (is_finished(*link)) {
      ++events;
      destroy_link(link);
    } else if (again) {
      want_attention(link);
    }
  }
  return events;
}

}  // namespace causeway::verbs
