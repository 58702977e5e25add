// Frames that came in: credit, deliveries, requests that must wait, and payloads that the core
// keeps.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>
#include <new>
#include <utility>

#include "send.h"

namespace causeway::fabric {

// Where the payload of a frame begins.
inline size_t head_of(const FrameHeader& h) {
  return payload_offset(h.kind, h.nargs, h.kind != FrameKind::am_long && h.length != 0);
}

// Takes the header of a frame out. False: no frame of this length has such a one.
inline bool parse(const char* data, size_t length, FrameHeader& h) {
  if (length < sizeof h) return false;
  std::memcpy(&h, data, sizeof h);
  if (h.nargs > CWYC_AM_MAX_ARGS || h.lane >= lane_count) return false;
  if (__builtin_expect(h.kind == FrameKind::am_short, 1)) return length >= address_offset(h.nargs);
  if (h.kind > FrameKind::welcome) return false;
  const size_t head = head_of(h);
  const size_t carried = h.kind == FrameKind::am_long ? 0 : h.length;
  return length >= head && length - head >= carried;
}

// Memory that peers may write to; what an inline long names must lie there.
template <class Domain>
bool is_registered(const Domain* domain, uint64_t raddr, size_t length) {
  for (const auto* mem : domain->mems) {
    const auto& r = mem->rkey;
    if (r.host != 0 && raddr >= r.base && length <= r.length && raddr - r.base <= r.length - length)
      return true;
  }
  return false;
}

template <class Ep, class Link>
inline void count_received(Ep* ep, const Link& link, size_t payload) {
  ep->counters.received.add(1);
  ep->traffic.received(link.peer.rank, payload);
}

// Hands a message with a payload on, or a long. True: the core keeps the frame.
template <class Ep, class Link, class Buffer>
__attribute__((noinline)) bool deliver_payload(Ep* ep, const Link& link, const FrameHeader& h,
                                               Buffer* buffer, char* frame) {
  auto* args = reinterpret_cast<const int32_t*>(frame + sizeof h);
  uint32_t kind = CWYC_AM_MEDIUM;
  void* payload = frame + head_of(h);
  if (has_address(h.kind)) {
    uint64_t raddr = 0;
    std::memcpy(&raddr, frame + address_offset(h.nargs), sizeof raddr);
    if (h.kind == FrameKind::am_long_inline) {
      if (!is_registered(ep->domain, raddr, h.length)) {
        ep->counters.dropped.add(1);
        return false;
      }
      std::memcpy(reinterpret_cast<void*>(raddr), payload, h.length);
    }
    kind = CWYC_AM_LONG;
    payload = reinterpret_cast<void*>(raddr);
  }
  count_received(ep, link, h.length);
  Delivering<typename Ep::Network> now{buffer, frame, kind == CWYC_AM_MEDIUM ? payload : nullptr};
  auto* const outer = std::exchange(ep->delivering, &now);
  ep->params.deliver(ep->params.core_ep, link.peer, h.word, kind, args, h.nargs, payload, h.length);
  ep->delivering = outer;
  return now.kept;
}

template <class Ep, class Link, class Buffer>
inline bool deliver(Ep* ep, const Link& link, const FrameHeader& h, Buffer* buffer, char* frame) {
  if (__builtin_expect(h.kind != FrameKind::am_short, 0))
    return deliver_payload(ep, link, h, buffer, frame);
  count_received(ep, link, 0);
  ep->params.deliver(ep->params.core_ep, link.peer, h.word, CWYC_AM_SHORT,
                     reinterpret_cast<const int32_t*>(frame + sizeof h), h.nargs, nullptr, 0);
  return false;
}

// The receiver's account: room that the sender may use again.
template <class Ep>
inline void owe(Ep* ep, uint32_t index, uint32_t lane, size_t length) {
  auto* const link = find_link(ep, index);  // a delivery may have ended it
  if (link == nullptr) return;
  link->owed[lane] += Ep::Network::cost_of(ep, length);
  if (link->owed[lane] >= link->owed_limit) tell_credit(*link);
}

// Frames that carry no message of the core's.
template <class Link>
__attribute__((noinline)) uint32_t on_control(Link& link, FrameKind kind) {
  if (kind == FrameKind::bye) {
    link.remote_closed = true;
    // Nobody here uses it: good-bye in turn.
    if (link.conn == nullptr && !link.local_closed) link.local_closed = link.bye_due = true;
    want_attention(&link);
  }
  if (kind == FrameKind::gone) {
    link.remote_closed = true;
    lose_link(link, "the peer closed its endpoint");
  }
  return 1;
}

// A frame that arrived in `buffer`. The network hears once what becomes of it: `frame_done`, before
// any credit for it returns to the sender, or `frame_kept`, for which another buffer stands in
// where credit returns. `source`: by which the network knows whether the frame came over the path
// that it names.
template <class Ep, class Buffer, class Source>
inline uint32_t on_frame(Ep* ep, Buffer* buffer, char* data, size_t length, uint32_t lane,
                         Source source) {
  using N = typename Ep::Network;
  FrameHeader h;
  const bool sound = parse(data, length, h);
  if (sound && __builtin_expect(h.kind >= FrameKind::hello, 0)) {
    const uint32_t events = N::on_greeting(ep, h, data + head_of(h));
    N::frame_done(ep, buffer);
    return events;
  }
  auto* const link = sound ? find_link(ep, h.link) : nullptr;
  if (__builtin_expect(link == nullptr || link->purged || !N::came_by(*link, source), 0)) {
    ep->counters.dropped.add(1);
    N::frame_done(ep, buffer);
    return 0;
  }
  for (uint32_t i = 0; i < lane_count; ++i) link->credit[i] += h.credit[i];
  if (__builtin_expect(h.kind >= FrameKind::credit, 0)) {
    N::frame_done(ep, buffer);
    return on_control(*link, h.kind);
  }
  if (__builtin_expect(lane == CWYC_PROGRESS_REPLIES, 0) && h.lane == request_lane) {
    N::frame_kept(buffer);
    ep->counters.deferred.add(1);
    ep->deferred.push_back({buffer, data, length});
    return 0;
  }
  if (deliver(ep, *link, h, buffer, data))
    N::frame_kept(buffer);
  else
    N::frame_done(ep, buffer);
  owe(ep, h.link, h.lane, length);
  return 1;
}

template <class Ep>
uint32_t deliver_deferred(Ep* ep, uint32_t budget) {
  uint32_t events = 0;
  while (!ep->deferred.empty() && events < budget) {
    const auto d = ep->deferred.front();
    ep->deferred.pop_front();
    FrameHeader h;
    auto* const link = parse(d.frame, d.length, h) ? find_link(ep, h.link) : nullptr;
    const bool wanted = link != nullptr && !link->purged;
    if (!wanted || !deliver(ep, *link, h, d.buffer, d.frame)) Ep::Network::kept_done(ep, d.buffer);
    if (wanted) owe(ep, h.link, h.lane, d.length);
    ++events;
  }
  return events;
}

// Buffers of frames that the core keeps no more return to the network.
template <class Ep>
void take_back_released(Ep* ep) {
  using N = typename Ep::Network;
  ep->released.take_all([ep](HandedBack::Link* link) {
    --ep->kept;
    --ep->wanted;
    N::kept_done(ep, static_cast<Kept<N>*>(link)->buffer);
  });
}

// For networks that post receive buffers: the core may keep payloads in them.
template <class N>
struct Keeping {
  using Ep = typename N::Endpoint;

  // Bounds the memory that stands in for frames the core keeps.
  static constexpr uint32_t most_kept = 64;

  // Inside of deliver(), so the gate is held. A receive buffer is posted in place of the frame's,
  // so that keeping it takes no room from the peers. What was handed back waits for the next call:
  // until then nobody needs its buffer.
  static cwy_status am_retain(Ep* ep, void* payload, void** kept) {
    take_back_released(ep);
    Delivering<N>* const now = ep->delivering;
    if (now == nullptr || now->payload != payload || now->kept || !N::may_keep(ep, now->buffer))
      return CWY_ERR_UNSUPPORTED;
    if (ep->kept == most_kept) return CWY_ERR_NOMEM;
    ++ep->wanted;
    post_wanted(ep);
    if (ep->posted < ep->wanted) {
      --ep->wanted;
      return CWY_ERR_NOMEM;
    }
    ++ep->kept;
    now->kept = true;
    auto* const frame = new (now->frame) Kept<N>;
    frame->buffer = now->buffer;
    *kept = frame;
    return CWY_OK;
  }

  static void am_release(Ep* ep, void* kept) { ep->released.push(static_cast<Kept<N>*>(kept)); }
};

}  // namespace causeway::fabric
