// Active messages, sending side. Header and arguments are UCX's user header, so that a payload is
// sent from where it lies.
#include <algorithm>
#include <cstring>

#include "endpoint.h"
#include "rma.h"
#include "services.h"

namespace causeway::ucx {
namespace {

constexpr size_t header_bytes(uint32_t nargs) {
  return sizeof(MessageHeader) + nargs * sizeof(int32_t);
}
constexpr size_t most_header_bytes = header_bytes(CWYC_AM_MAX_ARGS) + sizeof(uint64_t);
static_assert(most_header_bytes <= slot_bytes);

// Aligned for any type, as the slot itself is.
constexpr size_t up_to_16(size_t n) {
  return (n + 15) / 16 * 16;
}

void write_header(const cwyc_ep* ep, Slot* slot, MessageKind kind, uint64_t word,
                  const int32_t* args, uint32_t nargs) {
  const MessageHeader header{ep->job, word, ep->self_rank, pack_info(ep->self_epoch, kind, nargs)};
  std::memcpy(slot->bytes, &header, sizeof header);
  if (nargs != 0) std::memcpy(slot->bytes + sizeof header, args, nargs * sizeof *args);
}

// A long of so many bytes is fetched by its receiver, straight to its target: what is sent along
// with the message is copied out of a buffer there.
constexpr size_t least_fetched_bytes = 64 << 10;

// How UCX is told to send a long: as it likes (0), at once, or by the receiver's fetching it. Over
// TCP, UCX copies at the receiver either way, and what fits into a segment needs no request and
// answer before it goes out.
uint32_t way_of_long(const Connection& c, size_t length) {
  const cwyc_domain& domain = *c.link->owner->domain;
  if (length < least_fetched_bytes || domain.only_shared_memory) return 0;
  const bool over_tcp = c.link->notices_failure && length <= domain.segment_room;
  return over_tcp ? UCP_AM_SEND_FLAG_EAGER : UCP_AM_SEND_FLAG_RNDV;
}

cwy_status send(Connection& c, Slot* slot, size_t header_length, const void* payload,
                const cwyc_mem* lmem, size_t length, uint32_t flags, uint32_t way = 0) {
  slot->link = c.link;
  slot->kind = SlotKind::message;
  ucp_request_param_t param;
  describe(param, slot, lmem);
  if (way != 0) {
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = way;
  }
  const cwy_status status =
      accepted(*c.link, slot,
               ucp_am_send_nbx(c.ep, (flags & CWYC_LANE_REPLY) != 0 ? id_reply : id_request,
                               slot->bytes, header_length, payload, length, &param));
  if (status == CWY_OK) c.link->owner->slots.give(slot);
  return status;
}

// Must the source be ours? A reply sent from inside a UCX callback cannot wait for its source: UCX
// may not be entered again until the callback has returned.
bool copies(const cwyc_ep* ep, uint32_t flags, const void* payload, size_t length) {
  return (flags & CWYC_SRC_VOLATILE) != 0 || ep->depth != 0 || ep->read_only.holds(payload, length);
}

// Payload behind the header in the slot, or in memory of its own. NULL: no memory.
void* copy_payload(Slot* slot, size_t header_length, const void* payload, size_t length) {
  void* to = slot->bytes + up_to_16(header_length);
  if (up_to_16(header_length) + length > slot_bytes) to = slot->large = std::malloc(length);
  if (to != nullptr && length != 0) std::memcpy(to, payload, length);
  return to;
}

// Header is in the slot. CWY_OK when the source is free.
cwy_status send_payload(cwyc_conn* conn, Slot* slot, size_t header_length, const void* payload,
                        const cwyc_mem* lmem, size_t length, uint32_t flags, cwyc_op* op,
                        bool is_long = false) {
  Connection& c = connection(conn);
  const bool fits = up_to_16(header_length) + length <= slot_bytes;
  if (is_host(lmem) && (fits || copies(conn->ep, flags, payload, length))) {
    void* copy = copy_payload(slot, header_length, payload, length);
    if (copy == nullptr) {
      conn->ep->slots.give(slot);
      return CWY_ERR_NOMEM;
    }
    const cwy_status status = send(c, slot, header_length, copy, nullptr, length, flags);
    return status < 0 ? status : CWY_OK;
  }
  slot->op = op;
  return send(c, slot, header_length, payload, lmem, length, flags,
              is_long ? way_of_long(c, length) : 0);
}

}  // namespace

cwy_status Conduit::am_short(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                             uint32_t flags) {
  Connection& c = connection(conn);
  if (__builtin_expect(nargs > CWYC_AM_MAX_ARGS, 0)) return CWY_ERR_INVALID;
  if (__builtin_expect(c.ep == nullptr, 0)) return CWY_ERR_PEER_FAILED;
  Slot* slot = take_slot(conn->ep, flags);
  if (__builtin_expect(slot == nullptr, 0)) return CWY_RETRY;
  write_header(conn->ep, slot, MessageKind::am_short, word, args, nargs);
  const cwy_status status = send(c, slot, header_bytes(nargs), nullptr, nullptr, 0, flags);
  if (__builtin_expect(status < 0, 0)) return status;
  conn->ep->count_sent(short_sent, bytes_sent, conn->peer.rank, 0);
  return CWY_OK;
}

cwy_status Conduit::am_medium(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                              const void* payload, cwyc_mem* lmem, size_t length, uint32_t flags,
                              cwyc_op* op) {
  cwyc_ep* ep = conn->ep;
  if (__builtin_expect(nargs > CWYC_AM_MAX_ARGS || length > ep->domain->options.medium_max, 0))
    return CWY_ERR_INVALID;
  if (__builtin_expect(connection(conn).ep == nullptr, 0)) return CWY_ERR_PEER_FAILED;
  Slot* slot = take_slot(ep, flags);
  if (__builtin_expect(slot == nullptr, 0)) return CWY_RETRY;
  write_header(ep, slot, MessageKind::am_medium, word, args, nargs);
  const cwy_status status =
      send_payload(conn, slot, header_bytes(nargs), payload, lmem, length, flags, op);
  if (status < 0)
    return refused(*connection(conn).link, status, payload, readable_bytes(lmem, length));
  ep->count_sent(medium_sent, bytes_sent, conn->peer.rank, length);
  return status;
}

cwy_status Conduit::am_long(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                            const void* payload, cwyc_mem* lmem, size_t length, uint64_t raddr,
                            cwyc_rkey* rkey, uint32_t flags, cwyc_op* op) {
  cwyc_ep* ep = conn->ep;
  if (__builtin_expect(nargs > CWYC_AM_MAX_ARGS, 0)) return CWY_ERR_INVALID;
  if (__builtin_expect(connection(conn).ep == nullptr, 0)) return CWY_ERR_PEER_FAILED;
  if (length != 0) {
    if (rkey == nullptr || !inside(*rkey, raddr, length)) return CWY_ERR_INVALID;
    if (!rkey->host_memory) return CWY_ERR_UNSUPPORTED;  // the target's processor stores it
  }
  Slot* slot = take_slot(ep, flags);
  if (__builtin_expect(slot == nullptr, 0)) return CWY_RETRY;
  // The target address stands between header and arguments.
  const MessageHeader header{ep->job, word, ep->self_rank,
                             pack_info(ep->self_epoch, MessageKind::am_long, nargs)};
  unsigned char* at = slot->bytes;
  std::memcpy(at, &header, sizeof header);
  std::memcpy(at + sizeof header, &raddr, sizeof raddr);
  if (nargs != 0) std::memcpy(at + sizeof header + sizeof raddr, args, nargs * sizeof *args);
  const cwy_status status = send_payload(conn, slot, header_bytes(nargs) + sizeof raddr, payload,
                                         lmem, length, flags, op, true);
  if (status < 0)
    return refused(*connection(conn).link, status, payload, readable_bytes(lmem, length));
  ep->count_sent(long_sent, bytes_sent, conn->peer.rank, length);
  return status;
}

// ---- negotiated mediums: the buffer is the one that UCX sends from ------------------------------

cwy_status Conduit::am_prepare(cwyc_conn* conn, size_t least, size_t most, uint32_t nargs,
                               uint32_t flags, cwyc_am_slot* out) {
  cwyc_ep* ep = conn->ep;
  const size_t medium_max = ep->domain->options.medium_max;
  if (nargs > CWYC_AM_MAX_ARGS || least > medium_max || least > most) return CWY_ERR_INVALID;
  if (connection(conn).ep == nullptr) return CWY_ERR_PEER_FAILED;
  Slot* slot = take_slot(ep, flags);
  if (slot == nullptr) return CWY_RETRY;
  out->length = std::min(most, medium_max);
  const size_t behind = up_to_16(header_bytes(CWYC_AM_MAX_ARGS));
  out->buffer = slot->bytes + behind;
  if (behind + out->length > slot_bytes) out->buffer = slot->large = std::malloc(out->length);
  if (out->buffer == nullptr) {
    ep->slots.give(slot);
    return CWY_RETRY;
  }
  out->priv[0] = reinterpret_cast<uint64_t>(slot);
  out->priv[1] = flags;
  return CWY_OK;
}

void Conduit::am_commit(cwyc_conn* conn, cwyc_am_slot* in, uint64_t word, const int32_t* args,
                        uint32_t nargs, size_t length) {
  cwyc_ep* ep = conn->ep;
  Connection& c = connection(conn);
  auto* slot = reinterpret_cast<Slot*>(in->priv[0]);
  if (c.ep == nullptr) {
    ep->slots.give(slot);  // the dead peer swallows it
    return;
  }
  write_header(ep, slot, MessageKind::am_medium, word, args, nargs);
  const cwy_status status = send(c, slot, header_bytes(nargs), in->buffer, nullptr, length,
                                 static_cast<uint32_t>(in->priv[1]));
  // An accepted message that is lost would break the promise of this call.
  if (status < 0) link_failed(*c.link, "UCX has no memory for a message it had accepted");
  ep->count_sent(medium_sent, bytes_sent, conn->peer.rank, length);
}

void Conduit::am_cancel(cwyc_conn* conn, cwyc_am_slot* in) {
  conn->ep->slots.give(reinterpret_cast<Slot*>(in->priv[0]));
}

// Sends the farewell as a message that a peer without a link to this rank can answer; over shared
// memory, where no answer is waited for, as any other one: what can be answered UCX holds back
// until it knows how the peer calls this connection, and its flush at the end does not wait for
// that.
void send_farewell(Link& link) {
  Slot* slot = link.owner->slots.take();
  if (slot == nullptr) return;
  write_header(link.owner, slot, MessageKind::farewell, leaving, nullptr, 0);
  slot->link = &link;
  slot->kind = SlotKind::message;
  ucp_request_param_t param;
  describe(param, slot, nullptr);
  if (link.notices_failure) {
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = UCP_AM_SEND_FLAG_REPLY;
  }
  const cwy_status status = accepted(
      link, slot,
      ucp_am_send_nbx(link.ep, id_reply, slot->bytes, header_bytes(0), nullptr, 0, &param));
  if (status == CWY_OK) link.owner->slots.give(slot);
}

}  // namespace causeway::ucx
