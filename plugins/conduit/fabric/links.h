// Links by name, what is under way over each, and how they come up and end. Only callers that are
// inside the endpoint's gate.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include "objects.h"
#include "pools.h"

namespace causeway::fabric {

// A link's name on the wire: where it stands, and which of the links that stood there it is.
inline constexpr uint32_t link_place_bits = 20;
inline constexpr uint32_t link_place_mask = (1u << link_place_bits) - 1;
inline constexpr uint32_t link_name(uint32_t place, uint32_t generation) {
  return place | generation << link_place_bits;  // the generation's upper bits go
}

// After an end without a good-bye: time for the launcher, or for the news that the job ends, to
// come first. Operations fail at once.
inline constexpr uint64_t grace_ns = 200'000'000;

// Two functions of sending that links need.
template <class Link>
bool send_control(Link& link, FrameKind kind, const void* payload = nullptr, size_t length = 0);
template <class Link>
void tell_credit(Link& link);

// NULL: the link of that name has gone, or there never was one.
template <class Ep>
inline typename Ep::Network::Link* find_link(Ep* ep, uint32_t name) {
  const auto& links = ep->links;
  const uint32_t place = name & link_place_mask;
  if (__builtin_expect(place >= links.size(), 0)) return nullptr;
  auto* const link = links[place].get();
  return link != nullptr && link->index == name ? link : nullptr;
}

// `ticket` is in the network's hands, on behalf of `link`.
template <class Link, class Ticket>
inline void join_pending(Link& link, Ticket* ticket) {
  ticket->link = &link;
  ticket->previous = nullptr;
  ticket->next = link.pending;
  if (link.pending != nullptr) link.pending->previous = ticket;
  link.pending = ticket;
  ++link.in_flight;
}

// Takes a ticket from the list of its link, if it is on one.
template <class Ticket>
inline void detach_pending(Ticket* ticket) {
  auto* const link = ticket->link;
  if (link == nullptr) return;
  if (ticket->previous != nullptr) ticket->previous->next = ticket->next;
  if (ticket->next != nullptr) ticket->next->previous = ticket->previous;
  if (link->pending == ticket) link->pending = ticket->next;
  ticket->next = ticket->previous = nullptr;
  ticket->link = nullptr;
  --link->in_flight;
  std::remove_pointer_t<decltype(link)>::Network::retired(*link, *ticket);
}

// Tells the core of `bits` as far as it is to be told of them; of all that is left on a failure.
template <class Ticket>
inline void report_op(Ticket* ticket, uint32_t bits, cwy_status status,
                      const cwy_detail* detail = nullptr) {
  cwyc_op* const op = ticket->op;
  if (op == nullptr) return;
  const uint32_t what = status == CWY_OK ? bits & ticket->report : ticket->report;
  ticket->report = static_cast<uint8_t>(ticket->report & ~what);
  if (ticket->report == 0) ticket->op = nullptr;
  if (what != 0) op->fn(op, what, status, detail);
}

// A link to the endpoint of that nonce that is as wanted; NULL: there is none.
template <class Ep, typename Wanted>
typename Ep::Network::Link* find_by_nonce(const Ep* ep, uint64_t nonce, Wanted&& wanted) {
  auto [at, end] = ep->by_nonce.equal_range(nonce);
  at = std::find_if(at, end, [&](const auto& each) { return wanted(*each.second); });
  return at != end ? at->second : nullptr;
}

template <class Link>
void want_attention(Link* link) {
  if (link->on_todo) return;
  link->on_todo = true;
  link->ep->todo.push_back(link);
  Link::Network::look_at_links(link->ep);
}

// From now on the peer may be silent for as long as a connection may take.
template <class Link>
void expect_answer(Link& link) {
  link.deadline = services->now() + link.ep->domain->options.connect_timeout_ns;
}

// A peer that does not answer may compute, for as long as it likes: that ends nothing, and a line
// says so. Its death is what the launcher, the kernel or the network tells.
template <class Link>
void tell_silence(Link& link, uint64_t now) {
  if (now <= link.deadline) return;
  expect_answer(link);
  log(CWY_LOG_INFO,
      "rank %u has not answered a first contact yet; it may compute, and is waited for",
      link.peer.rank);
}

// Watches the process of a peer whose number means the same here. False: there is none any more.
template <class Link>
bool watch_process(Link& link, const cwyc_peer_desc& peer, uint64_t here, uint64_t there) {
  if (peer.same_host == 0 || peer.same_process != 0 || link.process) return true;
  if (here == 0 || here != there) return true;
  link.process = watch_pid(peer.pid);
  return link.process || errno != ESRCH;  // where it cannot be watched, others tell of its end
}

// A link in state `connecting`; NULL: there are too many.
template <class Ep>
typename Ep::Network::Link* make_link(Ep* ep, cwy_peer peer, uint64_t nonce) {
  if (ep->holes.empty()) {
    if (ep->links.size() > link_place_mask) return nullptr;
    ep->holes.push_back(static_cast<uint32_t>(ep->links.size()));
    ep->links.emplace_back();
    ep->generations.push_back(0);
  }
  const uint32_t place = ep->holes.back();
  ep->holes.pop_back();
  auto link = std::make_unique<typename Ep::Network::Link>();
  link->ep = ep;
  link->peer = peer;
  link->nonce = nonce;
  link->index = link_name(place, ++ep->generations[place]);
  expect_answer(*link);
  ep->counters.connections.add(1);
  ++ep->connecting;
  Ep::Network::look_at_links(ep);
  ep->by_nonce.emplace(nonce, link.get());
  ep->links[place] = std::move(link);
  return ep->links[place].get();
}

// Everything the core waits for ends with `status`; a ticket returns to the pool when the network
// lets go of it, and not before.
template <class Link>
void abandon_pending(Link& link, cwy_status status) {
  while (link.pending != nullptr) {
    auto* const ticket = link.pending;
    detach_pending(ticket);
    const bool idle = Link::Network::withdraw(link, ticket);
    ticket->copy_to = nullptr;
    report_op(ticket, 0, status);
    if (idle) give_back_ticket(link.ep, ticket);
  }
}

// True when nothing more can come of it.
template <class Link>
bool is_finished(const Link& link) {
  if (link.conn != nullptr || link.connect_op != nullptr) return false;
  if (link.purged) return true;
  if (link.state == LinkState::failed) return !Link::Network::may_be_unread(link);
  if (link.state == LinkState::parked) return link.local_closed;
  return link.local_closed && link.remote_closed && link.bye_sent && link.pending == nullptr;
}

template <class Link>
void leave_connecting(Link& link, LinkState state) {
  if (link.state == LinkState::connecting) --link.ep->connecting;
  link.state = state;
}

template <class Link>
void destroy_link(Link* link) {
  auto* const ep = link->ep;
  leave_connecting(*link, LinkState::failed);
  Link::Network::end_path(*link);
  abandon_pending(*link, CWY_ERR_PEER_FAILED);
  if (link->on_todo) std::erase(ep->todo, link);
  auto at = ep->by_nonce.find(link->nonce);
  while (at->second != link) ++at;  // those of one endpoint stand together
  ep->by_nonce.erase(at);
  ep->holes.push_back(link->index & link_place_mask);
  ep->links[ep->holes.back()].reset();
}

template <class Link>
void finish_connect(Link& link, cwy_status status) {
  if (link.state == LinkState::connecting)
    leave_connecting(link, status == CWY_OK ? LinkState::up : LinkState::failed);
  if (cwyc_op* op = std::exchange(link.connect_op, nullptr)) {
    if (status != CWY_OK) {
      // The core does not disconnect what never was connected.
      if (link.conn != nullptr) link.conn->priv = nullptr;
      link.conn = nullptr;
    }
    const char* const why = status == CWY_ERR_TIMEOUT ? "no answer in connect_timeout" : link.why;
    const cwy_detail detail{CWY_HEAD(cwy_detail), 0, 0, why};
    op->fn(op, CWYC_DONE_REMOTE, status, status != CWY_OK ? &detail : nullptr);
  }
  want_attention(&link);
}

// Everything that came over a lost link has been read: did the peer say good-bye?
template <class Link>
void judge_loss(Link& link) {
  link.suspected = true;
  if (link.remote_closed || link.conn == nullptr) link.reported = true;  // in order, or nobody's
  if (!link.reported)
    conduit::tell_peer_state(link.ep->params, link.peer, CWY_PEER_SUSPECT, link.why);
}

template <class Link>
void tell_death(Link& link) {
  link.reported = true;
  conduit::tell_peer_state(link.ep->params, link.peer, CWY_PEER_FAILED, link.why);
}

// The peer does not answer any more, or said good-bye without our leave.
template <class Link>
void lose_link(Link& link, const char* why) {
  if (link.lost) return;
  link.lost = true;
  link.why = why;
  Link::Network::path_lost(link);
  link.deadline = services->now() + grace_ns;
  if (link.state == LinkState::connecting) {
    finish_connect(link, CWY_ERR_UNREACHABLE);
    return;
  }
  link.state = LinkState::failed;
  if (!Link::Network::may_be_unread(link)) judge_loss(link);
  want_attention(&link);
}

// Notes the newest epoch of a rank; false when `peer` is older than that. The table is small and
// grows to the largest rank that was heard of.
template <class Ep>
bool admit_epoch(Ep* ep, cwy_peer peer) {
  if (peer.rank >= ep->newest_epoch.size()) {
    if (peer.rank > (1u << 24)) return false;  // no such job: these are strange bytes
    ep->newest_epoch.resize(peer.rank + 1, 0);
  }
  uint32_t& newest = ep->newest_epoch[peer.rank];
  if (peer.epoch < newest) return false;
  if (peer.epoch == newest) return true;
  if (std::exchange(newest, peer.epoch) == 0) return true;  // never met: there is no link
  for (const auto& link : ep->links) {
    if (link == nullptr || link->peer.rank != peer.rank || link->peer.epoch >= peer.epoch) continue;
    link->purged = true;  // what still arrives is dropped
    want_attention(link.get());
  }
  return true;
}

// One step of a link that asked for attention. True when it wants another one.
template <class Link>
bool push_link(Link& link, uint64_t now, uint32_t& events) {
  if (link.state == LinkState::connecting) events += Link::Network::push_connecting(link, now);
  // A good-bye goes behind everything that the network's own part still has to say.
  const bool held_up = Link::Network::push_path(link);
  if (link.state == LinkState::up && !link.purged) tell_credit(link);
  if (link.state == LinkState::up && link.bye_due && !held_up)
    link.bye_due = !send_control(link, FrameKind::bye);
  if (link.lost && !link.suspected && !Link::Network::may_be_unread(link)) judge_loss(link);
  if (link.suspected && !link.reported && now > link.deadline) {
    ++events;
    tell_death(link);
  }
  return link.state == LinkState::connecting || held_up || link.bye_due ||
         (link.lost && (!link.reported || link.conn == nullptr));
}

// One step for every link that asked for it. Links that need another one ask again.
template <class Ep>
uint32_t push_todo(Ep* ep) {
  std::vector<typename Ep::Network::Link*> due;
  due.swap(ep->todo);
  for (auto* link : due) link->on_todo = false;
  uint32_t events = 0;
  const uint64_t now = services->now();
  for (auto* link : due) {
    const bool again = push_link(*link, now, events);
    if (is_finished(*link)) {
      ++events;
      destroy_link(link);
    } else if (again) {
      want_attention(link);
    }
  }
  return events;
}

}  // namespace causeway::fabric
