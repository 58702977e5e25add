// An endpoint: one UCX worker, the links that start at it, and what is under way.
//
// Threads: the table is SERIAL, so one thread at a time is in an endpoint. rkey_open and rkey_close
// may come from another one meanwhile: they touch nothing of UCX's and, here, `closed_keys` only.
// am_release comes from any thread and hands back only (`released`). UCX's own thread touches
// nothing of this file.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <causeway/conduit.h>
#include <ucp/api/ucp.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../common/count.h"
#include "../common/descriptor.h"
#include "../common/handed_back.h"
#include "../common/module_table.h"
#include "../common/peer_traffic.h"
#include "domain.h"
#include "read_only.h"
#include "slot.h"
#include "wire.h"

namespace causeway::ucx {

// Counts that the thread in the endpoint keeps.
enum Statistic {
  short_sent,
  medium_sent,
  long_sent,
  bytes_sent,
  short_received,
  medium_received,
  long_received,
  bytes_received,
  put_count,
  put_bytes,
  get_count,
  get_bytes,
  atomic_count,
  flush_count,
  retry_count,
  held_count,
  dropped_count,
  statistic_count
};

// A UCX endpoint. It outlives the core's connection: `disconnect` parks it and a later `connect` to
// the same incarnation takes it up again, so that leaving never cuts off what the peer, which may
// share its transport connection, still sends.
struct Link {
  cwyc_ep* owner = nullptr;
  ucp_ep_h ep = nullptr;
  cwy_peer peer{};
  cwyc_conn* conn = nullptr;  // NULL while parked
  // With peer-failure mode UCX notices a death; without, and over RDMA, the process is watched.
  bool notices_failure = false;
  Descriptor process;  // watched
  uint32_t pid = 0;
  bool failed = false;            // no use any more
  bool reported = false;          // to the core
  bool farewell = false;          // the peer closes in good order
  bool answered = false;          // it has answered our farewell
  bool closing = false;           // UCX was told to close `ep`
  void* close_request = nullptr;  // of that, while it is under way and not given back to UCX
  bool wired = false;             // UCX has carried something over it: the peer has answered
  bool introducing = false;       // looked after until then: counted in owner->introducing
  bool broken = false;            // UCX has given it up by itself
  ucs_status_t refusal = UCS_OK;  // what UCX last answered to a put or message
  std::string address;            // of the peer's worker
  // A flush that found nothing under way answers at once, as it does over shared memory; then the
  // next put asks right away, and is complete on return. Else flushes wait for progress, and one
  // serves all puts posted since the last.
  bool flush_at_once = true;
  bool dirty = false;          // stands in owner->dirty
  uint32_t flushes = 0;        // under way
  cwyc_op* waiting = nullptr;  // puts that no flush covers yet, newest first
  SlotList pending;            // what UCX has of this link
  ~Link();
};

// Behind each cwyc_conn.
struct Connection {
  Link* link;
  ucp_ep_h ep;  // link->ep, without the detour; NULL: posts answer PEER_FAILED
};
inline Connection& connection(cwyc_conn* conn) {
  return *reinterpret_cast<Connection*>(conn + 1);
}

// A received message, apart from its payload.
struct Message {
  MessageHeader header;
  int32_t args[CWYC_AM_MAX_ARGS];
  void* target;  // of a long: where its payload lies
  size_t length;
};

// A message that came at a time when it may not be delivered.
struct Held {
  Message message;
  std::unique_ptr<unsigned char[]> payload;  // of a medium
};

// The payload of a medium whose deliver() runs: what am_retain() may take away.
struct Delivering {
  void* payload;
  std::unique_ptr<unsigned char[]>* own;  // holds it; NULL: it lies in memory of UCX's,
  bool lasting;                           // which it may stay in
  bool kept = false;
};

// A message whose payload is still being fetched from its sender.
struct Rendezvous {
  cwyc_ep* ep;
  uint32_t lane;
  Held held;
  std::list<Rendezvous>::iterator self;
};

}  // namespace causeway::ucx

struct cwyc_ep {
  cwyc_domain* domain = nullptr;
  cwyc_ep_params params{};
  ucp_worker_h worker = nullptr;
  std::string worker_address;
  uint64_t job = 0;  // domain->job
  uint32_t self_rank = 0;
  uint32_t self_epoch = 0;
  uint32_t outstanding_max = 0;
  uint32_t outstanding = 0;  // requests and one-sided operations that UCX has

  causeway::ucx::SlotPool slots;
  causeway::ucx::ReadOnlyMemory read_only;
  std::vector<std::unique_ptr<causeway::ucx::Link>> links;
  std::unordered_multimap<uint32_t, causeway::ucx::Link*> by_rank;
  uint32_t failures = 0;  // of these links
  std::vector<causeway::ucx::Link*> dirty;
  std::vector<uint32_t> newest_epoch;   // by rank: older ones are not believed
  std::vector<uint32_t> linked_epoch;   // by rank: of the last link to it; unlinked: there was none
  causeway::ucx::MessageHeader seen{};  // the answer to farewells
  uint32_t watched = 0;                 // links whose process is watched
  uint32_t introducing = 0;             // of these, the ones that are until the peer has answered
  uint32_t idle_polls = 0;
  uint64_t next_watch_ns = 0;

  // Keys that were closed and unpacked before, and payloads of UCX's that were kept: their memory
  // belongs to UCX's worker, so the thread that is inside the endpoint gives it back.
  causeway::HandedBack closed_keys, released;
  uint32_t kept = 0;  // payloads of UCX's

  static constexpr uint32_t unlinked = UINT32_MAX;

  // Receiving. `depth` counts UCX callbacks on the stack: UCX may not be entered again from there.
  uint32_t depth = 0;
  uint32_t delivered = 0;
  uint32_t completed = 0;
  uint32_t budget = 0;
  bool hold_requests = false;
  bool hold_all = false;  // inside a cold call: nothing is delivered
  bool closing = false;   // nothing will be delivered any more
  bool arming = false;    // no completion is reported either
  // Operations that UCX was done with while that was so; progress reports them.
  std::vector<std::pair<causeway::ucx::Slot*, ucs_status_t>> late;
  std::deque<causeway::ucx::Held> held[2];  // per lane
  size_t held_bytes = 0;                    // that both take
  std::list<causeway::ucx::Rendezvous> rendezvous;
  std::unique_ptr<unsigned char[]> aligned[2];  // per lane, for payloads that lie badly
  causeway::ucx::Delivering* delivering = nullptr;

  causeway::Count statistics[causeway::ucx::statistic_count];

  causeway::conduit::PeerTraffic traffic;

  void count(causeway::ucx::Statistic which, uint64_t n = 1) { statistics[which].add(n); }
  // An operation to, or a message from, that rank, and its bytes.
  void count_sent(causeway::ucx::Statistic which, causeway::ucx::Statistic bytes, uint32_t rank,
                  uint64_t length) {
    count(which);
    count(bytes, length);
    traffic.sent(rank, length);
  }
  void count_received(causeway::ucx::Statistic which, uint32_t rank, uint64_t length) {
    count(which);
    count(causeway::ucx::bytes_received, length);
    traffic.received(rank, length);
  }
  void count_get(uint32_t rank, uint64_t length) {
    count(causeway::ucx::get_count);
    count(causeway::ucx::get_bytes, length);
    traffic.fetched(rank, length);
  }
};

// The key by which a peer's memory is reached. UCX unpacks it at an endpoint, so that happens at
// the first use, when there is one.
struct cwyc_rkey : causeway::HandedBack::Link {
  cwyc_ep* ep = nullptr;
  cwy_peer peer{};  // whose memory it is
  uint64_t base = 0;
  uint64_t length = 0;
  ucp_rkey_h key = nullptr;
  bool host_memory = true;
  // UCX has mapped this host memory here (shared-memory transports): owner address + `delta`.
  bool mapped = false;
  uint64_t delta = 0;
  std::string packed;
  causeway::ucx::SharedObject object;
};

namespace causeway::ucx {

// The links to a rank, parked and failed ones too.
template <typename Each>
void for_each_link_to(cwyc_ep* ep, uint32_t rank, Each&& each) {
  const auto [first, last] = ep->by_rank.equal_range(rank);
  std::for_each(first, last, [&](const auto& entry) { each(*entry.second); });
}

inline bool inside(const cwyc_rkey& rkey, uint64_t raddr, size_t length) {
  return raddr >= rkey.base && length <= rkey.length && raddr - rkey.base <= rkey.length - length;
}

// ---- receive.cpp
// Gives UCX the payloads back that are kept no more; inside the endpoint.
void take_back_released(cwyc_ep* ep);

// ---- link.cpp
// Destroys the keys that were closed; inside the endpoint, and not from a callback of UCX's.
void destroy_closed_keys(cwyc_ep* ep);
// The link is of no use any more; the core hears so once, unless the peer took its leave.
void link_failed(Link& link, const char* why);
// Ends every link of an endpoint that is being closed, in good order where that is possible. False:
// UCX would abort the process if its worker were destroyed.
bool close_links(cwyc_ep* ep);
// Is the peer of this link looked after, with a connection of which UCX waits for an answer?
inline bool awaits_answer(const Link& link) {
  return link.introducing && !link.wired && !link.broken && !link.closing && link.ep != nullptr;
}
// Before UCX is entered while `introducing` is not 0, and not from a callback: closes links whose
// peer has ended without an answer, for which UCX may abort this process (ucx.md).
void close_unanswered(cwyc_ep* ep);

// ---- liveness.cpp
bool watch_process(Link& link, uint32_t pid);
void watch_no_more(Link& link);
void process_is_gone(Link& link);  // says so to the core
// Now and then. True: some have ended.
bool check_processes(cwyc_ep* ep);
// UCX's keys to shared memory lead through a descriptor of the owner, and UCX 1.13 crashes (in
// uct_posix_rkey_release) where it unpacks one whose owner has it no more.
bool has_let_go(const Link& link, const cwyc_rkey& rkey);

// ---- complete.cpp: what happens when UCX has done with something
// The callback of every posted operation; user_data is its slot.
void slot_done(void* request, ucs_status_t status, void* user_data);
void close_done(void* request, ucs_status_t status, void* user_data);
// Reports what came at a moment when nothing may be reported.
void finish_late(cwyc_ep* ep);
// The same for what was complete on return, or has been taken away from UCX.
void finish(Slot* slot, ucs_status_t status);
// Reports everything pending on the link with PEER_FAILED; late callbacks find nobody waiting.
void abandon(Link& link);
void report_op(cwyc_op* op, uint32_t what, ucs_status_t status);
// Takes a slot for an operation that counts as outstanding; NULL is RETRY. Replies are as many as
// the requests that were let in; they are never refused for others' sake.
inline Slot* take_slot(cwyc_ep* ep, uint32_t flags) {
  if (__builtin_expect(ep->outstanding >= ep->outstanding_max, 0) && !(flags & CWYC_LANE_REPLY)) {
    ep->count(retry_count);
    return nullptr;
  }
  return ep->slots.take();
}
// What a rank needs of shared memory: its queue, and the first buffers.
inline constexpr uint64_t shared_bytes = 5 << 20;
// Why UCX may fail over shared memory where it does not say so; "": not for want of room.
std::string lack_of_room(const cwyc_domain& domain);
// UCX's shared memory is files, and one beyond the limit on their size ends the process by SIGXFSZ.
cwy_status demand_file_size(const cwyc_domain& domain, uint64_t bytes, cwy_err* err);

// After UCX's answer: an error (slot given back), CWY_OK (complete; slot is the caller's still) or
// CWY_INPROGRESS (slot is among the link's pending).
// PEER_FAILED ends the link, but for puts and messages whose slot has an `op`: their source is the
// caller's, and the error goes through `refused`.
cwy_status accepted_later(Link& link, Slot* slot, ucs_status_ptr_t answer);
inline cwy_status accepted(Link& link, Slot* slot, ucs_status_ptr_t answer) {
  if (__builtin_expect(answer != nullptr, 0)) return accepted_later(link, slot, answer);
  link.wired = true;
  return CWY_OK;
}
// RETRY where the source may only be read, which is known from then on; else the error itself.
cwy_status refused(Link& link, cwy_status status, const void* src, size_t length);

// ---- flush.cpp
// `op` becomes REMOTE with the next flush. CWY_OK: it is already. `local_done`: UCX needs the
// source no more (else the slot's completion says so); `wants_local`: the op is to hear of that.
cwy_status await_remote(Link& link, cwyc_op* op, bool local_done, bool wants_local);
// A flush that no operation waits for; it is among the pending of the link until it ends.
cwy_status flush_alone(Link& link);
// Starts flushes for what has gathered.
void flush_gathered(cwyc_ep* ep);
// A put's part that UCX is done with: the source, or the flush.
void put_source_done(cwyc_op* op, ucs_status_t status);
void put_flushed(cwyc_op* op, ucs_status_t status);
void fail_waiting(Link& link);

// ---- memory.cpp
uint64_t sum_of_key(const RkeyHeader& header, const void* key);

// ---- rma.cpp, atomic.cpp
cwy_status unpack(Link& link, cwyc_rkey& rkey);
void declare_atomics(const cwyc_domain* domain, uint64_t (&atomic_ops)[16]);

// ---- am.cpp
void send_farewell(Link& link);

// ---- receive.cpp
inline constexpr size_t payload_alignment = alignof(std::max_align_t);
ucs_status_t request_arrived(void* arg, const void* header, size_t header_length, void* data,
                             size_t length, const ucp_am_recv_param_t* param);
ucs_status_t reply_arrived(void* arg, const void* header, size_t header_length, void* data,
                           size_t length, const ucp_am_recv_param_t* param);
void deliver_held(cwyc_ep* ep, uint32_t lane);
// Beyond so much nothing more is taken from the network until some of it has been delivered: what
// comes on waits in the kernel and at its senders.
inline constexpr size_t most_held = 1 << 20;

// The table.
struct Conduit {
  static constexpr uint32_t concurrency = CWYC_SERIAL;
  static conduit::Call<&cwyc_ops::put> put;
  static conduit::Call<&cwyc_ops::get> get;
  static conduit::Call<&cwyc_ops::atomic> atomic;
  static conduit::Call<&cwyc_ops::am_short> am_short;
  static conduit::Call<&cwyc_ops::am_medium> am_medium;
  static conduit::Call<&cwyc_ops::am_long> am_long;
  static conduit::Call<&cwyc_ops::am_prepare> am_prepare;
  static conduit::Call<&cwyc_ops::am_commit> am_commit;
  static conduit::Call<&cwyc_ops::am_cancel> am_cancel;
  static conduit::Call<&cwyc_module::list_devices> list_devices;
  static conduit::Call<&cwyc_module::domain_open> domain_open;
  static conduit::Call<&cwyc_module::ep_open> ep_open;
  static conduit::Call<&cwyc_module::ep_close> ep_close;
  static conduit::Call<&cwyc_module::ep_query> ep_query;
  static conduit::Call<&cwyc_module::ep_address> ep_address;
  static conduit::Call<&cwyc_module::ep_stats> ep_stats;
  static conduit::Call<&cwyc_module::ep_traffic> ep_traffic;
  static conduit::Call<&cwyc_module::reach> reach;
  static conduit::Call<&cwyc_module::connect> connect;
  static conduit::Call<&cwyc_module::disconnect> disconnect;
  static conduit::Call<&cwyc_module::purge> purge;
  static conduit::Call<&cwyc_module::mem_alloc> mem_alloc;
  static conduit::Call<&cwyc_module::mem_reg> mem_reg;
  static conduit::Call<&cwyc_module::mem_release> mem_release;
  static conduit::Call<&cwyc_module::rkey_pack> rkey_pack;
  static conduit::Call<&cwyc_module::rkey_open> rkey_open;
  static conduit::Call<&cwyc_module::rkey_close> rkey_close;
  static conduit::Call<&cwyc_module::rkey_direct> rkey_direct;
  static conduit::Call<&cwyc_module::progress> progress;
  static conduit::Call<&cwyc_module::wait_fd> wait_fd;
  static conduit::Call<&cwyc_module::arm> arm;
  static conduit::Call<&cwyc_module::fini> fini;
  static conduit::Call<&cwyc_module::am_retain> am_retain;
  static conduit::Call<&cwyc_module::am_release> am_release;
  static cwy_status ep_threads(cwyc_ep*, uint32_t) {
    return CWY_OK;  // the core lets one thread in at a time
  }
};

}  // namespace causeway::ucx
