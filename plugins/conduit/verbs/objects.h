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
#include <unordered_map>
#include <vector>

#include "../common/descriptor.h"
#include "../fabric/engine.h"
#include "device.h"
#include "greeter.h"
#include "options.h"
#include "process_set.h"
#include "wire.h"

namespace causeway::verbs {

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
struct Ticket;
struct ReceiveBuffer;

// How the engine sees this network (../fabric/README.md).
struct Network : fabric::CoreTypes<Link, Ticket, ReceiveBuffer, Options, Address, RkeyBlob> {
  using Registration = Owned<ibv_mr>;
  using Lease = fabric::Lease<Network>;
  using LocalKey = uint32_t;
  struct LinkPath {
    Owned<ibv_qp> qp;
    uint32_t used = 0;        // work requests posted and not known to be done
    uint32_t unsignaled = 0;  // of these, posted since the last signaled one
  };
  static constexpr uint32_t wire_magic = verbs::wire_magic;
  static constexpr const char* at_once_name = "inlined";

  static void endpoint_opened(Endpoint*);
  static void close_endpoint(Endpoint*);

  // ---- memory.cpp, pools.cpp
  static bool register_slab(Domain*, void* base, size_t length, Registration& out);
  static int register_buffer(Domain*, void* base, size_t length, fabric::Access, Registration& out);
  static uint32_t key_of(const Registration& mr) { return mr->lkey; }
  static uint32_t key_of(const Mem& mem);
  static void tell_unregistered(const Endpoint*, size_t length, int error);
  static bool post_receive(Endpoint*, ReceiveBuffer*);

  // ---- link.cpp
  static bool withdraw(Link&, Ticket*) { return false; }
  static bool may_be_unread(const Link&) { return false; }
  static void left(Link&);
  static bool push_path(Link&);
  static bool is_usable(const Link&);

  // ---- am.cpp, progress.cpp
  static size_t framed(const Endpoint*, size_t bytes) { return bytes; }
  static size_t at_once_max(const Endpoint*);
  static bool wants_keys(const Endpoint*) { return true; }
  static size_t most_inline(const Endpoint*, size_t length, bool registered, bool copy);
  static uint64_t longest(const Domain*);
  static void reserve(Link&);
  static void unreserve(Endpoint*, Link*);
  static bool came_by(Link&, uint32_t queue_pair);
  static void frame_done(Endpoint*, ReceiveBuffer*);
  static void frame_kept(ReceiveBuffer*) {}
  static bool may_keep(const Endpoint*, const ReceiveBuffer*) { return true; }
  static uint32_t on_greeting(Endpoint*, const FrameHeader&, const char* payload);
  static void more_stats(const Endpoint*, cwyc_stat_fn, void*);

#include "../fabric/network_calls.h"
};

using Bounce = fabric::Bounce<Network>;
using Local = fabric::Local<Network>;
using Leases = fabric::Leases<Network>;

// One signaled work request in the device's hands.
struct Ticket : fabric::Ticket<Network> {
  ibv_ah* ah = nullptr;  // of a datagram; destroyed with its completion
  uint32_t slots = 0;    // work requests that this completion retires
  uint32_t own = 0;      // of these, posted with this ticket
};

struct ReceiveBuffer {
  char* data = nullptr;
  uint32_t key = 0;
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

struct Link : fabric::Link<Network> {
  bool joined = false;                // the queue pair knows its peer's
  int refused = 0;                    // errno with which the device did not join it
  uint32_t granted[lane_count] = {};  // what the peer may have under way to us
  uint32_t psn = 0;
  Address to{};             // the peer's endpoint
  uint64_t next_hello = 0;  // when the next one is due
  uint64_t hello_gap = 0;
  bool ended = false;  // its process has, when last looked at
  bool ready_due = false;
  bool probing = false;  // a probe is under way
  bool used_since_look = false;
};

}  // namespace causeway::verbs

struct cwyc_domain : causeway::fabric::Domain<causeway::verbs::Network> {
  causeway::verbs::Port port;
  causeway::verbs::Owned<ibv_pd> pd;
  std::unique_ptr<causeway::verbs::Leases> leases;
  uint32_t tx_depth = 0, inline_max = 0;
  uint8_t rd_atomic = 0;    // reads and atomics served at once per queue pair
  uint8_t rd_initiate = 0;  // begun at once
  uint8_t ack_timeout = 0;  // exponent, as queue pairs want it
  uint32_t pid_namespace = 0;
  bool failed = false;  // the device is gone
  std::string failure;  // how
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

struct cwyc_ep : causeway::fabric::Endpoint<causeway::verbs::Network> {
  uint32_t window = 0;  // granted per lane, where there is room
  // Every work request may end up in the completion queue, if only flushed: those posted with a
  // ticket, and those without that no later completion of their link has retired. Each kind has its
  // share of the queue: in_flight_max, and this.
  uint32_t unsignaled_max = 0, unsignaled = 0;
  uint32_t signal_every = 0;
  uint32_t buffers_max = 0;  // of the shared receive queue

  // In the order of their making; closed backwards, as members are.
  causeway::verbs::Owned<ibv_comp_channel> channel;
  causeway::verbs::Owned<ibv_cq> cq;
  causeway::verbs::Owned<ibv_comp_channel> datagram_channel;
  causeway::verbs::Owned<ibv_cq> datagram_cq;
  causeway::verbs::Owned<ibv_srq> srq;
  causeway::verbs::Owned<ibv_qp> datagram;
  causeway::Descriptor epoll, timer;
  bool timer_set = false;
  bool sleeps = false;  // since `arm`, as far as is known

  std::vector<causeway::verbs::Ticket*> datagrams;  // under way
  causeway::verbs::ProcessSet processes;            // of links, which are their owners
  std::unordered_map<uint32_t, causeway::verbs::Link*> by_queue_pair;

  // Completions read and not yet looked at: nested progress must see them too.
  static constexpr uint32_t batch_size = 32;
  ibv_wc batch[batch_size] = {};
  uint32_t batch_head = 0, batch_tail = 0;
  std::deque<ibv_wc> backlog;  // read while a queue pair was ended
  uint32_t polls = 0;          // since the last look at what is not a completion
  uint64_t next_look = 0, next_probe = 0;
  uint64_t hellos = 0, probes = 0;                    // sent
  std::deque<causeway::verbs::Hello> introductions;   // read and not yet looked at
  std::unique_ptr<causeway::verbs::Greeter> greeter;  // NULL: each poll reads datagrams
};
