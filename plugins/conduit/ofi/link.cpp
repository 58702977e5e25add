// Links: one path to a peer's endpoint each, their table, and how they end.
#include <algorithm>

#include "../common/plugin_error.h"
#include "calls.h"

namespace causeway::ofi {
namespace {

// After an end without a good-bye: time for the launcher, or for the news that the job ends, to
// come first. Operations fail at once.
constexpr uint64_t grace_ns = 200'000'000;

void tell_death(Link& link) {
  if (link.reported) return;
  link.reported = true;
  services->peer_state(link.ep->params.core_ep, link.peer, CWY_PEER_FAILED, link.why);
}

// Whether what the peer sent before the link was lost may lie in a queue yet. The end of a
// connection, or that it takes nothing more, shows before what came over it has been read.
bool may_be_unread(const Link& link) {
  const cwyc_ep* ep = link.ep;
  return link.lost &&
         (ep->emptied == link.lost_at || ep->batch_head != ep->batch_tail || !ep->deferred.empty());
}

// Everything has been read: did the peer say good-bye?
void judge_loss(Link& link) {
  link.suspected = true;
  if (link.remote_closed || link.conn == nullptr) link.reported = true;  // in order, or nobody's
  if (!link.reported)
    services->peer_state(link.ep->params.core_ep, link.peer, CWY_PEER_SUSPECT, link.why);
}

}  // namespace

Link* make_link(cwyc_ep* ep, cwy_peer peer, uint64_t nonce) {
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
  link->nonce = nonce;
  link->index = link_name(place, ++ep->generations[place]);
  ++ep->counters.connections;
  ep->links[place] = std::move(link);
  return ep->links[place].get();
}

void abandon_pending(Link& link) {
  for (const Parked& frame : link.parked) {
    detach_pending(frame.ticket);
    give_back_ticket(link.ep, frame.ticket);
  }
  link.parked.clear();
  while (link.pending != nullptr) {
    Ticket* ticket = link.pending;
    detach_pending(ticket);
    const bool idle = std::erase(link.ep->reads_due, ticket) != 0;
    // The ticket returns to the pool when the provider lets go of it, and not before.
    ticket->copy_to = nullptr;
    report_op(ticket, 0, CWY_ERR_PEER_FAILED);
    if (idle) give_back_ticket(link.ep, ticket);
  }
}

void want_attention(Link* link) {
  if (link->on_todo) return;
  link->on_todo = true;
  link->ep->todo.push_back(link);
  chores_due(link->ep);
}

bool is_finished(const Link& link) {
  if (link.conn != nullptr || link.connect_op != nullptr) return false;
  if (link.purged) return true;
  if (link.state == LinkState::failed) return !may_be_unread(link);
  return link.local_closed && link.remote_closed && link.bye_sent && link.pending == nullptr;
}

void destroy_link(Link* link) {
  cwyc_ep* ep = link->ep;
  abandon_pending(*link);
  if (link->state == LinkState::connecting) --ep->connecting;
  link->own.reset();  // the provider lets go of its buffers
  // One that the provider gave back when the link was purged may be another link's by now.
  for (ReceiveBuffer* buffer : link->queue) {
    if (buffer->owner == link) buffer->owner = nullptr;
  }
  unwant_buffers(ep, link);
  if (link->address != FI_ADDR_UNSPEC && ep->av != nullptr) {
    // Other links to the same endpoint may share the address.
    const bool shared = std::any_of(ep->links.begin(), ep->links.end(), [&](const auto& other) {
      return other != nullptr && other.get() != link && other->address == link->address;
    });
    if (!shared) fi_av_remove(ep->av.get(), &link->address, 1, 0);
  }
  if (link->on_todo) std::erase(ep->todo, link);
  ep->links[link->index & link_place_mask].reset();
}

void finish_connect(Link& link, cwy_status status) {
  if (link.state == LinkState::connecting) {
    --link.ep->connecting;
    link.state = status == CWY_OK ? LinkState::up : LinkState::failed;
  }
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
  link.lost_at = link.ep->emptied;
  link.why = why;
  const bool was_connecting = link.state == LinkState::connecting;
  if (was_connecting) {
    finish_connect(link, CWY_ERR_UNREACHABLE);
    return;
  }
  link.state = LinkState::failed;
  link.deadline = services->now() + grace_ns;
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
  for (size_t i = 0; i < due.size(); ++i) {
    Link& link = *due[i];
    if (link.state == LinkState::connecting && link.active && services->now() > link.deadline) {
      ++events;
      finish_connect(link, CWY_ERR_TIMEOUT);
    }
    if (link.hello_due && !link.lost) link.hello_due = !send_hello(link, FrameKind::hello);
    if (link.welcome_due && !link.lost) link.welcome_due = !send_hello(link, FrameKind::welcome);
    while (!link.parked.empty() && post_parked(link, link.parked.front())) link.parked.pop_front();
    if (link.state == LinkState::up && !link.purged) tell_credit(link);
    if (link.state == LinkState::up && link.bye_due && !link.welcome_due)
      link.bye_due = !send_control(ep, link, FrameKind::bye, nullptr, 0);
    if (link.lost && !link.suspected && !may_be_unread(link)) judge_loss(link);
    if (link.suspected && !link.reported && services->now() > link.deadline) {
      ++events;
      tell_death(link);
    }
    if (is_finished(link)) {
      ++events;
      destroy_link(&link);
      continue;
    }
    const bool again = link.state == LinkState::connecting || !link.parked.empty() ||
                       link.hello_due || link.welcome_due || link.bye_due ||
                       (link.lost && (!link.reported || link.conn == nullptr));
    if (again) want_attention(&link);
  }
  return events;
}

}  // namespace causeway::ofi
