// The conduit's objects: domain, endpoint, link, ticket, memory, rkey.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <causeway/conduit.h>
#include <infiniband/verbs.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "../common/gate.h"
#include "device.h"
#include "leases.h"
#include "options.h"
#include "wire.h"

namespace causeway::verbs {

extern const cwy_services* services;

void log(cwy_log_level level, const char* format, ...) __attribute__((format(printf, 2, 3)));

// Ends an object of libibverbs. They fail only for objects in use; owners end them in order.
struct Destroy {
  void operator()(ibv_pd* pd) const { ibv_dealloc_pd(pd); }
  void operator()(ibv_mr* mr) const { ibv_dereg_mr(mr); }
  void operator()(ibv_cq* cq) const { ibv_destroy_cq(cq); }
  void operator()(ibv_comp_channel* channel) const { ibv_destroy_comp_channel(channel); }
  void operator()(ibv_srq* srq) const { ibv_destroy_srq(srq); }
  void operator()(ibv_qp* qp) const { ibv_destroy_qp(qp); }
};
template <class Object>
using Owned = std::unique_ptr<Object, Destroy>;

struct Link;

enum class Work : uint8_t { put, get, atomic, send, last_send, probe, datagram };

// One signaled work request in the device's hands: its completion carries this address. Belongs to
// its endpoint's pool; on the list of its link until the completion, or the link's end.
struct Ticket {
  Ticket* previous = nullptr;
  Ticket* next = nullptr;
  Link* link = nullptr;   // NULL: the link is gone
  cwyc_op* op = nullptr;  // NULL: nobody is told
  struct Bounce* bounce = nullptr;
  Lease* lease = nullptr;
  ibv_ah* ah = nullptr;     // of a datagram; destroyed with its completion
  void* copy_to = nullptr;  // where the result goes
  uint64_t copy_bytes = 0;
  uint64_t result = 0;
  uint32_t lkey = 0;   // of the ticket itself, for `result`
  uint32_t slots = 0;  // work requests that this completion retires
  uint32_t own = 0;    // of these, posted with this ticket
  Work work = Work::send;
  uint8_t report = 0;  // bits still to be reported
};

// A buffer of the conduit's own that frames and copies are sent from.
struct Bounce {
  Bounce* next = nullptr;
  uint32_t lkey = 0;
  char* data = nullptr;
};

struct ReceiveBuffer {
  char* data = nullptr;
  uint32_t lkey = 0;
  bool datagram = false;  // posted to the datagram queue pair, not to the shared queue
};

// A completion names a ticket or a receive buffer, told apart by the lowest bit; 0 is a work
// request that asked for none and is flushed.
inline uint64_t name_of(const Ticket* ticket) {
  return reinterpret_cast<uint64_t>(ticket);
}
inline uint64_t name_of(const ReceiveBuffer* buffer) {
  return reinterpret_cast<uint64_t>(buffer) | 1;
}
inline bool names_buffer(uint64_t name) {
  return (name & 1) != 0;
}
inline ReceiveBuffer* buffer_of(uint64_t name) {
  return reinterpret_cast<ReceiveBuffer*>(name & ~uint64_t{1});
}
inline Ticket* ticket_of(uint64_t name) {
  return reinterpret_cast<Ticket*>(name);
}

// Registered memory of the conduit's own in a few large pieces.
class Slabs {
 public:
  explicit Slabs(cwyc_domain* domain) : domain_(domain) {}
  ~Slabs();
  Slabs(const Slabs&) = delete;
  Slabs& operator=(const Slabs&) = delete;
  // Zeroed, 64-byte aligned, for the life of this object. NULL when there is no memory, or no more
  // of it may be locked.
  char* take(size_t bytes, uint32_t* lkey);
  uint64_t total() const { return total_; }

 private:
  struct Slab {
    char* base;
    size_t bytes;
    Owned<ibv_mr> mr;
  };
  cwyc_domain* domain_;
  std::vector<Slab> slabs_;
  size_t left_ = 0;  // in the newest slab
  uint64_t total_ = 0;
};

enum class LinkState : uint8_t { connecting, up, failed };

// One queue pair to one endpoint of a peer, for both directions. The core's connection refers to
// it; so does a peer that connected without this side having done so.
struct Link {
  cwyc_ep* ep = nullptr;
  Owned<ibv_qp> qp;
  uint32_t remote = no_link;  // how the peer names this link
  LinkState state = LinkState::connecting;
  bool purged = false;
  bool joined = false;               // the queue pair knows its peer's
  uint32_t credit[lane_count] = {};  // room at the peer
  uint32_t owed[lane_count] = {};    // room here that the peer has not heard of
  uint32_t owed_limit = 0;           // tell without waiting for a frame once so much is owed
  uint32_t used = 0;                 // work requests posted and not known to be done
  uint32_t unsignaled = 0;           // of these, posted since the last signaled one

  cwyc_conn* conn = nullptr;  // the core's, if it has connected
  Ticket* pending = nullptr;  // signaled work requests under way
  uint32_t in_flight = 0;     // how many
  cwy_peer peer{};
  uint32_t index = 0;                 // index and generation here
  uint32_t granted[lane_count] = {};  // what the peer may have under way to us
  uint32_t psn = 0;
  Address address{};  // of the peer's endpoint
  cwyc_op* connect_op = nullptr;
  uint64_t deadline = 0;    // of the connecting, or when a lost peer counts as dead
  uint64_t next_hello = 0;  // when the next one is due
  uint64_t hello_gap = 0;
  bool active = false;  // this side asked for it
  bool local_closed = false, remote_closed = false;
  bool ended = false;  // its process has, when last looked at
  bool lost = false, reported = false;
  bool bye_due = false, bye_sent = false, ready_due = false, on_todo = false;
  bool probing = false;  // a probe is under way
  bool used_since_look = false;
  uint32_t buffers = 0;  // receive buffers that stand for this link
  uint32_t pid = 0;
  int pidfd = -1;
  const char* why = "";
};

struct Counters {
  uint64_t messages[lane_count][3] = {};
  uint64_t received = 0, inlined = 0, copied = 0, retries = 0, puts = 0, gets = 0, atomics = 0;
  uint64_t put_bytes = 0, get_bytes = 0, am_bytes = 0, credit_frames = 0, dropped = 0;
  uint64_t connections = 0, deferred = 0, errors = 0, hellos = 0, probes = 0;
};

}  // namespace causeway::verbs

struct cwyc_domain {
  causeway::verbs::Options options;
  causeway::verbs::Port port;
  causeway::Gate gate;
  causeway::verbs::Owned<ibv_pd> pd;
  std::vector<cwyc_ep*> eps;
  std::vector<cwyc_mem*> mems;  // what peers may write to
  std::unique_ptr<causeway::verbs::Leases> leases;
  uint32_t tx_depth = 0, inline_max = 0;
  uint8_t rd_atomic = 0;    // reads and atomics served at once per queue pair
  uint8_t rd_initiate = 0;  // begun at once
  uint8_t ack_timeout = 0;  // exponent, as queue pairs want it
  uint32_t pid_namespace = 0;
  uint64_t atomic_ops[8] = {};
  bool failed = false;  // the device is gone
  std::string failure;  // how
  bool told_memory = false;
  bool dmabuf = false;  // the adapter registers dma-bufs
};

struct cwyc_mem {
  causeway::verbs::Owned<ibv_mr> mr;
  causeway::verbs::RkeyBlob rkey{};
};

struct cwyc_rkey {
  uint64_t base, length;
  uint32_t rkey;
  bool host;
};

struct cwyc_ep {
  cwyc_domain* domain = nullptr;
  cwyc_ep_params params{};
  uint64_t nonce = 0;
  uint32_t job = 0;
  size_t medium_max = 0, frame_max = 0, copy_frame = 0, bounce_bytes = 0;
  uint32_t window = 0;  // granted per lane, where there is room
  // Every work request may end up in the completion queue, if only flushed: those posted with a
  // ticket, and those without that no later completion of their link has retired. Each kind has its
  // share of the queue.
  uint32_t in_flight_max = 0, in_flight = 0;
  uint32_t unsignaled_max = 0, unsignaled = 0;
  uint32_t signal_every = 0;
  uint32_t buffers_max = 0;  // of the shared receive queue

  // In the order of their making; closed backwards.
  causeway::verbs::Owned<ibv_comp_channel> channel;
  causeway::verbs::Owned<ibv_cq> cq;
  causeway::verbs::Owned<ibv_srq> srq;
  causeway::verbs::Owned<ibv_qp> datagram;
  int epoll = -1, timer = -1;
  bool timer_set = false;
  causeway::verbs::Address address{};

  std::unique_ptr<causeway::verbs::Slabs> slabs;
  causeway::verbs::Ticket* free_tickets = nullptr;
  causeway::verbs::Bounce* free_bounces = nullptr;
  std::vector<causeway::verbs::ReceiveBuffer*> idle_buffers;  // not posted, to be used again
  uint32_t posted = 0, wanted = 0;  // receive buffers of the shared queue: are, should be
  std::vector<causeway::verbs::Ticket*> datagrams;       // under way
  std::deque<causeway::verbs::ReceiveBuffer*> deferred;  // requests while only replies are wanted

  std::vector<std::unique_ptr<causeway::verbs::Link>> links;  // by index; holes are NULL
  std::vector<uint32_t> generations;
  std::vector<uint32_t> newest_epoch;        // by rank
  std::vector<causeway::verbs::Link*> todo;  // links with something to do in progress
  uint32_t watched = 0;                      // links with a pidfd

  // Completions read and not yet looked at: nested progress must see them too.
  static constexpr uint32_t batch_size = 32;
  ibv_wc batch[batch_size] = {};
  uint32_t batch_head = 0, batch_tail = 0;
  std::deque<ibv_wc> backlog;  // read while a queue pair was ended
  uint32_t polls = 0;          // since the last look at what is not a completion
  uint64_t next_look = 0, next_probe = 0;
  causeway::verbs::Counters counters;
};
