// Sending active messages.
#include <algorithm>
#include <cstring>

#include "calls.h"

namespace causeway::verbs {
namespace {

constexpr size_t stack_frame = 4096;  // the option `inline` allows no more

// A frame before it is laid out.
struct Frame {
  FrameHeader header{};
  const int32_t* args = nullptr;
  uint64_t raddr = 0;  // longs
  size_t head = 0;     // bytes before the payload
  size_t total = 0;
  uint32_t lane = request_lane;
};

Frame make_frame(const Link& link, FrameKind kind, uint64_t word, const int32_t* args,
                 uint32_t nargs, size_t length, size_t carried, uint32_t flags) {
  Frame f;
  f.lane = (flags & CWYC_LANE_REPLY) != 0 ? reply_lane : request_lane;
  f.header.word = word;
  f.header.link = link.remote;
  f.header.length = static_cast<uint32_t>(length);
  f.header.kind = kind;
  f.header.nargs = static_cast<uint8_t>(nargs);
  f.header.lane = static_cast<uint8_t>(f.lane);
  f.args = args;
  f.head = payload_offset(kind, nargs, carried != 0);
  f.total = f.head + carried;
  return f;
}

// Writes header, arguments and address; takes along what is owed to the peer.
void lay_out(const Link& link, Frame& f, char* to) {
  for (uint32_t lane = 0; lane < lane_count; ++lane)
    f.header.credit[lane] = static_cast<uint16_t>(std::min<uint32_t>(link.owed[lane], UINT16_MAX));
  std::memcpy(to, &f.header, sizeof f.header);
  const size_t args = f.header.nargs * sizeof(int32_t);
  if (args != 0) std::memcpy(to + sizeof f.header, f.args, args);
  // What lies between the parts goes over the wire too: nothing of this process' memory shall.
  std::memset(to + sizeof f.header + args, 0, f.head - sizeof f.header - args);
  if (has_address(f.header.kind)) std::memcpy(to + address_offset(f.header.nargs), &f.raddr, 8);
}

void repay(Link& link, const Frame& f) {
  for (uint32_t lane = 0; lane < lane_count; ++lane) link.owed[lane] -= f.header.credit[lane];
}

// The frame is on its way.
void sent(Link& link, const Frame& f) {
  --link.credit[f.lane];
  repay(link, f);
}

ibv_sge piece_of(const void* data, size_t length, uint32_t lkey) {
  return {reinterpret_cast<uint64_t>(data), static_cast<uint32_t>(length), lkey};
}

ibv_send_wr send_of(ibv_sge* pieces, int count) {
  ibv_send_wr request{};
  request.sg_list = pieces;
  request.num_sge = count;
  request.opcode = IBV_WR_SEND;
  return request;
}

// Every so often an unsignaled work request must be signaled all the same, so that the queue's
// room is seen to come back; and all must be where unsignaled ones have used up their share of the
// completion queue, which links hold that have nothing more to send. False: no ticket now.
bool signal_if_due(Link& link, Ticket*& ticket) {
  cwyc_ep* ep = link.ep;
  ticket = nullptr;
  if (link.unsignaled + 1 < ep->signal_every && ep->unsignaled < ep->unsignaled_max) return true;
  ticket = take_ticket(ep);
  return ticket != nullptr;
}

// The whole frame inside the work request.
cwy_status send_inline(Link& link, Frame& f, const void* payload, size_t carried) {
  Ticket* ticket = nullptr;
  if (!signal_if_due(link, ticket)) return CWY_RETRY;
  alignas(8) char frame[stack_frame];
  lay_out(link, f, frame);
  if (carried != 0) std::memcpy(frame + f.head, payload, carried);
  ibv_sge piece = piece_of(frame, f.total, 0);
  ibv_send_wr request = send_of(&piece, 1);
  request.send_flags = IBV_SEND_INLINE;
  if (!post(link, &request, &request, 1, ticket)) return why_not(link);
  sent(link, f);
  ++link.ep->counters.inlined;
  return CWY_OK;
}

// Head and payload copied together into one place.
cwy_status send_copied(Link& link, Frame& f, const void* payload, size_t carried) {
  cwyc_ep* ep = link.ep;
  Ticket* ticket = nullptr;
  Bounce* bounce = nullptr;
  if (!take_both(ep, ticket, bounce)) return CWY_RETRY;
  lay_out(link, f, bounce->data);
  if (carried != 0) std::memcpy(bounce->data + f.head, payload, carried);
  ibv_sge piece = piece_of(bounce->data, f.total, bounce->lkey);
  ibv_send_wr request = send_of(&piece, 1);
  if (!post(link, &request, &request, 1, ticket)) return why_not(link);
  sent(link, f);
  ++ep->counters.copied;
  return CWY_OK;
}

// The payload from where it lies, the rest from a bounce buffer.
cwy_status send_gathered(Link& link, Frame& f, const void* payload, size_t carried, uint32_t lkey,
                         Lease* lease, cwyc_op* op) {
  cwyc_ep* ep = link.ep;
  Ticket* ticket = nullptr;
  Bounce* bounce = nullptr;
  if (!take_both(ep, ticket, bounce)) {
    if (lease != nullptr) ep->domain->leases->give_back(lease);
    return CWY_RETRY;
  }
  lay_out(link, f, bounce->data);
  ibv_sge pieces[] = {piece_of(bounce->data, f.head, bounce->lkey),
                      piece_of(payload, carried, lkey)};
  ticket->lease = lease;
  ticket->op = op;
  ticket->report = CWYC_DONE_LOCAL;
  ibv_send_wr request = send_of(pieces, 2);
  if (!post(link, &request, &request, 1, ticket)) return why_not(link);
  sent(link, f);
  return CWY_INPROGRESS;
}

// `copy`: the payload may not be used after return.
cwy_status send_frame(Link& link, Frame& f, const void* payload, const cwyc_mem* lmem,
                      size_t carried, bool copy, cwyc_op* op) {
  cwyc_ep* ep = link.ep;
  if (f.total <= ep->domain->inline_max) return send_inline(link, f, payload, carried);
  if (f.total <= ep->copy_frame || copy || op == nullptr)
    return send_copied(link, f, payload, carried);
  if (lmem != nullptr) return send_gathered(link, f, payload, carried, lmem->mr->lkey, nullptr, op);
  if (carried <= ep->domain->options.copy_below) return send_copied(link, f, payload, carried);
  Lease* lease = ep->domain->leases->take(payload, carried, false);
  if (lease == nullptr) return send_copied(link, f, payload, carried);
  return send_gathered(link, f, payload, carried, lease->mr->lkey, lease, op);
}

// OK when `link` may send `f` in `count` work requests.
cwy_status may_send(Link& link, const Frame& f, uint32_t count = 1) {
  const cwy_status status = may_post(link, count);
  if (status != CWY_OK || link.credit[f.lane] != 0) return status;
  ++link.ep->counters.retries;
  return CWY_RETRY;
}

void count_message(cwyc_ep* ep, const Frame& f, uint32_t kind, size_t payload) {
  ++ep->counters.messages[f.lane][kind];
  ep->counters.am_bytes += payload;
}

void attach_pending(Link& link, Ticket* ticket, uint32_t count) {
  ticket->slots = link.unsignaled + count;
  ticket->own = count;
  link.unsignaled = 0;
  join_pending(link, ticket);
  link.ep->in_flight += count;
}

}  // namespace

bool post(Link& link, ibv_send_wr* first, ibv_send_wr* last, uint32_t count, Ticket* ticket) {
  if (ticket != nullptr) {
    last->wr_id = name_of(ticket);
    last->send_flags |= IBV_SEND_SIGNALED;
  }
  ibv_send_wr* bad = nullptr;
  const int error = ibv_post_send(link.qp.get(), first, &bad);
  if (__builtin_expect(error != 0, 0)) {
    // Room was made sure of: the device is at fault. What it took of a chain it gives back.
    end_queue_pair(link);
    lose_link(link, "the local device refuses a work request");
    if (ticket != nullptr) give_back_ticket(link.ep, ticket);
    return false;
  }
  link.used += count;
  link.used_since_look = true;
  if (ticket == nullptr) {
    link.unsignaled += count;
    link.ep->unsignaled += count;
    return true;
  }
  attach_pending(link, ticket, count);
  return true;
}

bool send_control(Link& link, FrameKind kind) {
  cwyc_ep* ep = link.ep;
  if (link.qp == nullptr || link.state != LinkState::up) return true;
  if (may_post(link, 1) != CWY_OK) return false;
  Frame f = make_frame(link, kind, 0, nullptr, 0, 0, 0, 0);
  Ticket* ticket = nullptr;
  Bounce* bounce = nullptr;
  if (!take_both(ep, ticket, bounce)) return false;
  lay_out(link, f, bounce->data);
  if (kind == FrameKind::bye || kind == FrameKind::gone) ticket->work = Work::last_send;
  ibv_sge piece = piece_of(bounce->data, f.total, bounce->lkey);
  ibv_send_wr request = send_of(&piece, 1);
  if (post(link, &request, &request, 1, ticket)) repay(link, f);
  return true;
}

cwy_status am_short(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                    uint32_t flags) {
  if (nargs > CWYC_AM_MAX_ARGS) return CWY_ERR_INVALID;
  const Pass pass(conn->ep->domain->gate);
  Link& link = link_of(conn);
  Frame f = make_frame(link, FrameKind::am_short, word, args, nargs, 0, 0, flags);
  cwy_status status = may_send(link, f);
  if (status == CWY_OK) status = send_frame(link, f, nullptr, nullptr, 0, true, nullptr);
  if (status == CWY_OK) count_message(conn->ep, f, CWYC_AM_SHORT, 0);
  return status;
}

cwy_status am_medium(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                     const void* payload, cwyc_mem* lmem, size_t length, uint32_t flags,
                     cwyc_op* op) {
  if (nargs > CWYC_AM_MAX_ARGS || length > conn->ep->medium_max) return CWY_ERR_INVALID;
  const Pass pass(conn->ep->domain->gate);
  Link& link = link_of(conn);
  Frame f = make_frame(link, FrameKind::am_medium, word, args, nargs, length, length, flags);
  cwy_status status = may_send(link, f);
  const bool copy = (flags & CWYC_SRC_VOLATILE) != 0;
  if (status == CWY_OK) status = send_frame(link, f, payload, lmem, length, copy, op);
  if (status >= 0) count_message(conn->ep, f, CWYC_AM_MEDIUM, length);
  return status;
}

namespace {

// Writes the payload and sends the frame behind it, in one chain: the queue pair keeps their order,
// so the payload is in place when the frame arrives. A payload that is copied shares its place with
// the frame.
cwy_status write_and_send(Link& link, Frame& f, const void* payload, const cwyc_mem* lmem,
                          size_t length, const cwyc_rkey& rkey, bool copy, cwyc_op* op) {
  cwyc_ep* ep = link.ep;
  Local local;
  const cwy_status ready = prepare(ep, payload, lmem, length,
                                   copy && length <= ep->domain->options.copy_below, false, local);
  if (ready != CWY_OK) return ready;
  const bool copied = local.bounce != nullptr;
  Bounce* bounce = copied ? local.bounce : take_bounce(ep);
  Ticket* ticket = bounce != nullptr ? take_ticket(ep) : nullptr;
  if (ticket == nullptr) {
    let_go(ep, local);
    if (bounce != nullptr && !copied) give_back_bounce(ep, bounce);
    return CWY_RETRY;
  }
  char* const place = bounce->data + (copied ? aligned(length) : 0);
  if (copied) std::memcpy(bounce->data, payload, length);
  lay_out(link, f, place);
  ticket->bounce = bounce;
  ticket->lease = local.lease;
  ticket->op = copied ? nullptr : op;
  ticket->report = copied ? 0 : CWYC_DONE_LOCAL;
  ibv_sge data = piece_of(local.data, length, local.lkey);
  ibv_sge head = piece_of(place, f.total, bounce->lkey);
  ibv_send_wr send = send_of(&head, 1);
  if (f.total <= ep->domain->inline_max) send.send_flags = IBV_SEND_INLINE;
  ibv_send_wr write{};
  write.next = &send;
  write.sg_list = &data;
  write.num_sge = 1;
  write.opcode = IBV_WR_RDMA_WRITE;
  write.wr.rdma.remote_addr = f.raddr;
  write.wr.rdma.rkey = rkey.rkey;
  if (!post(link, &write, &send, 2, ticket)) return why_not(link);
  sent(link, f);
  ++ep->counters.puts;
  ep->counters.put_bytes += length;
  return copied ? CWY_OK : CWY_INPROGRESS;
}

// Payloads that would be copied anyhow travel in the frame, where a processor can place them at the
// other end: one message instead of two.
bool travels_inline(const cwyc_ep* ep, uint32_t nargs, size_t length, const cwyc_rkey& rkey,
                    bool registered, bool copy) {
  if (!rkey.host) return false;
  const size_t total = payload_offset(FrameKind::am_long_inline, nargs, true) + length;
  const bool copied = copy || (!registered && length <= ep->domain->options.copy_below);
  return total <= (copied ? ep->frame_max : ep->copy_frame);
}

}  // namespace

cwy_status am_long(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                   const void* payload, cwyc_mem* lmem, size_t length, uint64_t raddr,
                   cwyc_rkey* rkey, uint32_t flags, cwyc_op* op) {
  if (nargs > CWYC_AM_MAX_ARGS || length > UINT32_MAX) return CWY_ERR_INVALID;
  cwyc_ep* ep = conn->ep;
  if (length > ep->domain->port.max_message) return CWY_ERR_INVALID;
  if (length != 0 && (rkey == nullptr || !inside(*rkey, raddr, length))) return CWY_ERR_INVALID;
  const Pass pass(ep->domain->gate);
  Link& link = link_of(conn);
  const bool copy = (flags & CWYC_SRC_VOLATILE) != 0;
  const bool carried =
      length != 0 && travels_inline(ep, nargs, length, *rkey, lmem != nullptr, copy);
  Frame f = make_frame(link, carried ? FrameKind::am_long_inline : FrameKind::am_long, word, args,
                       nargs, length, carried ? length : 0, flags);
  f.raddr = raddr;
  cwy_status status = may_send(link, f, carried || length == 0 ? 1 : 2);
  if (status != CWY_OK) return status;
  if (carried || length == 0) {
    status = send_frame(link, f, payload, nullptr, carried ? length : 0, true, nullptr);
  } else {
    status = write_and_send(link, f, payload, lmem, length, *rkey, copy, op);
  }
  if (status >= 0) count_message(ep, f, CWYC_AM_LONG, length);
  return status;
}

// Everything that commit needs is set aside here: buffer, ticket, credit, room in the queue.
cwy_status am_prepare(cwyc_conn* conn, size_t least, size_t most, uint32_t nargs, uint32_t flags,
                      cwyc_am_slot* slot) {
  cwyc_ep* ep = conn->ep;
  if (nargs > CWYC_AM_MAX_ARGS || least > ep->medium_max || least > most) return CWY_ERR_INVALID;
  const Pass pass(ep->domain->gate);
  Link& link = link_of(conn);
  const size_t room = std::min(most, ep->medium_max);
  // The payload's place is that of a frame with a payload, whatever length is committed.
  const Frame f = make_frame(link, FrameKind::am_medium, 0, nullptr, nargs, 0,
                             std::max<size_t>(room, 1), flags);
  const cwy_status status = may_send(link, f);
  if (status != CWY_OK) return status;
  Ticket* ticket = nullptr;
  Bounce* bounce = nullptr;
  if (!take_both(ep, ticket, bounce)) return CWY_RETRY;
  --link.credit[f.lane];
  ++link.used;
  ++ep->in_flight;
  slot->buffer = bounce->data + f.head;
  slot->length = room;
  slot->priv[0] = name_of(ticket);
  slot->priv[1] = flags;
  slot->priv[2] = link.index;
  return CWY_OK;
}

namespace {

// Gives back what am_prepare set aside in the link's accounts; NULL when the link is gone.
Link* return_reservation(cwyc_ep* ep, const cwyc_am_slot& slot) {
  --ep->in_flight;
  Link* link = find_link(ep, static_cast<uint32_t>(slot.priv[2]));
  if (link == nullptr) return nullptr;
  --link->used;
  ++link->credit[(slot.priv[1] & CWYC_LANE_REPLY) != 0 ? reply_lane : request_lane];
  return link;
}

}  // namespace

void am_cancel(cwyc_conn* conn, cwyc_am_slot* slot) {
  cwyc_ep* ep = conn->ep;
  const Pass pass(ep->domain->gate);
  return_reservation(ep, *slot);
  give_back_ticket(ep, ticket_of(slot->priv[0]));
  slot->buffer = nullptr;
}

void am_commit(cwyc_conn* conn, cwyc_am_slot* slot, uint64_t word, const int32_t* args,
               uint32_t nargs, size_t length) {
  cwyc_ep* ep = conn->ep;
  const Pass pass(ep->domain->gate);
  Ticket* ticket = ticket_of(slot->priv[0]);
  Link* link = return_reservation(ep, *slot);
  if (link == nullptr || link->state != LinkState::up || link->qp == nullptr) {
    give_back_ticket(ep, ticket);  // the peer died meanwhile
    return;
  }
  Bounce* bounce = ticket->bounce;
  Frame f = make_frame(*link, FrameKind::am_medium, word, args, nargs, length, length,
                       static_cast<uint32_t>(slot->priv[1]));
  lay_out(*link, f, bounce->data);
  ibv_sge piece = piece_of(bounce->data, f.total, bounce->lkey);
  ibv_send_wr request = send_of(&piece, 1);
  if (f.total <= ep->domain->inline_max) request.send_flags = IBV_SEND_INLINE;
  if (!post(*link, &request, &request, 1, ticket)) return;
  sent(*link, f);
  count_message(ep, f, CWYC_AM_MEDIUM, length);
}

}  // namespace causeway::verbs
