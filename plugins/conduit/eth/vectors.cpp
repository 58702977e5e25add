// Vector transfers: a unit for each piece, and one report for all of them.
#include "../common/scatter_gather.h"
#include "calls.h"

namespace causeway::eth {
namespace {

// Pieces that are contiguous on both sides; 0: the lists are not what the interface allows.
uint32_t pieces_of(const cwyc_vector& v) {
  if (v.rkey == nullptr || v.local_count > Conduit::most_pieces ||
      v.remote_count > Conduit::most_pieces)
    return 0;
  bool sound = true;
  uint32_t count = 0;
  const bool equal = for_each_common_piece(v, [&](void*, uint64_t raddr, size_t length) {
    ++count;
    sound = sound && inside(*v.rkey, raddr, length) && length <= Network::longest_transfer;
  });
  return equal && sound ? count : 0;
}

bool is_empty(const cwyc_vector& v) {
  uint64_t bytes = 0;
  for (uint64_t i = 0; i < v.local_count; ++i) bytes += v.local[i].length;
  for (uint64_t i = 0; i < v.remote_count; ++i) bytes += v.remote[i].length;
  return bytes == 0;
}

// So many tickets, in a row by `behind`, or none.
Ticket* take_tickets(cwyc_ep* ep, uint32_t count) {
  Ticket* first = nullptr;
  for (uint32_t i = 0; i < count; ++i) {
    Ticket* const ticket = fabric::take_ticket(ep);
    if (ticket == nullptr) {
      while (first != nullptr) give_back_ticket(ep, std::exchange(first, first->behind));
      return nullptr;
    }
    prepare_ticket(ticket);
    ticket->work = Work::get;
    ticket->report = 0;
    ticket->behind = first;
    first = ticket;
  }
  return first;
}

// Half of a vector cannot stay behind.
void must(Link& link, cwy_status status) {
  if (status != CWY_OK) break_off(link);
}

// `post(link, tickets, count)` posts the pieces. Each piece has a ticket, or all have one.
template <class Post>
cwy_status post_vector(cwyc_conn* conn, const cwyc_vector& v, bool each, Post&& post) {
  if (is_empty(v)) return CWY_OK;
  const uint32_t count = pieces_of(v);
  if (count == 0) return CWY_ERR_INVALID;
  const Pass pass(conn->ep->domain->gate);
  Network::Link& link = Conduit::link_of(conn);
  const uint32_t wanted = each ? count : 1;
  if (const cwy_status may = Network::may_post(link, wanted); may != CWY_OK) return may;
  Ticket* const tickets = take_tickets(conn->ep, wanted);
  if (tickets == nullptr) return CWY_RETRY;
  const bool alone = link.pending == nullptr;
  post(link, tickets, count);
  push(link, alone || link.in_flight <= few_under_way);
  return CWY_INPROGRESS;
}

}  // namespace

cwy_status Conduit::putv(cwyc_conn* conn, const cwyc_vector* v, uint32_t, cwyc_op* op) {
  return post_vector(conn, *v, false, [&](Network::Link& link, Ticket* ticket, uint32_t left) {
    ticket->work = Work::put;
    ticket->op = op;
    ticket->report = CWYC_DONE_LOCAL | CWYC_DONE_REMOTE;
    attach_pending(link, ticket);
    uint64_t bytes = 0;
    for_each_common_piece(*v, [&](void* local, uint64_t raddr, size_t length) {
      const UnitKind kind = --left == 0 ? UnitKind::put : UnitKind::write;
      must(link, post_piece(link, ticket, kind, local, length, raddr, v->rkey->key));
      bytes += length;
    });
    fabric::count_put(link, bytes);
    link.acks.push(ticket);
    if (ticket->unsent == 0) report_op(ticket, CWYC_DONE_LOCAL, CWY_OK);
  });
}

cwy_status Conduit::getv(cwyc_conn* conn, const cwyc_vector* v, uint32_t, cwyc_op* op) {
  return post_vector(conn, *v, true, [&](Network::Link& link, Ticket* tickets, uint32_t) {
    Ticket* last = tickets;
    while (last->behind != nullptr) last = last->behind;
    last->op = op;
    last->report = CWYC_DONE_REMOTE;
    uint64_t bytes = 0;
    for_each_common_piece(*v, [&](void* local, uint64_t raddr, size_t length) {
      auto* const ticket = std::exchange(tickets, tickets->behind);
      if (ticket != last) ticket->whole = last;
      must(link, post_piece(link, ticket, UnitKind::get, local, length, raddr, v->rkey->key));
      attach_pending(link, ticket);
      link.answers.push(ticket);
      bytes += length;
    });
    fabric::count_get(link, bytes);
  });
}

}  // namespace causeway::eth
