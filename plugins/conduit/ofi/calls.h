// What the files of this conduit call of each other.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rdma/fi_rma.h>

#include "objects.h"

namespace causeway::ofi {

// ---- domain.cpp, memory.cpp
// 0 or a negative libfabric error.
int register_memory(cwyc_domain* domain, void* base, size_t length, uint64_t access,
                    uint32_t kind_class, int32_t device, Fid<fid_mr>& out);

// ---- pools.cpp
// Receive buffers of a datagram endpoint for hellos of peers that it never heard of.
inline constexpr uint32_t hello_buffers = 64;
void want_buffers(cwyc_ep* ep, Link* link, uint32_t n);  // post so many more
void unwant_buffers(cwyc_ep* ep, Link* link);            // those of a link that ends
void repost(cwyc_ep* ep, ReceiveBuffer* buffer);

// ---- link.cpp
inline void attach_pending(Link& link, Ticket* ticket) {
  join_pending(link, ticket);
  ++link.ep->in_flight;
}
inline void forget_own(Link& link) {
  if (link.own != nullptr) link.ep->by_fid.erase(&link.own->fid);
  link.own.reset();
}
inline void Network::retired(Link& link, const Ticket&) {
  --link.ep->in_flight;
}

// ---- handshake.cpp: how links come up
uint32_t connection_events(cwyc_ep* ep);
bool send_hello(Link& link, FrameKind kind);

// ---- am.cpp
cwy_status status_of(int fi_error);
// Answers for a post that the provider refused with `error`.
cwy_status refused(Link& link, ssize_t error);
// The answer for what was posted with `ticket`: its pool has it again where the provider refused.
[[gnu::always_inline]] inline cwy_status posted(Link& link, Ticket* ticket, ssize_t error) {
  if (error != 0) {
    give_back_ticket(link.ep, ticket);
    return refused(link, error);
  }
  attach_pending(link, ticket);
  return CWY_OK;
}
bool post_parked(Link& link, const Parked& frame);

inline size_t Network::framed(const cwyc_ep* ep, size_t bytes) {
  return ep->shared_buffers ? aligned(bytes) : bytes;
}
inline uint32_t Network::cost_of(const cwyc_ep* ep, size_t bytes) {
  return ep->shared_buffers ? static_cast<uint32_t>((bytes + credit_unit - 1) / credit_unit) : 1;
}
// A short message of any length costs one credit.
static_assert(sizeof(fabric::ShortFrame) <= credit_unit);
inline bool Network::wants_keys(const cwyc_ep* ep) {
  return ep->domain->path.local_mr;
}
inline size_t Network::at_once_max(const cwyc_ep* ep) {
  return ep->inject_max;
}
inline cwy_status Network::may_send(Link& link) {
  if (__builtin_expect(link.state == LinkState::up, 1)) return CWY_OK;
  return link.state == LinkState::failed ? CWY_ERR_PEER_FAILED : CWY_RETRY;
}
inline cwy_status Network::send_at_once(Link& link, const char* frame, size_t length) {
  const ssize_t error = fi_inject(link.endpoint, frame, length, link.address);
  return __builtin_expect(error != 0, 0) ? refused(link, error) : CWY_OK;
}

// ---- rma.cpp
void complete(cwyc_ep* ep, Ticket* ticket, cwy_status status, const cwy_detail* detail = nullptr);
uint32_t push_reads(cwyc_ep* ep);
// Looks at what is left of a link that the provider does not give back at once.
void drain_link(Link& link, uint64_t limit_ns);

inline cwy_status Network::may_post(Link& link, uint32_t) {
  if (const cwy_status may = may_send(link); may != CWY_OK) return may;
  return link.ep->in_flight < link.ep->in_flight_max ? CWY_OK : CWY_RETRY;
}

inline uint64_t remote_address(const cwyc_rkey& rkey, uint64_t raddr) {
  return rkey.origin + (raddr - rkey.base);
}

// Gives the ticket back where the provider refuses.
[[gnu::always_inline]] inline cwy_status post_write(Link& link, Ticket* ticket, const Local& local,
                                                    size_t length, uint64_t raddr,
                                                    const cwyc_rkey& rkey, uint64_t flags) {
  iovec piece{local.data, length};
  fi_rma_iov target{remote_address(rkey, raddr), length, rkey.key};
  void* desc = local.key;
  fi_msg_rma message{};
  message.msg_iov = &piece;
  // `verbs` looks into the first descriptor where there is an array of them, injected or not.
  message.desc = desc != nullptr ? &desc : nullptr;
  message.iov_count = 1;
  message.addr = link.address;
  message.rma_iov = &target;
  message.rma_iov_count = 1;
  message.context = ticket;
  return posted(link, ticket, fi_writemsg(link.endpoint, &message, flags | FI_COMPLETION));
}

// An injected source is copied by the processor, in most providers.
inline bool Network::writes_at_once(const cwyc_ep* ep, size_t length, bool copy) {
  return length <= ep->inject_max && (copy || ep->domain->path.local_mr);
}

[[gnu::always_inline]] inline cwy_status Network::write(Link& link, Ticket* ticket,
                                                        const Local& local, size_t length,
                                                        uint64_t raddr, const cwyc_rkey& rkey,
                                                        bool at_once) {
  uint64_t flags = at_once ? FI_INJECT : 0;
  if (link.ep->domain->delivery_complete) {
    flags |= FI_DELIVERY_COMPLETE;
  } else {
    ticket->work = Work::put_behind;
    ticket->read_behind = remote_address(rkey, raddr) + length - 1;
    ticket->read_key = rkey.key;
  }
  return post_write(link, ticket, local, length, raddr, rkey, flags);
}

// ---- atomics.cpp
void find_atomics(cwyc_domain* domain, fid_ep* ep);

// ---- progress.cpp
// The next pass looks at links, reads and buffers that wait for something. Without it a pass costs
// one comparison for all of them, and finds what no call announced some passes later.
inline void chores_due(cwyc_ep* ep) {
  ep->chores_at = 0;
}
inline void Network::look_at_links(cwyc_ep* ep) {
  chores_due(ep);
}
inline void Network::frame_kept(ReceiveBuffer* buffer) {
  ++buffer->held;
}
// A queue of a link's own has as many buffers as were posted when it came up. Of buffers that take
// several frames nothing is kept: over tcp;ofi_rxm kept frames were found overwritten.
inline bool Network::may_keep(const cwyc_ep* ep, const ReceiveBuffer* buffer) {
  return buffer->owner == nullptr && !ep->shared_buffers;
}
inline void Network::kept_done(cwyc_ep* ep, ReceiveBuffer* buffer) {
  if (--buffer->held == 0 && buffer->released) repost(ep, buffer);
}

// The table.
struct Conduit : fabric::Engine<Network>, fabric::Keeping<Network> {
  static cwy_status wait_fd(cwyc_ep*, int*);
  static cwy_status arm(cwyc_ep*);
};

}  // namespace causeway::ofi
