// Receiving frames: credit, deliveries, and requests that must wait.
#include <cstring>

#include "calls.h"

namespace causeway::verbs {
namespace {

// A frame checked against its own length.
struct Parsed {
  FrameHeader header;
  const int32_t* args;
  uint64_t raddr;
  char* payload;
};

bool parse(char* data, size_t length, Parsed& out) {
  if (length < sizeof(FrameHeader)) return false;
  std::memcpy(&out.header, data, sizeof out.header);
  const FrameHeader& h = out.header;
  if (h.kind > FrameKind::gone || h.nargs > CWYC_AM_MAX_ARGS || h.lane >= lane_count) return false;
  const size_t carried = h.kind == FrameKind::am_long ? 0 : h.length;
  const size_t head = payload_offset(h.kind, h.nargs, carried != 0);
  if (length < head || length - head < carried) return false;
  out.args = reinterpret_cast<const int32_t*>(data + sizeof h);
  out.payload = data + head;
  out.raddr = 0;
  if (has_address(h.kind)) std::memcpy(&out.raddr, data + address_offset(h.nargs), 8);
  return true;
}

// Memory that peers may write to; what an inline long names must lie there.
bool is_registered(const cwyc_domain* domain, uint64_t raddr, size_t length) {
  for (const cwyc_mem* mem : domain->mems) {
    const RkeyBlob& r = mem->rkey;
    if (raddr >= r.base && length <= r.length && raddr - r.base <= r.length - length) return true;
  }
  return false;
}

void deliver(cwyc_ep* ep, const Link& link, const Parsed& p) {
  const FrameHeader& h = p.header;
  uint32_t kind = static_cast<uint32_t>(h.kind);
  void* payload = p.payload;
  if (h.kind == FrameKind::am_short) payload = nullptr;
  if (has_address(h.kind)) {
    kind = CWYC_AM_LONG;
    payload = reinterpret_cast<void*>(p.raddr);
    if (h.kind == FrameKind::am_long_inline) {
      if (!is_registered(ep->domain, p.raddr, h.length)) {
        ++ep->counters.dropped;
        return;
      }
      std::memcpy(payload, p.payload, h.length);
    }
  }
  ++ep->counters.received;
  const cwy_peer from = link.peer;
  ep->params.deliver(ep->params.core_ep, from, h.word, kind, p.args, h.nargs, payload, h.length);
}

// The receiver's account: room that the sender may use again.
void owe(cwyc_ep* ep, uint32_t index, uint32_t lane) {
  Link* link = find_link(ep, index);  // a delivery may have ended it
  if (link == nullptr) return;
  if (++link->owed[lane] >= link->owed_limit) tell_credit(*link);
}

void on_bye(Link& link) {
  link.remote_closed = true;
  // Nobody here uses it: good-bye in turn.
  if (link.conn == nullptr && !link.local_closed) link.local_closed = link.bye_due = true;
  want_attention(&link);
}

}  // namespace

// On its own when no frame is there to take it along.
void tell_credit(Link& link) {
  if (link.owed[request_lane] < link.owed_limit && link.owed[reply_lane] < link.owed_limit) return;
  if (link.state != LinkState::up || link.remote_closed) return;
  ++link.ep->counters.credit_frames;
  if (!send_control(link, FrameKind::credit)) want_attention(&link);
}

uint32_t on_frame(cwyc_ep* ep, ReceiveBuffer* buffer, uint32_t qpn, size_t length, uint32_t lane) {
  Parsed p;
  Link* link = nullptr;
  const bool sound = parse(buffer->data, length, p);
  if (sound) link = find_link(ep, p.header.link);
  if (link == nullptr || link->purged || link->qp == nullptr || link->qp->qp_num != qpn) {
    ++ep->counters.dropped;
    repost(ep, buffer);
    return 0;
  }
  const FrameHeader& h = p.header;
  if (__builtin_expect(link->state == LinkState::connecting, 0)) on_first_frame(*link);
  for (uint32_t i = 0; i < lane_count; ++i) link->credit[i] += h.credit[i];
  if (h.kind <= FrameKind::am_long_inline) {
    if (lane == CWYC_PROGRESS_REPLIES && h.lane == request_lane) {
      ++ep->counters.deferred;
      ep->deferred.push_back(buffer);
      return 0;
    }
    deliver(ep, *link, p);
    repost(ep, buffer);  // before its credit can return to the sender
    owe(ep, h.link, h.lane);
    return 1;
  }
  repost(ep, buffer);
  if (h.kind == FrameKind::bye) on_bye(*link);
  if (h.kind == FrameKind::gone) {
    link->remote_closed = true;
    lose_link(*link, "the peer closed its endpoint");
  }
  return 1;
}

uint32_t deliver_deferred(cwyc_ep* ep, uint32_t budget) {
  uint32_t events = 0;
  while (!ep->deferred.empty() && events < budget) {
    ReceiveBuffer* buffer = ep->deferred.front();
    ep->deferred.pop_front();
    Parsed p;
    parse(buffer->data, ep->frame_max, p);  // it was sound when it came
    Link* link = find_link(ep, p.header.link);
    const bool wanted = link != nullptr && !link->purged;
    if (wanted) deliver(ep, *link, p);
    repost(ep, buffer);
    if (wanted) owe(ep, p.header.link, p.header.lane);
    ++events;
  }
  return events;
}

}  // namespace causeway::verbs
