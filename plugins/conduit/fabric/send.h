// Frames on their way out: laid out, paid for with credit, given to the network.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstring>

#include "links.h"
#include "local.h"

namespace causeway::fabric {

// Most bytes that go out at once: such a frame is put together on the stack.
inline constexpr size_t stack_frame = 4096;

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

inline uint32_t lane_of(uint32_t flags) {
  return (flags & CWYC_LANE_REPLY) != 0 ? reply_lane : request_lane;
}

template <class Link>
inline Frame make_frame(const Link& link, FrameKind kind, uint64_t word, const int32_t* args,
                        uint32_t nargs, size_t length, size_t carried, uint32_t flags) {
  Frame f;
  f.lane = lane_of(flags);
  f.header.word = word;
  f.header.link = link.remote;
  f.header.length = static_cast<uint32_t>(length);
  f.header.kind = kind;
  f.header.nargs = static_cast<uint8_t>(nargs);
  f.header.lane = static_cast<uint8_t>(f.lane);
  f.args = args;
  f.head = payload_offset(kind, nargs, carried != 0);
  f.total = Link::Network::framed(link.ep, f.head + carried);
  f.cost = Link::Network::cost_of(link.ep, f.total);
  return f;
}

// A frame takes along what is owed to the peer, and it is owed no more once the frame is under way.
template <class Link>
inline void take_credit_along(const Link& link, FrameHeader& h) {
  for (uint32_t lane = 0; lane < lane_count; ++lane)
    h.credit[lane] = static_cast<uint16_t>(std::min<uint32_t>(link.owed[lane], UINT16_MAX));
}
template <class Link>
inline void credit_told(Link& link, const FrameHeader& h) {
  for (uint32_t lane = 0; lane < lane_count; ++lane) link.owed[lane] -= h.credit[lane];
}

// Writes header, arguments and address. What lies between the parts of a frame goes over the wire
// too: nothing of this process' memory shall.
template <class Link>
inline void lay_head(const Link& link, Frame& f, char* to) {
  take_credit_along(link, f.header);
  std::memcpy(to, &f.header, sizeof f.header);
  const size_t args = f.header.nargs * sizeof(int32_t);
  if (args != 0) std::memcpy(to + sizeof f.header, f.args, args);
  std::memset(to + sizeof f.header + args, 0, f.head - sizeof f.header - args);
  if (has_address(f.header.kind)) std::memcpy(to + address_offset(f.header.nargs), &f.raddr, 8);
}
// A whole frame; `payload` NULL: it stands there already.
template <class Link>
inline void lay_out(const Link& link, Frame& f, char* to, const void* payload, size_t carried) {
  lay_head(link, f, to);
  if (carried != 0 && payload != nullptr) std::memcpy(to + f.head, payload, carried);
  std::memset(to + f.head + carried, 0, f.total - f.head - carried);
}

// The frame is on its way.
template <class Link>
inline void sent(Link& link, const Frame& f) {
  link.credit[f.lane] -= f.cost;
  credit_told(link, f.header);
}

// CWY_OK when `link` may send a frame of this cost.
template <class Link>
inline cwy_status may_send(Link& link, uint32_t lane, uint32_t cost) {
  if (const cwy_status may = Link::Network::may_send(link); __builtin_expect(may != CWY_OK, 0))
    return may;
  if (__builtin_expect(link.credit[lane] >= cost, 1)) return CWY_OK;
  link.ep->counters.retries.add(1);
  return CWY_RETRY;
}

template <class Link>
inline void count_message(Link& link, uint32_t lane, uint32_t kind, size_t payload) {
  link.ep->counters.messages[lane][kind].add(1);
  link.ep->counters.am_bytes.add(payload);
  link.ep->traffic.sent(link.peer.rank, payload);
}

template <class Link>
inline void count_put(Link& link, uint64_t bytes) {
  link.ep->counters.puts.add(1);
  link.ep->counters.put_bytes.add(bytes);
  link.ep->traffic.sent(link.peer.rank, bytes);
}
template <class Link>
inline void count_get(Link& link, uint64_t bytes) {
  link.ep->counters.gets.add(1);
  link.ep->counters.get_bytes.add(bytes);
  link.ep->traffic.fetched(link.peer.rank, bytes);
}

// Head and payload copied together into one place.
template <class Link>
cwy_status send_copied(Link& link, Frame& f, const void* payload, size_t carried) {
  auto* const ticket = take_both(link.ep);
  if (ticket == nullptr) return CWY_RETRY;
  char* const place = ticket->bounce->data;
  lay_out(link, f, place, payload, carried);
  const cwy_status status = Link::Network::send(link, ticket, place, f.total, ticket->bounce->key);
  if (status != CWY_OK) return status;
  sent(link, f);
  link.ep->counters.copied.add(1);
  return CWY_OK;
}

// The payload from where it lies, the rest from a bounce buffer.
template <class Link>
cwy_status send_gathered(Link& link, Frame& f, const Local<typename Link::Network>& payload,
                         size_t carried, cwyc_op* op) {
  auto* const ep = link.ep;
  auto* const ticket = take_both(ep);
  if (ticket == nullptr) {
    if (payload.lease != nullptr) ep->domain->leases->give_back(payload.lease);
    return CWY_RETRY;
  }
  const size_t padding = f.total - f.head - carried;
  char* const place = ticket->bounce->data;
  lay_head(link, f, place);
  std::memset(place + f.head, 0, padding);
  ticket->lease = payload.lease;
  ticket->op = op;
  ticket->report = CWYC_DONE_LOCAL;
  const cwy_status status =
      Link::Network::send_pieces(link, ticket, f.head, padding, payload, carried);
  if (status != CWY_OK) return status;
  sent(link, f);
  return CWY_INPROGRESS;
}

template <class Link>
cwy_status send_at_once(Link& link, Frame& f, const void* payload, size_t carried) {
  alignas(8) char frame[stack_frame];
  lay_out(link, f, frame, payload, carried);
  const cwy_status status = Link::Network::send_at_once(link, frame, f.total);
  if (status != CWY_OK) return status;
  sent(link, f);
  link.ep->counters.at_once.add(1);
  return CWY_OK;
}

// `copy`: the payload may not be used after return.
template <class Link, class Mem>
cwy_status send_frame(Link& link, Frame& f, const void* payload, const Mem* lmem, size_t carried,
                      bool copy, cwyc_op* op) {
  using N = typename Link::Network;
  auto* const ep = link.ep;
  if (f.total <= N::at_once_max(ep)) return send_at_once(link, f, payload, carried);
  if (ep->in_flight >= ep->in_flight_max) return CWY_RETRY;
  if (f.total <= ep->copy_frame || copy || op == nullptr || !N::gathers(ep))
    return send_copied(link, f, payload, carried);
  Local<N> local{const_cast<void*>(payload)};
  if (N::wants_keys(ep)) {
    if (lmem != nullptr)
      local.key = N::key_of(*lmem);
    else if (carried <= ep->domain->options.copy_below || !lease_buffer(ep, carried, false, local))
      return send_copied(link, f, payload, carried);
  }
  return send_gathered(link, f, local, carried, op);
}

// A frame without arguments. False: try again later.
template <class Link>
bool send_control(Link& link, FrameKind kind, const void* payload, size_t length) {
  const cwy_status may = Link::Network::may_control(link);
  if (may != CWY_OK) return may != CWY_RETRY;  // nobody is there to hear it
  Frame f = make_frame(link, kind, 0, nullptr, 0, length, length, 0);
  if (kind == FrameKind::hello) f.header.link = no_link;
  auto* const ticket = take_both(link.ep);
  if (ticket == nullptr) return false;
  char* const place = ticket->bounce->data;
  lay_out(link, f, place, payload, length);
  if (kind == FrameKind::bye || kind == FrameKind::gone) ticket->work = Work::last_send;
  const cwy_status status = Link::Network::send(link, ticket, place, f.total, ticket->bounce->key);
  if (status == CWY_OK) credit_told(link, f.header);
  return status != CWY_RETRY;
}

// Tells the peer what room it has, on its own when no frame is there to take it along.
template <class Link>
void tell_credit(Link& link) {
  if (link.owed[request_lane] < link.owed_limit && link.owed[reply_lane] < link.owed_limit) return;
  if (link.state != LinkState::up || link.remote_closed) return;
  link.ep->counters.credit_frames.add(1);
  if (!send_control(link, FrameKind::credit)) want_attention(&link);
}

// The longest frame of a short message, whatever the frames are padded to.
struct alignas(16) ShortFrame {
  FrameHeader header;
  int32_t args[CWYC_AM_MAX_ARGS];
  int32_t padding[2];
};
static_assert(sizeof(ShortFrame) == aligned(sizeof(FrameHeader) + 4 * CWYC_AM_MAX_ARGS));

// As send_frame() for what round trips are made of: put together in one place, in one go. Of any
// length it costs one credit.
template <class Link>
inline cwy_status send_short_at_once(Link& link, uint64_t word, const int32_t* args, uint32_t nargs,
                                     uint32_t flags) {
  auto* const ep = link.ep;
  const uint32_t lane = lane_of(flags);
  if (const cwy_status may = may_send(link, lane, 1); may != CWY_OK) return may;
  const size_t total = Link::Network::framed(ep, address_offset(nargs));
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
  const cwy_status status =
      Link::Network::send_at_once(link, reinterpret_cast<const char*>(&frame), total);
  if (__builtin_expect(status != CWY_OK, 0)) return status;
  --link.credit[lane];
  credit_told(link, frame.header);
  ep->counters.at_once.add(1);
  count_message(link, lane, CWYC_AM_SHORT, 0);
  return CWY_OK;
}

}  // namespace causeway::fabric
