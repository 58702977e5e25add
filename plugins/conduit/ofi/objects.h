// The conduit's objects: domain, endpoint, link, ticket, memory, rkey.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <causeway/conduit.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "../common/descriptor.h"
#include "../fabric/engine.h"
#include "options.h"
#include "provider.h"
#include "wire.h"

namespace causeway::ofi {

// Closes a libfabric object. Order matters to libfabric; owners close by hand or by member order.
struct CloseFid {
  template <class Object>
  void operator()(Object* object) const {
    if (object != nullptr) fi_close(&object->fid);
  }
};
template <class Object>
using Fid = std::unique_ptr<Object, CloseFid>;

struct Link;
struct Ticket;
struct ReceiveBuffer;

// How the engine sees this network (../fabric/README.md).
struct Network : fabric::CoreTypes<Link, Ticket, ReceiveBuffer, Options, Address, RkeyBlob> {
  using Registration = Fid<fid_mr>;
  using Lease = fabric::Lease<Network>;
  using LocalKey = void*;  // a descriptor, as fi_mr_desc gives it
  struct LinkPath {
    fid_ep* endpoint = nullptr;  // the datagram endpoint, or the link's own
    fi_addr_t address = FI_ADDR_UNSPEC;
  };
  static constexpr uint32_t wire_magic = ofi::wire_magic;
  static constexpr const char* at_once_name = "injected";

  static void endpoint_opened(Endpoint*);
  static void close_endpoint(Endpoint*);

  // ---- memory.cpp, pools.cpp
  static bool register_slab(Domain*, void* base, size_t length, Registration& out);
  static int register_buffer(Domain*, void* base, size_t length, fabric::Access, Registration& out);
  static void* key_of(const Registration& mr) {
    return mr != nullptr ? fi_mr_desc(mr.get()) : nullptr;
  }
  static void* key_of(const Mem& mem);
  static void tell_unregistered(const Endpoint*, size_t length, int error);
  static cwy_status may_register(const Domain*, cwy_err*);
  static bool post_receive(Endpoint*, ReceiveBuffer*);

  // ---- link.cpp
  static void look_at_links(Endpoint*);
  static bool withdraw(Link&, Ticket*);
  static bool may_be_unread(const Link&);
  static bool push_path(Link&);

  // ---- am.cpp, progress.cpp
  static size_t framed(const Endpoint*, size_t bytes);
  static uint32_t cost_of(const Endpoint*, size_t bytes);
  static size_t at_once_max(const Endpoint*);
  static bool gathers(const Endpoint*);
  static bool wants_keys(const Endpoint*);
  static uint64_t longest(const Domain*) { return UINT64_MAX; }
  static bool came_by(const Link&, int) { return true; }
  static void frame_kept(ReceiveBuffer*);
  static bool may_keep(const Endpoint*, const ReceiveBuffer*);
  static uint32_t on_greeting(Endpoint*, const FrameHeader&, const char* payload);
  static void more_stats(const Endpoint*, cwyc_stat_fn, void*) {}

#include "../fabric/network_calls.h"
};

using Bounce = fabric::Bounce<Network>;
using Local = fabric::Local<Network>;
using Leases = fabric::Leases<Network>;

// First in a ticket: the completion names this address.
struct Context {
  fi_context2 context{};
};
struct Ticket : Context, fabric::Ticket<Network> {
  uint64_t operand[2] = {};
  uint64_t read_behind = 0;  // address and key of the read that follows a put
  uint64_t read_key = 0;
};

struct ReceiveBuffer {
  Ticket ticket;
  void* key = nullptr;
  char* data = nullptr;
  Link* owner = nullptr;  // the link whose queue it is posted to, where queues are not shared
  ReceiveBuffer* after = nullptr;  // posted behind this one: what arrives next lands there
  uint32_t held = 0;               // frames in it that wait for their delivery
  bool released = true;            // the provider has finished with it
};

// A frame that the core was told is sent, and that met a full queue of the provider's.
struct Parked {
  Ticket* ticket;
  const char* data;
  size_t length;
  void* desc;
};

struct Link : fabric::Link<Network> {
  Fid<fid_ep> own;         // connected endpoints
  uint64_t lost_at = 0;    // ep->emptied then
  uint64_t next_look = 0;  // at the process of a peer that connects
  bool hello_due = false, welcome_due = false;
  std::deque<Parked> parked;          // in practice empty
  std::vector<ReceiveBuffer*> queue;  // those posted to it alone, where queues are not shared
};

}  // namespace causeway::ofi

struct cwyc_domain : causeway::fabric::Domain<causeway::ofi::Network> {
  causeway::ofi::Path path;
  // The provider is opened with FI_THREAD_DOMAIN in return for the gate.
  causeway::ofi::Fid<fid_fabric> fabric;
  causeway::ofi::Fid<fid_domain> domain;
  uint64_t next_key = 1;
  bool can_put = false;            // REMOTE of a put can be known
  bool delivery_complete = false;  // by FI_DELIVERY_COMPLETE; else by a read behind it
  std::unique_ptr<causeway::ofi::Leases> leases;
};

struct cwyc_mem {
  causeway::ofi::Fid<fid_mr> mr;
  void* desc = nullptr;
  causeway::ofi::RkeyBlob rkey{};
};

struct cwyc_rkey {
  uint64_t base, length, origin, key;
  bool host;
};

struct cwyc_ep : causeway::fabric::Endpoint<causeway::ofi::Network> {
  size_t inject_max = 0;
  bool shared_buffers = false;  // many frames in one; a credit is credit_unit bytes then
  size_t buffer_bytes = 0;      // of a receive buffer
  uint32_t window[causeway::ofi::lane_count] = {};

  // In the order of their making; closed backwards, as members are.
  causeway::ofi::Fid<fid_eq> eq;
  causeway::ofi::Fid<fid_cq> cq;
  causeway::ofi::Fid<fid_av> av;
  causeway::ofi::Fid<fid_ep> srx;
  causeway::ofi::Fid<fid_pep> passive;
  causeway::ofi::Fid<fid_ep> datagram;
  causeway::Descriptor epoll;

  std::unordered_map<fid_t, causeway::ofi::Link*> by_fid;  // connected endpoints
  // Links to an address: two to one endpoint share it, and so may one to its successor at the port.
  std::unordered_map<fi_addr_t, uint32_t> address_users;
  std::vector<causeway::ofi::ReceiveBuffer*> buffers;  // all there are
  causeway::ofi::ReceiveBuffer* last_posted = nullptr;
  causeway::ofi::ReceiveBuffer* expected = nullptr;  // fetched by the next pass that finds nothing
  std::vector<causeway::ofi::Ticket*> reads_due;     // reads behind puts that met a full queue

  // Completions read and not yet looked at: nested progress must see them too.
  static constexpr uint32_t batch_size = 32;
  fi_cq_data_entry batch[batch_size] = {};
  uint32_t batch_head = 0, batch_tail = 0;
  uint64_t emptied = 0;         // how often the queue was read to its end
  uint64_t passes = 0;          // of progress
  uint64_t chores_at = 0;       // the pass that looks at what else may be due; see chores_due()
  uint64_t events_at = 0;       // the pass that reads the event queue
  uint64_t next_file_look = 0;  // when is seen whether files can be opened
};
