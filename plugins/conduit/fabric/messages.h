// The active messages of the conduit's table.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "send.h"

namespace causeway::fabric {

inline bool inside(const auto& rkey, uint64_t raddr, size_t length) {
  return raddr >= rkey.base && length <= rkey.length && raddr - rkey.base <= rkey.length - length;
}

template <class N>
struct Messages {
  using Link = typename N::Link;
  using Ticket = typename N::Ticket;
  using Ep = typename N::Endpoint;
  using Mem = typename N::Mem;
  using Rkey = typename N::Rkey;

  static Link& link_of(cwyc_conn* conn) { return *static_cast<Link*>(conn->priv); }

  static cwy_status am_short(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                             uint32_t flags) {
    if (nargs > CWYC_AM_MAX_ARGS) return CWY_ERR_INVALID;
    Ep* const ep = conn->ep;
    const Pass pass(ep->domain->gate);
    Link& link = link_of(conn);
    if (__builtin_expect(N::at_once_max(ep) >= sizeof(ShortFrame), 1))
      return send_short_at_once(link, word, args, nargs, flags);
    Frame f = make_frame(link, FrameKind::am_short, word, args, nargs, 0, 0, flags);
    cwy_status status = may_send(link, f.lane, f.cost);
    if (status == CWY_OK)
      status = send_frame(link, f, nullptr, static_cast<Mem*>(nullptr), 0, true, nullptr);
    if (status == CWY_OK) count_message(link, f.lane, CWYC_AM_SHORT, 0);
    return status;
  }

  static cwy_status am_medium(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                              const void* payload, Mem* lmem, size_t length, uint32_t flags,
                              cwyc_op* op) {
    Ep* const ep = conn->ep;
    if (nargs > CWYC_AM_MAX_ARGS || length > ep->medium_max) return CWY_ERR_INVALID;
    const Pass pass(ep->domain->gate);
    Link& link = link_of(conn);
    Frame f = make_frame(link, FrameKind::am_medium, word, args, nargs, length, length, flags);
    cwy_status status = may_send(link, f.lane, f.cost);
    const bool copy = (flags & CWYC_SRC_VOLATILE) != 0;
    if (status == CWY_OK) status = send_frame(link, f, payload, lmem, length, copy, op);
    if (status >= 0) count_message(link, f.lane, CWYC_AM_MEDIUM, length);
    return status;
  }

  // Small payloads travel in the frame and are placed by the receiving conduit: one message instead
  // of two. Larger ones are written first, and the network keeps the frame behind the write.
  static cwy_status am_long(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                            const void* payload, Mem* lmem, size_t length, uint64_t raddr,
                            Rkey* rkey, uint32_t flags, cwyc_op* op) {
    if (nargs > CWYC_AM_MAX_ARGS || length > UINT32_MAX) return CWY_ERR_INVALID;
    Ep* const ep = conn->ep;
    if (length > N::longest(ep->domain)) return CWY_ERR_INVALID;
    if (length != 0 && (rkey == nullptr || !inside(*rkey, raddr, length))) return CWY_ERR_INVALID;
    const Pass pass(ep->domain->gate);
    Link& link = link_of(conn);
    const bool copy = (flags & CWYC_SRC_VOLATILE) != 0;
    const size_t whole = payload_offset(FrameKind::am_long_inline, nargs, true) + length;
    const bool carried = length != 0 && rkey->host &&
                         N::framed(ep, whole) <= N::most_inline(ep, length, lmem != nullptr, copy);
    Frame f = make_frame(link, carried ? FrameKind::am_long_inline : FrameKind::am_long, word, args,
                         nargs, length, carried ? length : 0, flags);
    f.raddr = raddr;
    cwy_status status = may_send(link, f.lane, f.cost);
    if (status != CWY_OK) return status;
    if (carried || length == 0) {
      status = send_frame(link, f, payload, static_cast<Mem*>(nullptr), carried ? length : 0, true,
                          nullptr);
    } else {
      status = N::write_and_send(link, f, payload, lmem, length, *rkey, copy, op);
    }
    if (status >= 0) count_message(link, f.lane, CWYC_AM_LONG, length);
    return status;
  }

  // Everything that commit needs is set aside here: buffer, ticket, credit, room in the queue.
  static cwy_status am_prepare(cwyc_conn* conn, size_t least, size_t most, uint32_t nargs,
                               uint32_t flags, cwyc_am_slot* slot) {
    Ep* const ep = conn->ep;
    if (nargs > CWYC_AM_MAX_ARGS || least > ep->medium_max || least > most) return CWY_ERR_INVALID;
    const Pass pass(ep->domain->gate);
    Link& link = link_of(conn);
    const size_t room = std::min(most, ep->medium_max);
    // The payload's place is that of a frame with a payload, whatever length is committed.
    const Frame f = make_frame(link, FrameKind::am_medium, 0, nullptr, nargs, 0,
                               std::max<size_t>(room, 1), flags);
    const cwy_status status = may_send(link, f.lane, f.cost);
    if (status != CWY_OK) return status;
    if (ep->in_flight >= ep->in_flight_max) return CWY_RETRY;
    Ticket* const ticket = take_both(ep);
    if (ticket == nullptr) return CWY_RETRY;
    link.credit[f.lane] -= f.cost;  // so that commit cannot meet an empty account
    N::reserve(link);
    slot->buffer = ticket->bounce->data + f.head;
    slot->length = room;
    slot->priv[0] = reinterpret_cast<uint64_t>(ticket);
    slot->priv[1] = flags;
    slot->priv[2] = link.index;
    slot->priv[3] = f.cost;
    return CWY_OK;
  }

  static void am_cancel(cwyc_conn* conn, cwyc_am_slot* slot) {
    Ep* const ep = conn->ep;
    const Pass pass(ep->domain->gate);
    return_reservation(ep, *slot);
    give_back_ticket(ep, reinterpret_cast<Ticket*>(slot->priv[0]));
    slot->buffer = nullptr;
  }

  static void am_commit(cwyc_conn* conn, cwyc_am_slot* slot, uint64_t word, const int32_t* args,
                        uint32_t nargs, size_t length) {
    Ep* const ep = conn->ep;
    const Pass pass(ep->domain->gate);
    auto* const ticket = reinterpret_cast<Ticket*>(slot->priv[0]);
    Link* const link = return_reservation(ep, *slot);
    if (link == nullptr || link->state != LinkState::up) {
      give_back_ticket(ep, ticket);  // the peer died meanwhile
      return;
    }
    Frame f = make_frame(*link, FrameKind::am_medium, word, args, nargs, length, length,
                         static_cast<uint32_t>(slot->priv[1]));
    lay_out(*link, f, ticket->bounce->data, nullptr, length);
    if (!N::send_reserved(*link, ticket, f.total)) return;
    sent(*link, f);
    count_message(*link, f.lane, CWYC_AM_MEDIUM, length);
  }

 private:
  // Gives back what am_prepare set aside in the accounts; NULL when the link is gone.
  static Link* return_reservation(Ep* ep, const cwyc_am_slot& slot) {
    Link* const link = find_link(ep, static_cast<uint32_t>(slot.priv[2]));
    N::unreserve(ep, link);
    if (link != nullptr)
      link->credit[lane_of(static_cast<uint32_t>(slot.priv[1]))] +=
          static_cast<uint32_t>(slot.priv[3]);
    return link;
  }
};

}  // namespace causeway::fabric
