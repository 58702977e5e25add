// Receiving frames: credit, deliveries, and requests that must wait.
#include <algorithm>
#include <cstring>

#include "calls.h"

namespace causeway::ofi {
namespace {

// Where the payload of a frame begins.
size_t head_of(const FrameHeader& h) {
  return payload_offset(h.kind, h.nargs, h.kind != FrameKind::am_long && h.length != 0);
}

// Takes the header of a frame out. False: no frame of this length has such a one.
inline bool parse(const char* data, size_t length, FrameHeader& h) {
  if (length < sizeof h) return false;
  std::memcpy(&h, data, sizeof h);
  if (h.nargs > CWYC_AM_MAX_ARGS || h.lane >= lane_count) return false;
  if (__builtin_expect(h.kind == FrameKind::am_short, 1)) return length >= address_offset(h.nargs);
  if (h.kind > FrameKind::gone) return false;
  const size_t head = head_of(h);
  const size_t carried = h.kind == FrameKind::am_long ? 0 : h.length;
  return length >= head && length - head >= carried;
}

// Memory that peers may write to; what an inline long names must lie there.
bool is_registered(const cwyc_domain* domain, uint64_t raddr, size_t length) {
  for (const cwyc_mem* mem : domain->mems) {
    const RkeyBlob& r = mem->rkey;
    if (mem->host && raddr >= r.base && length <= r.length && raddr - r.base <= r.length - length)
      return true;
  }
  return false;
}

// Hands a message with a payload on, or a long.
__attribute__((noinline)) void deliver_payload(cwyc_ep* ep, const Link& link, const FrameHeader& h,
                                               char* frame) {
  auto* args = reinterpret_cast<const int32_t*>(frame + sizeof h);
  uint32_t kind = CWYC_AM_MEDIUM;
  void* payload = frame + head_of(h);
  if (has_address(h.kind)) {
    uint64_t raddr = 0;
    std::memcpy(&raddr, frame + address_offset(h.nargs), sizeof raddr);
    if (h.kind == FrameKind::am_long_inline) {
      if (!is_registered(ep->domain, raddr, h.length)) {
        ++ep->counters.dropped;
        return;
      }
      std::memcpy(reinterpret_cast<void*>(raddr), payload, h.length);
    }
    kind = CWYC_AM_LONG;
    payload = reinterpret_cast<void*>(raddr);
  }
  ++ep->counters.received;
  ep->params.deliver(ep->params.core_ep, link.peer, h.word, kind, args, h.nargs, payload, h.length);
}

inline void deliver(cwyc_ep* ep, const Link& link, const FrameHeader& h, char* frame) {
  if (__builtin_expect(h.kind != FrameKind::am_short, 0))
    return deliver_payload(ep, link, h, frame);
  ++ep->counters.received;
  ep->params.deliver(ep->params.core_ep, link.peer, h.word, CWYC_AM_SHORT,
                     reinterpret_cast<const int32_t*>(frame + sizeof h), h.nargs, nullptr, 0);
}

// The receiver's account: room that the sender may use again.
inline void owe(cwyc_ep* ep, uint32_t index, uint32_t lane, size_t length) {
  Link* link = find_link(ep, index);  // a delivery may have ended it
  if (link == nullptr) return;
  link->owed[lane] += cost_of(ep, length);
  if (link->owed[lane] >= link->owed_limit) tell_credit(*link);
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
  if (!send_control(link.ep, link, FrameKind::credit, nullptr, 0)) want_attention(&link);
}

namespace {

// What is no message of the core's.
__attribute__((noinline)) uint32_t on_control(Link& link, FrameKind kind) {
  if (kind == FrameKind::bye) on_bye(link);
  if (kind == FrameKind::gone) {
    link.remote_closed = true;
    lose_link(link, "the peer closed its endpoint");
  }
  return 1;
}

}  // namespace

uint32_t on_frames(cwyc_ep* ep, ReceiveBuffer* buffer, char* data, size_t length, uint32_t lane) {
  FrameHeader h;
  if (!parse(data, length, h)) {
    ++ep->counters.dropped;
    return 0;
  }
  if (__builtin_expect(h.kind >= FrameKind::hello && h.kind <= FrameKind::welcome, 0)) {
    // Connected endpoints introduce themselves with their requests.
    if (ep->domain->path.msg) {
      ++ep->counters.dropped;
      return 0;
    }
    on_hello(ep, h, data + head_of(h));
    return 1;
  }
  Link* link = find_link(ep, h.link);
  if (link == nullptr || link->purged) {
    ++ep->counters.dropped;
    return 0;
  }
  for (uint32_t i = 0; i < lane_count; ++i) link->credit[i] += h.credit[i];
  if (__builtin_expect(h.kind >= FrameKind::credit, 0)) return on_control(*link, h.kind);
  if (__builtin_expect(lane == CWYC_PROGRESS_REPLIES, 0) && h.lane == request_lane) {
    ++buffer->held;
    ++ep->counters.deferred;
    ep->deferred.push_back({buffer, data, length});
    return 0;
  }
  deliver(ep, *link, h, data);
  owe(ep, h.link, h.lane, length);
  return 1;
}

uint32_t deliver_deferred(cwyc_ep* ep, uint32_t budget) {
  uint32_t events = 0;
  while (!ep->deferred.empty() && events < budget) {
    const Deferred d = ep->deferred.front();
    ep->deferred.pop_front();
    FrameHeader h;
    Link* const link = parse(d.frame, d.length, h) ? find_link(ep, h.link) : nullptr;
    if (link != nullptr && !link->purged) {
      deliver(ep, *link, h, d.frame);
      owe(ep, h.link, h.lane, d.length);
    }
    ++events;
    if (--d.buffer->held == 0 && d.buffer->released) repost(ep, d.buffer);
  }
  return events;
}

}  // namespace causeway::ofi
