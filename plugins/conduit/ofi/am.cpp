// Frames in the provider's hands.
#include <cstring>

#include "calls.h"

namespace causeway::ofi {
namespace {

ssize_t post_send(Link& link, Ticket* ticket, const char* data, size_t length, void* desc) {
  return fi_send(link.endpoint, data, length, desc, link.address, ticket);
}

void park(Link& link, const Parked& frame) {
  link.parked.push_back(frame);
  want_attention(&link);
}

}  // namespace

cwy_status status_of(int fi_error) {
  switch (fi_error) {
    case FI_EAGAIN:
    case FI_EBUSY:
      return CWY_RETRY;
    case FI_ENOMEM:
      return CWY_ERR_NOMEM;
    case FI_EINVAL:
    case FI_EKEYREJECTED:
    case FI_EACCES:
    case FI_EPERM:
    case FI_EFAULT:
    case FI_EMSGSIZE:
    case FI_ETOOSMALL:
    case FI_ETRUNC:
      return CWY_ERR_INVALID;
    case FI_EOPNOTSUPP:
    case FI_ENOSYS:
      return CWY_ERR_UNSUPPORTED;
    default:
      return CWY_ERR_PEER_FAILED;
  }
}

cwy_status refused(Link& link, ssize_t error) {
  const cwy_status status = status_of(static_cast<int>(-error));
  if (status == CWY_RETRY) link.ep->counters.retries.add(1);
  if (status == CWY_ERR_PEER_FAILED) lose_link(link, fi_strerror(static_cast<int>(-error)));
  return status;
}

bool Network::gathers(const cwyc_ep* ep) {
  return ep->domain->path.info->tx_attr->iov_limit >= 3;
}

// A hello goes out before its link is up.
cwy_status Network::may_control(Link& link) {
  return link.endpoint != nullptr ? CWY_OK : CWY_ERR_PEER_FAILED;
}

cwy_status Network::send(Link& link, Ticket* ticket, const char* data, size_t length, void* desc) {
  return posted(link, ticket, post_send(link, ticket, data, length, desc));
}

cwy_status Network::send_pieces(Link& link, Ticket* ticket, size_t head, size_t padding,
                                const Local& payload, size_t length) {
  const Bounce& bounce = *ticket->bounce;
  const iovec pieces[] = {
      {bounce.data, head}, {payload.data, length}, {bounce.data + head, padding}};
  void* descs[] = {bounce.key, payload.key, bounce.key};
  const ssize_t error =
      fi_sendv(link.endpoint, pieces, descs, padding != 0 ? 3 : 2, link.address, ticket);
  return posted(link, ticket, error);
}

bool post_parked(Link& link, const Parked& frame) {
  const ssize_t error = post_send(link, frame.ticket, frame.data, frame.length, frame.desc);
  if (error == 0) return true;
  if (refused(link, error) == CWY_RETRY) return false;
  detach_pending(frame.ticket);
  give_back_ticket(link.ep, frame.ticket);
  return true;
}

bool Network::send_reserved(Link& link, Ticket* ticket, size_t length) {
  const Parked frame{ticket, ticket->bounce->data, length, ticket->bounce->key};
  attach_pending(link, ticket);
  if (!link.parked.empty() || !post_parked(link, frame)) park(link, frame);
  return true;
}

namespace {

// The frame of a long whose payload is under way already, and which met a full queue.
cwy_status send_later(Link& link, fabric::Frame& f) {
  Ticket* const ticket = take_both(link.ep);
  if (ticket == nullptr) return CWY_ERR_NOMEM;
  lay_out(link, f, ticket->bounce->data, nullptr, 0);
  sent(link, f);
  attach_pending(link, ticket);
  park(link, {ticket, ticket->bounce->data, f.total, ticket->bounce->key});
  return CWY_OK;
}

// OK, INPROGRESS (LOCAL will be reported) or why nothing was posted.
cwy_status write_payload(Link& link, const void* payload, const cwyc_mem* lmem, size_t length,
                         uint64_t raddr, const cwyc_rkey& rkey, bool copy, cwyc_op* op) {
  cwyc_ep* ep = link.ep;
  Local local{const_cast<void*>(payload)};
  const cwy_status ready = prepare(ep, lmem, length, copy, false, local);
  if (ready != CWY_OK) return ready;
  const bool free_now = local.bounce != nullptr;
  if (free_now) std::memcpy(local.data, payload, length);
  Ticket* const ticket =
      ticket_for(ep, local, Work::put, free_now ? 0 : CWYC_DONE_LOCAL, free_now ? nullptr : op);
  if (ticket == nullptr) return CWY_RETRY;
  const cwy_status status = post_write(link, ticket, local, length, raddr, rkey, 0);
  if (status != CWY_OK) return status;
  ep->counters.puts.add(1);
  ep->counters.put_bytes.add(length);
  return free_now ? CWY_OK : CWY_INPROGRESS;
}

}  // namespace

// The provider keeps a send behind the writes before it.
cwy_status Network::write_and_send(Link& link, fabric::Frame& f, const void* payload,
                                   const cwyc_mem* lmem, size_t length, const cwyc_rkey& rkey,
                                   bool copy, cwyc_op* op) {
  if (copy && !fits_bounce(link.ep, length)) return CWY_ERR_UNSUPPORTED;
  // The frame goes out with the write or not at all: room for it is made sure of first.
  if (link.ep->in_flight + 2 >= link.ep->in_flight_max) return CWY_RETRY;
  const cwy_status written = write_payload(link, payload, lmem, length, f.raddr, rkey, copy, op);
  if (written < 0) return written;
  cwy_status status =
      send_frame(link, f, nullptr, static_cast<cwyc_mem*>(nullptr), 0, true, nullptr);
  // The write is under way and may not be repeated under the caller's feet: the frame waits.
  if (status == CWY_RETRY) status = send_later(link, f);
  return status < 0 && written == CWY_OK ? status : written;
}

}  // namespace causeway::ofi
