// Links by name, and what is under way over each: shared by conduits that keep paths to peers in a
// table and operations on a list of their path. Only who is inside the endpoint calls.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <causeway/conduit.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace causeway {

// A link's name on the wire: where it stands, and which of the links that stood there it is.
inline constexpr uint32_t link_place_bits = 20;
inline constexpr uint32_t link_place_mask = (1u << link_place_bits) - 1;
inline constexpr uint32_t link_name(uint32_t place, uint32_t generation) {
  return place | generation << link_place_bits;  // the generation's upper bits go
}

// NULL: the link of that name has gone, or there never was one.
template <class Link>
Link* find_link(const std::vector<std::unique_ptr<Link>>& links, uint32_t name) {
  const uint32_t place = name & link_place_mask;
  if (__builtin_expect(place >= links.size(), 0)) return nullptr;
  Link* const link = links[place].get();
  return link != nullptr && link->index == name ? link : nullptr;
}

// `ticket` is in the network's hands, on behalf of `link`.
template <class Link, class Ticket>
void join_pending(Link& link, Ticket* ticket) {
  ticket->link = &link;
  ticket->previous = nullptr;
  ticket->next = link.pending;
  if (link.pending != nullptr) link.pending->previous = ticket;
  link.pending = ticket;
  ++link.in_flight;
}

// The link that it was pending on; NULL for one that is on no list.
template <class Ticket>
auto* leave_pending(Ticket* ticket) {
  auto* const link = ticket->link;
  if (link == nullptr) return link;
  if (ticket->previous != nullptr) ticket->previous->next = ticket->next;
  if (ticket->next != nullptr) ticket->next->previous = ticket->previous;
  if (link->pending == ticket) link->pending = ticket->next;
  ticket->next = ticket->previous = nullptr;
  ticket->link = nullptr;
  --link->in_flight;
  return link;
}

// Tells the core of `bits` as far as it is to be told of them; of all that is left on a failure.
template <class Ticket>
void report_op(Ticket* ticket, uint32_t bits, cwy_status status) {
  cwyc_op* const op = ticket->op;
  if (op == nullptr) return;
  const uint32_t what = status == CWY_OK ? bits & ticket->report : ticket->report;
  ticket->report = static_cast<uint8_t>(ticket->report & ~what);
  if (ticket->report == 0) ticket->op = nullptr;
  if (what != 0) op->fn(op, what, status);
}

}  // namespace causeway
