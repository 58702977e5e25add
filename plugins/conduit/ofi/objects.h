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

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "../common/gate.h"
#include "options.h"
#include "provider.h"
#include "wire.h"

namespace causeway::ofi {

extern const cwy_services* services;

void log(cwy_log_level level, const char* format, ...) __attribute__((format(printf, 2, 3)));

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
struct Lease;
struct ReceiveBuffer;

enum class Work : uint8_t { put, put_behind, get, atomic, send, bye, receive };

// One operation in the provider's hands; what op_context points to. Belongs to its endpoint's
// pool; on the list of its link while something is to be reported to the core.
struct Ticket {
  fi_context2 context{};  // first: the completion names this address
  Ticket* previous = nullptr;
  Ticket* next = nullptr;
  Link* link = nullptr;   // NULL: the link is gone, or this is a receive buffer
  cwyc_op* op = nullptr;  // NULL: nobody is told
  struct Bounce* bounce = nullptr;
  Lease* lease = nullptr;
  void* desc = nullptr;     // of the ticket itself, for operands
  void* copy_to = nullptr;  // where the result goes
  uint64_t copy_bytes = 0;
  uint64_t operand[2] = {};
  uint64_t result = 0;
  uint64_t read_behind = 0;  // address and key of the read that follows a put
  uint64_t read_key = 0;
  Work work = Work::send;
  uint8_t report = 0;  // bits still to be reported
};

// A buffer of the conduit's own that a frame is sent from.
struct Bounce {
  Bounce* next = nullptr;
  void* desc = nullptr;
  char* data = nullptr;
};

struct ReceiveBuffer {
  Ticket ticket;
  void* desc = nullptr;
  char* data = nullptr;
  Link* owner = nullptr;  // the link whose queue it is posted to, where queues are not shared
  ReceiveBuffer* after = nullptr;  // posted behind this one: what arrives next lands there
  uint32_t held = 0;               // frames in it that wait for their delivery
  bool released = true;            // the provider has finished with it
};

// Memory of the conduit's own in a few large pieces, registered where the provider wants that.
class Slabs {
 public:
  Slabs(cwyc_domain* domain, bool registered) : domain_(domain), registered_(registered) {}
  ~Slabs();
  // Zeroed, 64-byte aligned, for the life of this object. NULL when there is no memory.
  char* take(size_t bytes, void** desc);
  size_t bytes() const { return bytes_; }
  // Ends the registrations; the memory stays. Nothing of it may be in the provider's hands.
  void unregister();

 private:
  struct Slab {
    char* base;
    size_t bytes;
    Fid<fid_mr> mr;
  };
  cwyc_domain* domain_;
  bool registered_;
  std::vector<Slab> slabs_;
  size_t bytes_ = 0;
};

// A registration of a local buffer that the core did not register; or of its copy, where the buffer
// cannot be registered.
struct Lease {
  std::unique_ptr<char[]> copy;  // before `mr`: outlives it
  Fid<fid_mr> mr;
  uint64_t base = 0, length = 0;
  uint32_t users = 0;
  bool writable = true;
  Lease *older = nullptr, *newer = nullptr;  // among those kept without users
};

// Leases that nobody uses and that are kept, the longest unused first. Bounded: see keep() in
// memory.cpp.
struct KeptLeases {
  Lease *oldest = nullptr, *newest = nullptr;
  uint64_t count = 0, bytes = 0;
};

// A frame that the core was told is sent, and that met a full queue of the provider's.
struct Parked {
  Ticket* ticket;
  const char* data;
  size_t length;
  void* desc;
};

enum class LinkState : uint8_t { connecting, up, failed };

// One path to one endpoint of a peer, for both directions. The core's connection refers to it; so
// does a peer that connected without this side having done so.
struct Link {
  cwyc_ep* ep = nullptr;
  fid_ep* endpoint = nullptr;  // the datagram endpoint, or `own`
  fi_addr_t address = FI_ADDR_UNSPEC;
  uint32_t remote = no_link;  // how the peer names this link
  LinkState state = LinkState::connecting;
  bool purged = false;
  uint32_t credit[lane_count] = {};  // room at the peer
  uint32_t owed[lane_count] = {};    // room here that the peer has not heard of
  uint32_t owed_limit = 0;           // tell without waiting for a frame once so much is owed

  cwyc_conn* conn = nullptr;  // the core's, if it has connected
  Ticket* pending = nullptr;  // what the core waits for
  uint32_t in_flight = 0;     // tickets of this link in the provider's hands
  cwy_peer peer{};
  uint32_t index = 0;  // index and generation here
  uint64_t nonce = 0;  // of the peer's endpoint
  Fid<fid_ep> own;     // connected endpoints
  cwyc_op* connect_op = nullptr;
  uint64_t deadline = 0;  // of the connecting, or when a lost peer counts as dead
  bool active = false;    // this side asked for it
  bool local_closed = false, remote_closed = false;
  bool lost = false, suspected = false, reported = false;
  uint64_t lost_at = 0;  // ep->emptied then
  bool hello_due = false, welcome_due = false, bye_due = false, bye_sent = false;
  bool on_todo = false;
  std::deque<Parked> parked;          // in practice empty
  uint32_t buffers = 0;               // receive buffers that stand for this link
  std::vector<ReceiveBuffer*> queue;  // those posted to it alone, where queues are not shared
  std::vector<uint8_t> dest;          // the provider's address of the peer, for the hello
  const char* why = "";
};

struct Counters {
  uint64_t messages[lane_count][3] = {};
  uint64_t received = 0, injected = 0, copied = 0, retries = 0, puts = 0, gets = 0, atomics = 0;
  uint64_t put_bytes = 0, get_bytes = 0, am_bytes = 0, credit_frames = 0, dropped = 0;
  uint64_t connections = 0, deferred = 0, errors = 0;
};

// A request that arrived while only replies were wanted.
struct Deferred {
  ReceiveBuffer* buffer;
  char* frame;
  size_t length;
};

}  // namespace causeway::ofi

struct cwyc_domain {
  causeway::ofi::Options options;
  causeway::ofi::Path path;
  causeway::Gate gate;  // the provider is opened with FI_THREAD_DOMAIN in return
  causeway::ofi::Fid<fid_fabric> fabric;
  causeway::ofi::Fid<fid_domain> domain;
  std::vector<cwyc_ep*> eps;
  std::vector<cwyc_mem*> mems;  // what peers may write to
  uint64_t next_key = 1;
  bool can_put = false;            // REMOTE of a put can be known
  bool delivery_complete = false;  // by FI_DELIVERY_COMPLETE; else by a read behind it
  uint64_t atomic_ops[8] = {};
  bool told_memory = false;  // that a buffer could not be registered
  // Leases by address; several may begin at one address. Those without users are dropped, or
  // kept under `registration_cache: keep`.
  std::multimap<uint64_t, std::unique_ptr<causeway::ofi::Lease>> leases;
  causeway::ofi::KeptLeases kept;
};

struct cwyc_mem {
  causeway::ofi::Fid<fid_mr> mr;
  void* desc = nullptr;
  causeway::ofi::RkeyBlob rkey{};
  cwyc_domain* domain = nullptr;
  bool host = true;
};

struct cwyc_rkey {
  uint64_t base, length, origin, key;
  bool host;
};

struct cwyc_ep {
  cwyc_domain* domain = nullptr;
  cwyc_ep_params params{};
  uint64_t nonce = 0;
  uint32_t job = 0;
  size_t medium_max = 0, frame_max = 0, inject_max = 0, copy_frame = 0;
  bool shared_buffers = false;  // many frames in one; a credit is credit_unit bytes then
  size_t buffer_bytes = 0;      // of a receive buffer
  uint32_t window[causeway::ofi::lane_count] = {};
  uint32_t in_flight_max = 0, in_flight = 0;

  // In the order of their making; closed backwards.
  causeway::ofi::Fid<fid_eq> eq;
  causeway::ofi::Fid<fid_cq> cq;
  causeway::ofi::Fid<fid_av> av;
  causeway::ofi::Fid<fid_ep> srx;
  causeway::ofi::Fid<fid_pep> passive;
  causeway::ofi::Fid<fid_ep> datagram;
  int epoll = -1;
  causeway::ofi::Address address{};

  std::unique_ptr<causeway::ofi::Slabs> slabs;
  causeway::ofi::Ticket* free_tickets = nullptr;
  causeway::ofi::Bounce* free_bounces = nullptr;
  std::vector<causeway::ofi::ReceiveBuffer*> buffers;       // all there are
  std::vector<causeway::ofi::ReceiveBuffer*> idle_buffers;  // not posted, to be used again
  uint32_t posted = 0, wanted = 0;  // receive buffers posted, and how many should be
  causeway::ofi::ReceiveBuffer* last_posted = nullptr;
  causeway::ofi::ReceiveBuffer* expected = nullptr;  // fetched by the next pass that finds nothing
  std::deque<causeway::ofi::Deferred> deferred;

  std::vector<std::unique_ptr<causeway::ofi::Link>> links;  // by index; holes are NULL
  std::vector<uint32_t> generations;
  std::vector<uint32_t> newest_epoch;             // by rank
  std::vector<causeway::ofi::Link*> todo;         // links with something to do in progress
  std::vector<causeway::ofi::Ticket*> reads_due;  // reads behind puts that met a full queue
  uint32_t connecting = 0;

  // Completions read and not yet looked at: nested progress must see them too.
  static constexpr uint32_t batch_size = 32;
  fi_cq_data_entry batch[batch_size] = {};
  uint32_t batch_head = 0, batch_tail = 0;
  uint64_t emptied = 0;    // how often the queue was read to its end
  uint64_t passes = 0;     // of progress
  uint64_t chores_at = 0;  // the pass that looks at what else may be due; see chores_due()
  uint64_t events_at = 0;  // the pass that reads the event queue
  causeway::ofi::Counters counters;
};
