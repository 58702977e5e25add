// What the files of this conduit call of each other.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "objects.h"

namespace causeway::verbs {

// ---- pools.cpp
// Receive buffers for all that a peer may have under way; sets link.granted. False: no room for
// even the smallest window.
bool provide_buffers(Link& link);
void withdraw_buffers(Link& link);
bool provide_datagram_buffers(cwyc_ep* ep, uint32_t n);
void repost(cwyc_ep* ep, ReceiveBuffer* buffer);

// ---- queue_pair.cpp
int make_connected(Link& link);           // in state INIT
int join(Link& link, const Hello& peer);  // to RTS
int make_datagram(cwyc_ep* ep);           // in state RTS
// The device gives back what it has, with errors.
void stop_queue_pair(Link& link);
// Ends a queue pair: its work requests are flushed, and what completed goes to the backlog.
void end_queue_pair(Link& link);
// NULL: the queue pair has gone, or was none of a link.
inline Link* link_of_queue_pair(const cwyc_ep* ep, uint32_t number) {
  const auto at = ep->by_queue_pair.find(number);
  return at != ep->by_queue_pair.end() ? at->second : nullptr;
}
// Completions that the datagram queue pair may have at once.
uint32_t datagram_completions(const cwyc_ep* ep);
// Depth and inline bytes that the device really gives.
int probe_queue_pair(cwyc_domain* domain);
// False: not now; a caller that wants an answer asks again.
bool send_datagram(cwyc_ep* ep, const Address& to, const Hello& hello);
// The ticket of a datagram goes back to the pool: of one that was under way, and of any.
void end_datagram(cwyc_ep* ep, Ticket* ticket);
void free_datagram(cwyc_ep* ep, Ticket* ticket);

// ---- handshake.cpp
void send_hello(Link& link, Step step);
// Reads datagrams that came into `introductions`. False: the queue is broken.
bool collect_datagrams(cwyc_ep* ep);
// Answers the hellos among them without a call of the core; all that is left waits.
void answer_hellos(cwyc_ep* ep);
// Reads and answers all. Returns how many there were.
uint32_t take_datagrams(cwyc_ep* ep);

// ---- link.cpp
// The next hello is due after a while, and after a longer one each time.
void wait_for_answer(Link& link, uint64_t now);

// ---- liveness.cpp
// False: the process is gone already.
bool watch_process(Link& link, const cwyc_peer_desc& peer);
void unwatch_process(Link& link);
// Looks at everything that no completion announces: dead processes, idle peers, the device.
uint32_t look_around(cwyc_ep* ep);
void look_at_device(cwyc_domain* domain);
void fail_device(cwyc_domain* domain, const char* what);
cwy_status probe(Link& link);

// ---- am.cpp
// Posts `count` chained work requests, the last of which names `ticket` (NULL: unsignaled). The
// caller made sure of room. OK; else the device refused, the link is lost, and the ticket is in its
// pool again.
cwy_status post(Link& link, ibv_send_wr* first, ibv_send_wr* last, uint32_t count, Ticket* ticket);
inline ibv_sge piece_of(const void* data, size_t length, uint32_t lkey) {
  return {reinterpret_cast<uint64_t>(data), static_cast<uint32_t>(length), lkey};
}
inline ibv_send_wr request_of(ibv_wr_opcode opcode, ibv_sge* pieces, int count) {
  ibv_send_wr request{};
  request.sg_list = pieces;
  request.num_sge = count;
  request.opcode = opcode;
  return request;
}
inline cwy_status why_not(const Link& link) {
  return link.ep->domain->failed ? CWY_ERR_DEVICE_FAILED : CWY_ERR_PEER_FAILED;
}
// OK when `count` more work requests and one signal fit.
inline cwy_status Network::may_post(Link& link, uint32_t count) {
  if (__builtin_expect(link.state != LinkState::up, 0)) {
    if (link.ep->domain->failed || link.state == LinkState::failed) return why_not(link);
    return CWY_RETRY;
  }
  const cwyc_ep* ep = link.ep;
  if (link.used + count <= ep->domain->tx_depth && ep->in_flight + count <= ep->in_flight_max)
    return CWY_OK;
  link.ep->counters.retries.add(1);
  return CWY_RETRY;
}
inline cwy_status Network::may_send(Link& link) {
  return may_post(link, 1);
}
inline size_t Network::at_once_max(const cwyc_ep* ep) {
  return ep->domain->inline_max;
}

// ---- rma.cpp
void complete(cwyc_ep* ep, Ticket* ticket, const ibv_wc& wc);
// An unsignaled work request failed, or was flushed.
void on_unsignaled_error(cwyc_ep* ep, const ibv_wc& wc);

// ---- progress.cpp
// Reads every completion there is into the backlog. Returns how many there are.
uint32_t stash_completions(cwyc_ep* ep);
constexpr int solicited_only = 1;
void take_events(ibv_comp_channel* channel, ibv_cq* cq);
// Makes the descriptor of `wait_fd` readable.
void wake_sleeper(cwyc_ep* ep);
// The first frame on the queue pair itself says that both ends are ready.
inline bool Network::came_by(Link& link, uint32_t queue_pair) {
  if (link.qp == nullptr || link.qp->qp_num != queue_pair) return false;
  if (__builtin_expect(link.state == LinkState::connecting, 0)) finish_connect(link, CWY_OK);
  return true;
}
inline void Network::frame_done(cwyc_ep* ep, ReceiveBuffer* buffer) {
  repost(ep, buffer);
}
inline void Network::kept_done(cwyc_ep* ep, ReceiveBuffer* buffer) {
  repost(ep, buffer);
}

// The table.
struct Conduit : fabric::Engine<Network>, fabric::Keeping<Network> {
  static cwy_status wait_fd(cwyc_ep*, int*);
  static cwy_status arm(cwyc_ep*);
};

}  // namespace causeway::verbs
