// What the files of this conduit call of each other.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "../common/links.h"
#include "objects.h"

namespace causeway::ofi {

// ---- domain.cpp, memory.cpp
cwy_status open_domain(const Options& options, const char* device, cwyc_domain** out, cwy_err* err);
// 0 or a negative libfabric error.
int register_memory(cwyc_domain* domain, void* base, size_t length, uint64_t access,
                    uint32_t kind_class, int32_t device, Fid<fid_mr>& out);
// A registration of [base, base+length) for a local operation, `write`: one that stores its result
// there, others may be given a copy; NULL with `error` set.
Lease* take_lease(cwyc_domain* domain, const void* base, size_t length, bool write, int& error);
void give_back_lease(cwyc_domain* domain, Lease* lease);

// ---- pools.cpp
// Receive buffers beside those for the credits of both lanes: per link, for two returns of credit
// per lane and good-byes; and of a datagram endpoint, for hellos of peers that it never heard of.
inline constexpr uint32_t control_buffers = 8, hello_buffers = 64;
bool add_tickets(cwyc_ep* ep);  // false: no memory
// NULL: no memory.
inline Ticket* take_ticket(cwyc_ep* ep) {
  if (__builtin_expect(ep->free_tickets == nullptr, 0) && !add_tickets(ep)) return nullptr;
  Ticket* const ticket = ep->free_tickets;
  ep->free_tickets = ticket->next;
  ticket->next = ticket->previous = nullptr;
  ticket->op = nullptr;
  ticket->bounce = nullptr;
  ticket->lease = nullptr;
  ticket->copy_to = nullptr;
  ticket->read_behind = 0;
  return ticket;
}
Bounce* take_bounce(cwyc_ep* ep);
inline void give_back_bounce(cwyc_ep* ep, Bounce* bounce) {
  bounce->next = ep->free_bounces;
  ep->free_bounces = bounce;
}
// With what it carries.
inline void give_back_ticket(cwyc_ep* ep, Ticket* ticket) {
  if (ticket->bounce != nullptr) give_back_bounce(ep, ticket->bounce);
  if (__builtin_expect(ticket->lease != nullptr, 0)) give_back_lease(ep->domain, ticket->lease);
  ticket->next = ep->free_tickets;
  ep->free_tickets = ticket;
}
void want_buffers(cwyc_ep* ep, Link* link, uint32_t n);  // post so many more
void unwant_buffers(cwyc_ep* ep, Link* link);            // those of a link that ends
void repost(cwyc_ep* ep, ReceiveBuffer* buffer);
void post_wanted(cwyc_ep* ep);

// ---- link.cpp
Link* make_link(cwyc_ep* ep, cwy_peer peer, uint64_t nonce);
inline Link* find_link(cwyc_ep* ep, uint32_t index) {
  return causeway::find_link(ep->links, index);
}
inline void attach_pending(Link& link, Ticket* ticket) {
  join_pending(link, ticket);
  ++link.ep->in_flight;
}
inline void detach_pending(Ticket* ticket) {
  if (Link* const link = leave_pending(ticket)) --link->ep->in_flight;
}
void destroy_link(Link* link);
void want_attention(Link* link);
// True when nothing more can come of it.
bool is_finished(const Link& link);
// Everything the core waits for ends with PEER_FAILED; tickets remain the provider's.
void abandon_pending(Link& link);
// The peer does not answer any more, or said good-bye without our leave.
void lose_link(Link& link, const char* why);
void finish_connect(Link& link, cwy_status status);
// Notes the newest epoch of a rank; false when `peer` is older than that.
bool admit_epoch(cwyc_ep* ep, cwy_peer peer);
uint32_t push_todo(cwyc_ep* ep);

// ---- handshake.cpp: how links come up
cwy_status begin_connect(Link& link, const Address& to, cwy_err* err);
uint32_t connection_events(cwyc_ep* ep);
void on_hello(cwyc_ep* ep, const FrameHeader& header, const char* payload);
Hello hello_of(const Link& link);
bool send_hello(Link& link, FrameKind kind);

// ---- am.cpp
inline uint32_t cost_of(const cwyc_ep* ep, size_t length) {
  return ep->shared_buffers ? static_cast<uint32_t>((length + credit_unit - 1) / credit_unit) : 1;
}
// A frame without arguments from the endpoint to `address`. False: try again later.
bool send_control(cwyc_ep* ep, Link& link, FrameKind kind, const void* payload, size_t length);
cwy_status status_of(int fi_error);
// Answers for a post that the provider refused with `error`.
cwy_status refused(Link& link, int error);

bool post_parked(Link& link, const Parked& frame);
void park(Link& link, const Parked& frame);

// ---- receive.cpp
uint32_t on_frames(cwyc_ep* ep, ReceiveBuffer* buffer, char* data, size_t length, uint32_t lane);
uint32_t deliver_deferred(cwyc_ep* ep, uint32_t budget);
void tell_credit(Link& link);

// ---- rma.cpp
// Writes the payload of a long ahead of its frame: OK, INPROGRESS (LOCAL will be reported) or why
// nothing was posted.
cwy_status long_write(Link& link, const void* src, cwyc_mem* lmem, size_t length, uint64_t raddr,
                      const cwyc_rkey& rkey, uint32_t flags, cwyc_op* op);
void complete(cwyc_ep* ep, Ticket* ticket, cwy_status status);
bool read_behind(cwyc_ep* ep, Ticket* ticket);
uint32_t push_reads(cwyc_ep* ep);
// Looks at what is left of a link that the provider does not give back at once.
void drain_link(Link& link, uint64_t limit_ns);

// ---- atomics.cpp
void find_atomics(cwyc_domain* domain, fid_ep* ep);

inline Link& link_of(cwyc_conn* conn) {
  return *static_cast<Link*>(conn->priv);
}

inline bool inside(const cwyc_rkey& rkey, uint64_t raddr, size_t length) {
  return raddr >= rkey.base && length <= rkey.length && raddr - rkey.base <= rkey.length - length;
}
inline uint64_t remote_address(const cwyc_rkey& rkey, uint64_t raddr) {
  return rkey.origin + (raddr - rkey.base);
}

// The table.
cwy_status put_small(cwyc_conn*, const void*, uint64_t, cwyc_rkey*, size_t, uint32_t, cwyc_op*);
cwy_status put(cwyc_conn*, const void*, cwyc_mem*, uint64_t, cwyc_rkey*, size_t, uint32_t,
               cwyc_op*);
cwy_status get(cwyc_conn*, void*, cwyc_mem*, uint64_t, cwyc_rkey*, size_t, uint32_t, cwyc_op*);
cwy_status atomic(cwyc_conn*, const cwyc_atomic*, cwyc_rkey*, uint32_t, cwyc_op*);
cwy_status am_short(cwyc_conn*, uint64_t, const int32_t*, uint32_t, uint32_t);
cwy_status am_medium(cwyc_conn*, uint64_t, const int32_t*, uint32_t, const void*, cwyc_mem*, size_t,
                     uint32_t, cwyc_op*);
cwy_status am_long(cwyc_conn*, uint64_t, const int32_t*, uint32_t, const void*, cwyc_mem*, size_t,
                   uint64_t, cwyc_rkey*, uint32_t, cwyc_op*);
cwy_status am_prepare(cwyc_conn*, size_t, size_t, uint32_t, uint32_t, cwyc_am_slot*);
void am_commit(cwyc_conn*, cwyc_am_slot*, uint64_t, const int32_t*, uint32_t, size_t);
void am_cancel(cwyc_conn*, cwyc_am_slot*);

uint32_t progress(cwyc_ep*, uint32_t, uint32_t);
// The next pass looks at links, reads and buffers that wait for something. Without it a pass costs
// one comparison for all of them, and finds what nobody announced some passes later.
inline void chores_due(cwyc_ep* ep) {
  ep->chores_at = 0;
}
cwy_status wait_fd(cwyc_ep*, int*);
cwy_status arm(cwyc_ep*);

cwy_status ep_open(cwyc_domain*, const cwyc_ep_params*, cwyc_ep**, cwy_err*);
void ep_close(cwyc_ep*);
cwy_status ep_query(cwyc_ep*, cwyc_ep_attr*);
cwy_status ep_address(cwyc_ep*, void*, uint64_t*, cwy_err*);
cwy_status ep_threads(cwyc_ep*, uint32_t);
void ep_stats(cwyc_ep*, cwyc_stat_fn, void*);
cwy_status reach(cwyc_domain*, const cwyc_peer_desc*, cwy_err*);
cwy_status connect(cwyc_ep*, cwyc_conn*, const cwyc_peer_desc*, cwyc_op*, cwy_err*);
void disconnect(cwyc_conn*);
void purge(cwyc_conn*);

cwy_status mem_reg(cwyc_domain*, const cwy_memref*, cwyc_mem**, cwy_err*);
void mem_release(cwyc_domain*, cwyc_mem*);
cwy_status rkey_pack(cwyc_mem*, void*, uint64_t*, cwy_err*);
cwy_status rkey_open(cwyc_ep*, const cwyc_peer_desc*, const void*, uint64_t, cwyc_rkey**, cwy_err*);
void rkey_close(cwyc_ep*, cwyc_rkey*);

}  // namespace causeway::ofi
