// Puts, gets and atomics of the conduit's table, and how operations end.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstring>

#include "../common/cpu_atomics.h"
#include "local.h"
#include "messages.h"

namespace causeway::fabric {

// The first half of an operation's end: its link hears of it, the result stands where it is wanted.
template <class Ticket>
inline void settle(Ticket* ticket, cwy_status status) {
  if (auto* const link = ticket->link) {
    if (ticket->work == Work::last_send) link->bye_sent = true;
    detach_pending(ticket);
    // Not with the good-bye, which may leave before what was posted ahead of it.
    if (link->bye_sent && link->pending == nullptr) want_attention(link);
  }
  if (ticket->copy_to != nullptr && status == CWY_OK) {
    const void* from = ticket->bounce != nullptr ? ticket->bounce->data
                                                 : static_cast<const void*>(&ticket->result);
    std::memcpy(ticket->copy_to, from, ticket->copy_bytes);
  }
}

// The second: the core hears of it.
template <class Ep, class Ticket>
inline void tell(Ep* ep, Ticket* ticket, cwy_status status, const cwy_detail* detail = nullptr) {
  report_op(ticket, CWYC_DONE_LOCAL | CWYC_DONE_REMOTE, status, detail);
  give_back_ticket(ep, ticket);
}

template <class N>
struct Transfers : Messages<N> {
  using Link = typename N::Link;
  using Ticket = typename N::Ticket;
  using Ep = typename N::Endpoint;
  using Mem = typename N::Mem;
  using Rkey = typename N::Rkey;
  using Messages<N>::link_of;

  static cwy_status put(cwyc_conn* conn, const void* src, Mem* lmem, uint64_t raddr, Rkey* rkey,
                        size_t length, uint32_t flags, cwyc_op* op) {
    if (length == 0) return CWY_OK;
    if (rkey == nullptr || !inside(*rkey, raddr, length)) return CWY_ERR_INVALID;
    Ep* const ep = conn->ep;
    if (length > N::longest(ep->domain)) return CWY_ERR_INVALID;
    const Pass pass(ep->domain->gate);
    constexpr uint8_t both = CWYC_DONE_LOCAL | CWYC_DONE_REMOTE;
    if ((flags & CWYC_SRC_VOLATILE) == 0)
      return post_put(ep, link_of(conn), src, lmem, raddr, *rkey, length, false, both, op);
    const cwy_status status =
        post_put(ep, link_of(conn), src, lmem, raddr, *rkey, length, true, CWYC_DONE_REMOTE, op);
    if (status == CWY_ERR_UNSUPPORTED)  // too large for a copy of ours: LOCAL comes when it may
      return post_put(ep, link_of(conn), src, lmem, raddr, *rkey, length, false, both, op);
    if (status == CWY_INPROGRESS) op->fn(op, CWYC_DONE_LOCAL, CWY_OK, nullptr);
    return status;
  }

  static cwy_status get(cwyc_conn* conn, void* dst, Mem* lmem, uint64_t raddr, Rkey* rkey,
                        size_t length, uint32_t, cwyc_op* op) {
    if (length == 0) return CWY_OK;
    if (rkey == nullptr || !inside(*rkey, raddr, length)) return CWY_ERR_INVALID;
    Ep* const ep = conn->ep;
    if (length > N::longest(ep->domain)) return CWY_ERR_INVALID;
    const Pass pass(ep->domain->gate);
    Link& link = link_of(conn);
    cwy_status status = N::may_post(link, 1);
    if (status != CWY_OK) return status;
    Local<N> local{dst};
    status = prepare(ep, lmem, length, false, true, local);
    if (status != CWY_OK) return status;
    Ticket* const ticket = ticket_for(ep, local, Work::get, CWYC_DONE_REMOTE, op);
    if (ticket == nullptr) return CWY_RETRY;
    if (local.bounce != nullptr) {
      ticket->copy_to = dst;
      ticket->copy_bytes = length;
    }
    status = N::read(link, ticket, local, length, raddr, *rkey);
    if (status != CWY_OK) return status;
    count_get(link, length);
    return CWY_INPROGRESS;
  }

  static cwy_status atomic(cwyc_conn* conn, const cwyc_atomic* a, Rkey* rkey, uint32_t,
                           cwyc_op* op) {
    if (!std::has_single_bit(a->opcode) || !std::has_single_bit(a->dt)) return CWY_ERR_INVALID;
    const auto operation = static_cast<uint32_t>(std::countr_zero(a->opcode));
    const auto type = static_cast<uint32_t>(std::countr_zero(a->dt));
    Ep* const ep = conn->ep;
    if (operation >= cpu_atomics::operation_count || type >= cpu_atomics::type_count ||
        (ep->domain->atomic_ops[type] >> operation & 1) == 0)
      return CWY_ERR_UNSUPPORTED;
    const size_t bytes = cpu_atomics::width(*a);
    if (rkey == nullptr || !inside(*rkey, a->raddr, bytes) || a->raddr % bytes != 0)
      return CWY_ERR_INVALID;
    const Pass pass(ep->domain->gate);
    Link& link = link_of(conn);
    cwy_status status = N::may_post(link, 1);
    if (status != CWY_OK) return status;
    Ticket* const ticket = ticket_for(ep, Local<N>{}, Work::atomic, CWYC_DONE_REMOTE, op);
    if (ticket == nullptr) return CWY_RETRY;
    if (a->result != nullptr) {
      ticket->copy_to = a->result;
      ticket->copy_bytes = bytes;
    }
    status = N::post_atomic(link, ticket, operation, type, *a, *rkey);
    if (status != CWY_OK) return status;
    ep->counters.atomics.add(1);
    ep->traffic.sent(link.peer.rank, 0);
    return CWY_INPROGRESS;
  }

 private:
  // `copy`: the source is free on return, and the core hears of LOCAL only if `report` has it;
  // UNSUPPORTED when it is too long for that.
  [[gnu::always_inline]] static inline cwy_status post_put(Ep* ep, Link& link, const void* src,
                                                           Mem* lmem, uint64_t raddr,
                                                           const Rkey& rkey, size_t length,
                                                           bool copy, uint8_t report, cwyc_op* op) {
    cwy_status status = N::may_post(link, 1);
    if (status != CWY_OK) return status;
    Local<N> local{const_cast<void*>(src)};
    // What is posted at once is copied by the processor.
    const bool readable = lmem == nullptr || lmem->rkey.host != 0;
    const bool at_once = readable && N::writes_at_once(ep, length, copy);
    if (!at_once) {
      if (copy && !fits_bounce(ep, length)) return CWY_ERR_UNSUPPORTED;
      status = prepare(ep, lmem, length, copy, false, local);
      if (status != CWY_OK) return status;
      if (local.bounce != nullptr) std::memcpy(local.data, src, length);
    }
    Ticket* const ticket = ticket_for(ep, local, Work::put, report, op);
    if (ticket == nullptr) return CWY_RETRY;
    status = N::write(link, ticket, local, length, raddr, rkey, at_once);
    if (status != CWY_OK) return status;
    count_put(link, length);
    return CWY_INPROGRESS;
  }
};

}  // namespace causeway::fabric
