// Frames in the device's hands.
#include <cstring>

#include "calls.h"

namespace causeway::verbs {
namespace {

// Every so often an unsignaled work request must be signaled all the same, so that the queue's
// room is seen to come back; and all must be where unsignaled ones have used up their share of the
// completion queue, which links hold that have nothing more to send. False: no ticket now.
bool signal_if_due(Link& link, Ticket*& ticket) {
  cwyc_ep* ep = link.ep;
  ticket = nullptr;
  if (link.unsignaled + 1 < ep->signal_every && ep->unsignaled < ep->unsignaled_max) return true;
  ticket = take_ticket(ep);
  if (ticket == nullptr) return false;
  ticket->work = Work::send;
  return true;
}

void attach_pending(Link& link, Ticket* ticket, uint32_t count) {
  ticket->slots = link.unsignaled + count;
  ticket->own = count;
  link.unsignaled = 0;
  join_pending(link, ticket);
  link.ep->in_flight += count;
}

}  // namespace

cwy_status post(Link& link, ibv_send_wr* first, ibv_send_wr* last, uint32_t count, Ticket* ticket) {
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
    return why_not(link);
  }
  link.used += count;
  link.used_since_look = true;
  if (ticket == nullptr) {
    link.unsignaled += count;
    link.ep->unsignaled += count;
    return CWY_OK;
  }
  attach_pending(link, ticket, count);
  return CWY_OK;
}

// Payloads that would be copied anyhow travel in the frame, where a processor can place them at the
// other end: one message instead of two.
size_t Network::most_inline(const cwyc_ep* ep, size_t length, bool registered, bool copy) {
  const bool copied = copy || (!registered && length <= ep->domain->options.copy_below);
  return copied ? ep->frame_max : ep->copy_frame;
}

uint64_t Network::longest(const cwyc_domain* domain) {
  return domain->port.max_message;
}

cwy_status Network::may_control(Link& link) {
  if (link.qp == nullptr || link.state != LinkState::up) return CWY_ERR_PEER_FAILED;
  return may_post(link, 1);
}

// The whole frame inside the work request.
cwy_status Network::send_at_once(Link& link, const char* frame, size_t length) {
  Ticket* ticket = nullptr;
  if (!signal_if_due(link, ticket)) return CWY_RETRY;
  ibv_sge piece = piece_of(frame, length, 0);
  ibv_send_wr request = request_of(IBV_WR_SEND, &piece, 1);
  request.send_flags = IBV_SEND_INLINE;
  return post(link, &request, &request, 1, ticket);
}

cwy_status Network::send(Link& link, Ticket* ticket, const char* data, size_t length,
                         uint32_t lkey) {
  ibv_sge piece = piece_of(data, length, lkey);
  ibv_send_wr request = request_of(IBV_WR_SEND, &piece, 1);
  return post(link, &request, &request, 1, ticket);
}

cwy_status Network::send_pieces(Link& link, Ticket* ticket, size_t head, size_t,
                                const Local& payload, size_t length) {
  ibv_sge pieces[] = {piece_of(ticket->bounce->data, head, ticket->bounce->key),
                      piece_of(payload.data, length, payload.key)};
  ibv_send_wr request = request_of(IBV_WR_SEND, pieces, 2);
  return post(link, &request, &request, 1, ticket);
}

// Writes the payload and sends the frame behind it, in one chain: the queue pair keeps their order,
// so the payload is in place when the frame arrives. A payload that is copied shares its place with
// the frame.
cwy_status Network::write_and_send(Link& link, fabric::Frame& f, const void* payload,
                                   const cwyc_mem* lmem, size_t length, const cwyc_rkey& rkey,
                                   bool copy, cwyc_op* op) {
  cwyc_ep* ep = link.ep;
  if (copy && !fits_bounce(ep, length)) return CWY_ERR_UNSUPPORTED;
  if (const cwy_status room = may_post(link, 2); room != CWY_OK) return room;
  Local local{const_cast<void*>(payload)};
  const cwy_status ready = prepare(ep, lmem, length, copy, false, local);
  if (ready != CWY_OK) return ready;
  const bool copied = local.bounce != nullptr;
  Bounce* bounce = copied ? local.bounce : take_bounce(ep);
  Ticket* ticket = bounce != nullptr ? take_ticket(ep) : nullptr;
  if (ticket == nullptr) {
    let_go(ep, local);
    if (bounce != nullptr && !copied) give_back_bounce(ep, bounce);
    return CWY_RETRY;
  }
  char* const place = bounce->data + (copied ? fabric::aligned(length) : 0);
  if (copied) std::memcpy(bounce->data, payload, length);
  lay_out(link, f, place, nullptr, 0);
  ticket->bounce = bounce;
  ticket->lease = local.lease;
  ticket->work = Work::send;
  ticket->op = copied ? nullptr : op;
  ticket->report = copied ? 0 : CWYC_DONE_LOCAL;
  ibv_sge data = piece_of(local.data, length, local.key);
  ibv_sge head = piece_of(place, f.total, bounce->key);
  ibv_send_wr send = request_of(IBV_WR_SEND, &head, 1);
  if (f.total <= ep->domain->inline_max) send.send_flags = IBV_SEND_INLINE;
  ibv_send_wr write = request_of(IBV_WR_RDMA_WRITE, &data, 1);
  write.next = &send;
  write.wr.rdma.remote_addr = f.raddr;
  write.wr.rdma.rkey = rkey.rkey;
  const cwy_status status = post(link, &write, &send, 2, ticket);
  if (status != CWY_OK) return status;
  sent(link, f);
  ep->counters.puts.add(1);
  ep->counters.put_bytes.add(length);
  return copied ? CWY_OK : CWY_INPROGRESS;
}

void Network::reserve(Link& link) {
  ++link.used;
  ++link.ep->in_flight;
}

void Network::unreserve(cwyc_ep* ep, Link* link) {
  --ep->in_flight;
  if (link != nullptr) --link->used;
}

// False: the peer died meanwhile.
bool Network::send_reserved(Link& link, Ticket* ticket, size_t length) {
  if (link.qp == nullptr) {
    give_back_ticket(link.ep, ticket);
    return false;
  }
  ibv_sge piece = piece_of(ticket->bounce->data, length, ticket->bounce->key);
  ibv_send_wr request = request_of(IBV_WR_SEND, &piece, 1);
  if (length <= link.ep->domain->inline_max) request.send_flags = IBV_SEND_INLINE;
  return post(link, &request, &request, 1, ticket) == CWY_OK;
}

}  // namespace causeway::verbs
