// Sending active messages.
#include <algorithm>
#include <cstring>

#include "calls.h"

namespace causeway::ofi {
namespace {

constexpr size_t stack_frame = 4096;

// A frame before it is laid out.
struct Frame {
  FrameHeader header{};
  const int32_t* args = nullptr;
  uint64_t raddr = 0;  // longs
  size_t head = 0;     // bytes before the payload
  size_t total = 0;
  uint32_t lane = request_lane;
  uint32_t cost = 0;
};

Frame make_frame(const Link& link, FrameKind kind, uint64_t word, const int32_t* args,
                 uint32_t nargs, uint32_t length, size_t carried, uint32_t flags) {
  Frame f;
  f.lane = (flags & CWYC_LANE_REPLY) != 0 ? reply_lane : request_lane;
  f.header.word = word;
  f.header.link = link.remote;
  f.header.length = length;
  f.header.kind = kind;
  f.header.nargs = static_cast<uint8_t>(nargs);
  f.header.lane = static_cast<uint8_t>(f.lane);
  f.args = args;
  f.head = payload_offset(kind, nargs, carried != 0);
  f.total = f.head + carried;
  if (link.ep->shared_buffers) f.total = aligned(f.total);
  f.cost = cost_of(link.ep, f.total);
  return f;
}

// A frame takes along what is owed to the peer, and it is owed no more once the frame is under way.
inline void take_credit_along(const Link& link, FrameHeader& h) {
  for (uint32_t lane = 0; lane < lane_count; ++lane)
    h.credit[lane] = static_cast<uint16_t>(std::min<uint32_t>(link.owed[lane], UINT16_MAX));
}
inline void credit_told(Link& link, const FrameHeader& h) {
  for (uint32_t lane = 0; lane < lane_count; ++lane) link.owed[lane] -= h.credit[lane];
}

// Writes header, arguments and address.
void lay_out(const Link& link, Frame& f, char* to) {
  take_credit_along(link, f.header);
  std::memcpy(to, &f.header, sizeof f.header);
  const size_t args = f.header.nargs * sizeof(int32_t);
  if (args != 0) std::memcpy(to + sizeof f.header, f.args, args);
  // What lies between the parts goes over the wire too: nothing of this process' memory shall.
  std::memset(to + sizeof f.header + args, 0, f.head - sizeof f.header - args);
  if (has_address(f.header.kind)) std::memcpy(to + address_offset(f.header.nargs), &f.raddr, 8);
}

// The frame is on its way.
void sent(Link& link, const Frame& f) {
  link.credit[f.lane] -= f.cost;
  credit_told(link, f.header);
}

int send_from(Link& link, Ticket* ticket, const char* data, size_t length, void* desc) {
  return static_cast<int>(fi_send(link.endpoint, data, length, desc, link.address, ticket));
}

// Head and payload copied together into one place.
cwy_status send_copied(Link& link, Frame& f, const void* payload, size_t carried) {
  cwyc_ep* ep = link.ep;
  Bounce* bounce = take_bounce(ep);
  Ticket* ticket = bounce != nullptr ? take_ticket(ep) : nullptr;
  if (ticket == nullptr) {
    if (bounce != nullptr) give_back_bounce(ep, bounce);
    return CWY_RETRY;
  }
  lay_out(link, f, bounce->data);
  if (carried != 0) std::memcpy(bounce->data + f.head, payload, carried);
  std::memset(bounce->data + f.head + carried, 0, f.total - f.head - carried);
  ticket->bounce = bounce;
  ticket->work = Work::send;
  ticket->report = 0;
  const int error = send_from(link, ticket, bounce->data, f.total, bounce->desc);
  if (error != 0) {
    give_back_ticket(ep, ticket);
    return refused(link, error);
  }
  attach_pending(link, ticket);
  sent(link, f);
  ++ep->counters.copied;
  return CWY_OK;
}

// The payload from where it lies, the rest from a bounce buffer.
cwy_status send_gathered(Link& link, Frame& f, const void* payload, size_t carried, void* desc,
                         Lease* lease, cwyc_op* op) {
  cwyc_ep* ep = link.ep;
  Bounce* bounce = take_bounce(ep);
  Ticket* ticket = bounce != nullptr ? take_ticket(ep) : nullptr;
  if (ticket == nullptr) {
    if (bounce != nullptr) give_back_bounce(ep, bounce);
    if (lease != nullptr) give_back_lease(ep->domain, lease);
    return CWY_RETRY;
  }
  lay_out(link, f, bounce->data);
  const size_t padding = f.total - f.head - carried;
  std::memset(bounce->data + f.head, 0, padding);
  const iovec pieces[] = {{bounce->data, f.head},
                          {const_cast<void*>(payload), carried},
                          {bounce->data + f.head, padding}};
  void* descs[] = {bounce->desc, desc, bounce->desc};
  ticket->bounce = bounce;
  ticket->lease = lease;
  ticket->work = Work::send;
  ticket->op = op;
  ticket->report = CWYC_DONE_LOCAL;
  const ssize_t error =
      fi_sendv(link.endpoint, pieces, descs, padding != 0 ? 3 : 2, link.address, ticket);
  if (error != 0) {
    give_back_ticket(ep, ticket);
    return refused(link, static_cast<int>(error));
  }
  attach_pending(link, ticket);
  sent(link, f);
  return CWY_INPROGRESS;
}

// `volatile_source`: the payload may not be used after return.
cwy_status send_frame(Link& link, Frame& f, const void* payload, cwyc_mem* lmem, size_t carried,
                      bool volatile_source, cwyc_op* op) {
  cwyc_ep* ep = link.ep;
  if (f.total <= ep->inject_max) {
    alignas(8) char frame[stack_frame];
    lay_out(link, f, frame);
    if (carried != 0) std::memcpy(frame + f.head, payload, carried);
    std::memset(frame + f.head + carried, 0, f.total - f.head - carried);
    const ssize_t error = fi_inject(link.endpoint, frame, f.total, link.address);
    if (error != 0) return refused(link, static_cast<int>(error));
    sent(link, f);
    ++ep->counters.injected;
    return CWY_OK;
  }
  if (ep->in_flight >= ep->in_flight_max) return CWY_RETRY;
  const Path& path = ep->domain->path;
  const bool gather = path.info->tx_attr->iov_limit >= 3 && op != nullptr && !volatile_source;
  if (f.total <= ep->copy_frame || !gather) return send_copied(link, f, payload, carried);
  if (!path.local_mr) return send_gathered(link, f, payload, carried, nullptr, nullptr, op);
  if (lmem != nullptr) return send_gathered(link, f, payload, carried, lmem->desc, nullptr, op);
  if (carried <= ep->domain->options.copy_below) return send_copied(link, f, payload, carried);
  int error = 0;
  Lease* lease = take_lease(ep->domain, payload, carried, false, error);
  if (lease == nullptr) return send_copied(link, f, payload, carried);
  if (lease->copy != nullptr) payload = lease->copy.get();
  return send_gathered(link, f, payload, carried, fi_mr_desc(lease->mr.get()), lease, op);
}

// CWY_OK when `link` may send a frame of this cost.
inline cwy_status may_send(Link& link, uint32_t lane, uint32_t cost) {
  if (__builtin_expect(link.state != LinkState::up, 0))
    return link.state == LinkState::failed ? CWY_ERR_PEER_FAILED : CWY_RETRY;
  if (__builtin_expect(link.credit[lane] >= cost, 1)) return CWY_OK;
  ++link.ep->counters.retries;
  return CWY_RETRY;
}

void count(cwyc_ep* ep, const Frame& f, uint32_t kind, size_t payload) {
  ++ep->counters.messages[f.lane][kind];
  ep->counters.am_bytes += payload;
}

// The longest frame of a short message, whatever the frames are padded to.
struct alignas(16) ShortFrame {
  FrameHeader header;
  int32_t args[CWYC_AM_MAX_ARGS];
  int32_t padding[2];
};
static_assert(sizeof(ShortFrame) == aligned(sizeof(FrameHeader) + 4 * CWYC_AM_MAX_ARGS));
// Of any length it costs one credit.
static_assert(sizeof(ShortFrame) <= credit_unit);

// As send_frame() for what round trips are made of: put together in one place, in one go.
inline cwy_status inject_short(Link& link, uint64_t word, const int32_t* args, uint32_t nargs,
                               uint32_t flags) {
  cwyc_ep* ep = link.ep;
  const uint32_t lane = (flags & CWYC_LANE_REPLY) != 0 ? reply_lane : request_lane;
  if (const cwy_status may = may_send(link, lane, 1); may != CWY_OK) return may;
  const size_t used = address_offset(nargs);
  const size_t total = ep->shared_buffers ? aligned(used) : used;
  ShortFrame frame;
  // Nothing of this process' memory goes out as padding.
  std::memset(reinterpret_cast<char*>(&frame) + total - 16, 0, 16);
  frame.header.word = word;
  frame.header.link = link.remote;
  take_credit_along(link, frame.header);
  frame.header.length = 0;
  frame.header.kind = FrameKind::am_short;
  frame.header.nargs = static_cast<uint8_t>(nargs);
  frame.header.lane = static_cast<uint8_t>(lane);
  frame.header.reserved = 0;
  if (nargs != 0) std::memcpy(frame.args, args, nargs * sizeof(int32_t));
  const ssize_t error = fi_inject(link.endpoint, &frame, total, link.address);
  if (__builtin_expect(error != 0, 0)) return refused(link, static_cast<int>(error));
  --link.credit[lane];
  credit_told(link, frame.header);
  ++ep->counters.injected;
  ++ep->counters.messages[lane][CWYC_AM_SHORT];
  return CWY_OK;
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

cwy_status refused(Link& link, int error) {
  const cwy_status status = status_of(-error);
  if (status == CWY_RETRY) ++link.ep->counters.retries;
  if (status == CWY_ERR_PEER_FAILED) lose_link(link, fi_strerror(-error));
  return status;
}

bool send_control(cwyc_ep* ep, Link& link, FrameKind kind, const void* payload, size_t length) {
  Frame f = make_frame(link, kind, 0, nullptr, 0, static_cast<uint32_t>(length), length, 0);
  if (kind == FrameKind::hello) f.header.link = no_link;
  if (link.endpoint == nullptr) return true;
  Bounce* bounce = take_bounce(ep);
  Ticket* ticket = bounce != nullptr ? take_ticket(ep) : nullptr;
  if (ticket == nullptr) {
    if (bounce != nullptr) give_back_bounce(ep, bounce);
    return false;
  }
  lay_out(link, f, bounce->data);
  if (length != 0) std::memcpy(bounce->data + f.head, payload, length);
  std::memset(bounce->data + f.head + length, 0, f.total - f.head - length);
  ticket->bounce = bounce;
  const bool last = kind == FrameKind::bye || kind == FrameKind::gone;
  ticket->work = last ? Work::bye : Work::send;
  ticket->report = 0;
  const int error = send_from(link, ticket, bounce->data, f.total, bounce->desc);
  if (error != 0) {
    give_back_ticket(ep, ticket);
    return refused(link, error) != CWY_RETRY;
  }
  attach_pending(link, ticket);
  credit_told(link, f.header);
  return true;
}

cwy_status am_short(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                    uint32_t flags) {
  if (nargs > CWYC_AM_MAX_ARGS) return CWY_ERR_INVALID;
  cwyc_ep* ep = conn->ep;
  const Pass pass(ep->domain->gate);
  Link& link = link_of(conn);
  if (__builtin_expect(ep->inject_max >= sizeof(ShortFrame), 1))
    return inject_short(link, word, args, nargs, flags);
  Frame f = make_frame(link, FrameKind::am_short, word, args, nargs, 0, 0, flags);
  cwy_status status = may_send(link, f.lane, f.cost);
  if (status == CWY_OK) status = send_frame(link, f, nullptr, nullptr, 0, true, nullptr);
  if (status == CWY_OK) count(ep, f, CWYC_AM_SHORT, 0);
  return status;
}

cwy_status am_medium(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                     const void* payload, cwyc_mem* lmem, size_t length, uint32_t flags,
                     cwyc_op* op) {
  if (nargs > CWYC_AM_MAX_ARGS || length > conn->ep->medium_max) return CWY_ERR_INVALID;
  const Pass pass(conn->ep->domain->gate);
  Link& link = link_of(conn);
  Frame f = make_frame(link, FrameKind::am_medium, word, args, nargs, static_cast<uint32_t>(length),
                       length, flags);
  cwy_status status = may_send(link, f.lane, f.cost);
  const bool copy = (flags & CWYC_SRC_VOLATILE) != 0;
  if (status == CWY_OK) status = send_frame(link, f, payload, lmem, length, copy, op);
  if (status >= 0) count(conn->ep, f, CWYC_AM_MEDIUM, length);
  return status;
}

// Posts a frame whose ticket is already on its link's list. False: the queue is full.
bool post_parked(Link& link, const Parked& frame) {
  const int error = send_from(link, frame.ticket, frame.data, frame.length, frame.desc);
  if (error == 0) return true;
  if (refused(link, error) == CWY_RETRY) return false;
  detach_pending(frame.ticket);
  give_back_ticket(link.ep, frame.ticket);
  return true;
}

void park(Link& link, const Parked& frame) {
  link.parked.push_back(frame);
  want_attention(&link);
}

namespace {

// The frame of a long whose payload is under way already, and which met a full queue.
cwy_status send_later(Link& link, Frame& f) {
  cwyc_ep* ep = link.ep;
  Bounce* bounce = take_bounce(ep);
  Ticket* ticket = bounce != nullptr ? take_ticket(ep) : nullptr;
  if (ticket == nullptr) {
    if (bounce != nullptr) give_back_bounce(ep, bounce);
    return CWY_ERR_NOMEM;
  }
  lay_out(link, f, bounce->data);
  std::memset(bounce->data + f.head, 0, f.total - f.head);
  sent(link, f);
  ticket->bounce = bounce;
  ticket->work = Work::send;
  ticket->report = 0;
  attach_pending(link, ticket);
  park(link, {ticket, bounce->data, f.total, bounce->desc});
  return CWY_OK;
}

// Small payloads may travel in the frame, where a processor can place them at the other end.
bool fits_inline(const cwyc_ep* ep, uint32_t nargs, size_t length, const cwyc_rkey* rkey) {
  return length != 0 && rkey->host &&
         payload_offset(FrameKind::am_long_inline, nargs, true) + aligned(length) <= ep->copy_frame;
}

}  // namespace

// Small payloads travel in the frame and are placed by the receiving conduit: one message instead
// of two. Larger ones are written first; the provider keeps a send behind the writes before it.
cwy_status am_long(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                   const void* payload, cwyc_mem* lmem, size_t length, uint64_t raddr,
                   cwyc_rkey* rkey, uint32_t flags, cwyc_op* op) {
  if (nargs > CWYC_AM_MAX_ARGS) return CWY_ERR_INVALID;
  cwyc_ep* ep = conn->ep;
  const Pass pass(ep->domain->gate);
  Link& link = link_of(conn);
  if (length != 0 && (rkey == nullptr || !inside(*rkey, raddr, length))) return CWY_ERR_INVALID;
  if (length > UINT32_MAX) return CWY_ERR_INVALID;
  const bool carried = fits_inline(ep, nargs, length, rkey);
  Frame f = make_frame(link, carried ? FrameKind::am_long_inline : FrameKind::am_long, word, args,
                       nargs, static_cast<uint32_t>(length), carried ? length : 0, flags);
  f.raddr = raddr;
  cwy_status status = may_send(link, f.lane, f.cost);
  if (status != CWY_OK) return status;
  if (carried) {
    status = send_frame(link, f, payload, nullptr, length, true, nullptr);
    if (status == CWY_OK) count(ep, f, CWYC_AM_LONG, length);
    return status;
  }
  cwy_status written = CWY_OK;
  if (length != 0) {
    // The frame goes out with the write or not at all: room for it is made sure of first.
    if (ep->in_flight + 2 >= ep->in_flight_max) return CWY_RETRY;
    written = long_write(link, payload, lmem, length, raddr, *rkey, flags, op);
    if (written < 0) return written;
  }
  status = send_frame(link, f, nullptr, nullptr, 0, true, nullptr);
  // The write is under way and may not be repeated under the caller's feet: the frame waits.
  if (status == CWY_RETRY && length != 0) status = send_later(link, f);
  if (status < 0) return written == CWY_OK ? status : written;
  count(ep, f, CWYC_AM_LONG, length);
  return written;
}

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
  const cwy_status status = may_send(link, f.lane, f.cost);
  if (status != CWY_OK) return status;
  if (ep->in_flight >= ep->in_flight_max) return CWY_RETRY;
  Bounce* bounce = take_bounce(ep);
  if (bounce == nullptr) return CWY_RETRY;
  link.credit[f.lane] -= f.cost;  // so that commit cannot meet an empty account
  slot->buffer = bounce->data + f.head;
  slot->length = room;
  slot->priv[0] = reinterpret_cast<uint64_t>(bounce);
  slot->priv[1] = f.cost;
  slot->priv[2] = flags;
  slot->priv[3] = link.index;
  return CWY_OK;
}

void am_cancel(cwyc_conn* conn, cwyc_am_slot* slot) {
  cwyc_ep* ep = conn->ep;
  const Pass pass(ep->domain->gate);
  give_back_bounce(ep, reinterpret_cast<Bounce*>(slot->priv[0]));
  const uint32_t lane = (slot->priv[2] & CWYC_LANE_REPLY) != 0 ? reply_lane : request_lane;
  if (Link* link = find_link(ep, static_cast<uint32_t>(slot->priv[3])))
    link->credit[lane] += static_cast<uint32_t>(slot->priv[1]);
  slot->buffer = nullptr;
}

void am_commit(cwyc_conn* conn, cwyc_am_slot* slot, uint64_t word, const int32_t* args,
               uint32_t nargs, size_t length) {
  cwyc_ep* ep = conn->ep;
  const Pass pass(ep->domain->gate);
  auto* bounce = reinterpret_cast<Bounce*>(slot->priv[0]);
  const auto flags = static_cast<uint32_t>(slot->priv[2]);
  Link* link = conn->priv != nullptr ? &link_of(conn) : nullptr;
  Ticket* ticket = link != nullptr && link->state == LinkState::up ? take_ticket(ep) : nullptr;
  if (ticket == nullptr) {  // the peer died meanwhile
    give_back_bounce(ep, bounce);
    return;
  }
  Frame f = make_frame(*link, FrameKind::am_medium, word, args, nargs,
                       static_cast<uint32_t>(length), length, flags);
  lay_out(*link, f, bounce->data);
  std::memset(bounce->data + f.head + length, 0, f.total - f.head - length);
  // What was set aside for the longest message, less what this one takes.
  link->credit[f.lane] += static_cast<uint32_t>(slot->priv[1]);
  sent(*link, f);
  ticket->bounce = bounce;
  ticket->work = Work::send;
  ticket->report = 0;
  attach_pending(*link, ticket);
  count(ep, f, CWYC_AM_MEDIUM, length);
  if (!link->parked.empty() || !post_parked(*link, {ticket, bounce->data, f.total, bounce->desc}))
    park(*link, {ticket, bounce->data, f.total, bounce->desc});
}

}  // namespace causeway::ofi
