// What the files of this conduit call of each other.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "../common/links.h"
#include "objects.h"

namespace causeway::verbs {

// ---- domain.cpp, memory.cpp
cwy_status open_domain(const Options& options, const char* device, cwyc_domain** out, cwy_err* err);

// ---- pools.cpp
Ticket* take_ticket(cwyc_ep* ep);
void give_back_ticket(cwyc_ep* ep, Ticket* ticket);
Bounce* take_bounce(cwyc_ep* ep);
void give_back_bounce(cwyc_ep* ep, Bounce* bounce);
// Both or neither.
bool take_both(cwyc_ep* ep, Ticket*& ticket, Bounce*& bounce);
// Receive buffers for all that a peer may have under way; sets link.granted. False: no room for
// even the smallest window.
bool provide_buffers(Link& link);
void withdraw_buffers(Link& link);
bool provide_datagram_buffers(cwyc_ep* ep, uint32_t n);
void repost(cwyc_ep* ep, ReceiveBuffer* buffer);
void post_wanted(cwyc_ep* ep);

// ---- queue_pair.cpp
int make_connected(cwyc_ep* ep, Owned<ibv_qp>& out);  // in state INIT
int join(Link& link, const Hello& peer);              // to RTS
int make_datagram(cwyc_ep* ep);                       // in state RTS
// The device gives back what it has, with errors.
void stop_queue_pair(Link& link);
// Ends a queue pair: its work requests are flushed, and what completed goes to the backlog.
void end_queue_pair(Link& link);
// Completions that the datagram queue pair may have at once.
uint32_t datagram_completions(const cwyc_ep* ep);
// Depth and inline bytes that the device really gives.
int probe_queue_pair(cwyc_domain* domain);
// False: not now; whoever wants an answer asks again.
bool send_datagram(cwyc_ep* ep, const Address& to, const Hello& hello);

// ---- link.cpp
Link* make_link(cwyc_ep* ep, cwy_peer peer, const Address& address);
inline Link* find_link(cwyc_ep* ep, uint32_t index) {
  return causeway::find_link(ep->links, index);
}
void destroy_link(Link* link);
void want_attention(Link* link);
void detach_pending(Ticket* ticket);
// Everything the core waits for ends with `status`; tickets remain the device's.
void abandon_pending(Link& link, cwy_status status);
// The peer does not answer any more, or said good-bye without our leave.
void lose_link(Link& link, const char* why);
void finish_connect(Link& link, cwy_status status);
// Notes the newest epoch of a rank; false when `peer` is older than that.
bool admit_epoch(cwyc_ep* ep, cwy_peer peer);
uint32_t push_todo(cwyc_ep* ep);

// ---- handshake.cpp
cwy_status begin_connect(Link& link, cwy_err* err);
void send_hello(Link& link, Step step);
void on_datagram(cwyc_ep* ep, const char* data, size_t length);
// The first frame on the queue pair itself says that both ends are ready.
void on_first_frame(Link& link);

// ---- liveness.cpp
// False: the process is gone already.
bool watch_process(Link& link, const cwyc_peer_desc& peer);
void unwatch_process(Link& link);
// Looks at everything that no completion announces: dead processes, idle peers, the device.
uint32_t look_around(cwyc_ep* ep);
void look_at_device(cwyc_domain* domain);
void fail_device(cwyc_domain* domain, const char* what);
cwy_status probe(Link& link, cwyc_op* op);

// ---- am.cpp
// A frame without arguments and payload. False: try again later.
bool send_control(Link& link, FrameKind kind);
// Posts `count` chained work requests, the last of which names `ticket` (NULL: unsignaled). The
// caller made sure of room. False: the device refused, and the link is lost; `why_not` answers.
bool post(Link& link, ibv_send_wr* first, ibv_send_wr* last, uint32_t count, Ticket* ticket);
inline cwy_status why_not(const Link& link) {
  return link.ep->domain->failed ? CWY_ERR_DEVICE_FAILED : CWY_ERR_PEER_FAILED;
}
// OK when `count` more work requests and one signal fit.
inline cwy_status may_post(Link& link, uint32_t count) {
  if (__builtin_expect(link.state != LinkState::up, 0)) {
    if (link.ep->domain->failed || link.state == LinkState::failed) return why_not(link);
    return CWY_RETRY;
  }
  const cwyc_ep* ep = link.ep;
  if (link.used + count <= ep->domain->tx_depth && ep->in_flight + count <= ep->in_flight_max)
    return CWY_OK;
  ++link.ep->counters.retries;
  return CWY_RETRY;
}

// ---- receive.cpp
uint32_t on_frame(cwyc_ep* ep, ReceiveBuffer* buffer, uint32_t qpn, size_t length, uint32_t lane);
uint32_t deliver_deferred(cwyc_ep* ep, uint32_t budget);
void tell_credit(Link& link);

// ---- rma.cpp
// Where an operation's local bytes are, as the device wants them.
struct Local {
  void* data = nullptr;
  uint32_t lkey = 0;
  Bounce* bounce = nullptr;
  Lease* lease = nullptr;
};
void let_go(cwyc_ep* ep, const Local& local);
// Registers a buffer, or takes a place to copy it to. OK, RETRY or NOMEM.
cwy_status prepare(cwyc_ep* ep, const void* data, const cwyc_mem* lmem, size_t length, bool copy,
                   bool write, Local& out);
void complete(cwyc_ep* ep, Ticket* ticket, const ibv_wc& wc);
// An unsignaled work request failed, or was flushed.
void on_unsignaled_error(cwyc_ep* ep, const ibv_wc& wc);

// ---- progress.cpp
// Reads every completion there is into the backlog. Returns how many there are.
uint32_t stash_completions(cwyc_ep* ep);

inline Link& link_of(cwyc_conn* conn) {
  return *static_cast<Link*>(conn->priv);
}

inline bool inside(const cwyc_rkey& rkey, uint64_t raddr, size_t length) {
  return raddr >= rkey.base && length <= rkey.length && raddr - rkey.base <= rkey.length - length;
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
cwy_status check(cwyc_conn*, cwyc_op*);

uint32_t progress(cwyc_ep*, uint32_t, uint32_t);
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

}  // namespace causeway::verbs
