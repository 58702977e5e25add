// The conduit's objects: domain, endpoint, link, ticket, memory, rkey.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <causeway/conduit.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "../common/descriptor.h"
#include "../fabric/engine.h"
#include "datagrams.h"
#include "interfaces.h"
#include "options.h"
#include "outbox.h"
#include "wire.h"

namespace causeway::eth {

struct Link;
struct Ticket;
struct Chunk;

// The kernel copies: nothing is registered.
struct NoRegistration {};
struct NoKey {};

// How the engine sees this network (../fabric/README.md).
struct Network : fabric::CoreTypes<Link, Ticket, Chunk, Options, Address, RkeyBlob> {
  using Registration = NoRegistration;
  using Lease = fabric::Lease<Network>;
  using LocalKey = NoKey;
  struct LinkPath {
    Descriptor socket;
    Outbox out;
  };
  static constexpr uint32_t wire_magic = eth::wire_magic;
  static constexpr const char* at_once_name = "staged";

  static void close_endpoint(Endpoint*) {}
  static bool register_slab(Domain*, void*, size_t, Registration&) { return true; }
  static int register_buffer(Domain*, void*, size_t, fabric::Access, Registration&) { return 0; }
  static NoKey key_of(const Registration&) { return {}; }
  static NoKey key_of(const Mem&) { return {}; }
  static void tell_unregistered(const Endpoint*, size_t, int) {}

  // ---- link.cpp
  static bool withdraw(Link&, Ticket*) { return true; }
  static bool may_be_unread(const Link&);
  static bool is_usable(const Link&);
  static void reserve(Link&);
  static void unreserve(Endpoint*, Link*);
  static bool push_path(Link&) { return false; }

  // ---- outbox.cpp, inbox.cpp, progress.cpp
  static size_t framed(const Endpoint*, size_t bytes) { return aligned(bytes); }
  static size_t at_once_max(const Endpoint*) { return fabric::stack_frame; }
  static bool wants_keys(const Endpoint*) { return false; }
  static uint64_t longest(const Domain*) { return longest_transfer; }
  static bool came_by(const Link&, uint32_t index);
  static void frame_kept(Chunk*);
  static uint32_t on_greeting(Endpoint*, const FrameHeader&, const char*) { return 0; }
  static void more_stats(const Endpoint*, cwyc_stat_fn, void*);

  static constexpr uint64_t longest_transfer = uint64_t{1} << 30;

#include "../fabric/network_calls.h"
};

using Bounce = fabric::Bounce<Network>;
using Local = fabric::Local<Network>;
using Leases = fabric::Leases<Network>;

struct Ticket : fabric::Ticket<Network> {
  Ticket* behind = nullptr;  // asked for later than this one
  Ticket* whole = nullptr;   // of the pieces of a vector: the last one, which reports
  void* to = nullptr;        // where an answer's payload goes
  uint32_t length = 0;       // of that payload
  uint32_t unsent = 0;       // pieces of the caller's memory that wait in an outbox
  bool refused = false;
};

// Tickets in the order in which the peer answers.
class Expected {
 public:
  void push(Ticket* ticket) {
    ticket->behind = nullptr;
    (newest_ != nullptr ? newest_->behind : oldest_) = ticket;
    newest_ = ticket;
  }
  Ticket* oldest() const { return oldest_; }
  void pop() {
    oldest_ = oldest_->behind;
    if (oldest_ == nullptr) newest_ = nullptr;
  }
  void clear() { oldest_ = newest_ = nullptr; }

 private:
  Ticket *oldest_ = nullptr, *newest_ = nullptr;
};

// Holds units of any kind, whole, behind what is left of another one.
struct Chunk {
  char* data = nullptr;
  uint32_t held = 0;     // frames in it that wait for their delivery, or are being delivered
  bool released = true;  // no inbox or outbox has it
  [[no_unique_address]] NoKey key;
};

// Bytes that have come over a stream unread. `to` and the members behind it: the payload that is
// being put in place.
struct Inbox {
  Chunk* chunk = nullptr;
  size_t head = 0, tail = 0;  // what is unread in the chunk
  bool emptied = false;       // the last read has left nothing in the socket
  bool placing = false;
  Unit unit{};
  char* to = nullptr;  // NULL: nobody wants it
  size_t left = 0, padding = 0;
};

struct Link : fabric::Link<Network> {
  Inbox in;
  Datagrams datagrams;
  Expected acks, answers;
  uint32_t acked = 0;           // of what this side put, as the peer has counted
  uint32_t done = 0, told = 0;  // of what the peer put; what it has been told of
  bool dirty = false, unread = false;
  bool unwatched = false;  // the socket is not in epoll's set: the link is hot
  // The thread whose posts wait for company, where there are several; 0: all that waits leaves with
  // the next pass. `looked`: bytes that waited at the last pass of another thread; `kept_since`:
  // when such a pass first left them, 0: none has.
  pthread_t collector{};
  uint64_t kept_since = 0;
  size_t looked = 0;
  bool part_refused = false;  // of what the unit that follows belongs to
  // Parking.
  bool used = false;      // since the hand passed
  bool asked = false;     // this side has asked, and has no answer
  uint32_t reserved = 0;  // frames prepared and not committed
  Address to{};           // where the peer listens, once the core has connected
  // For the time of connecting.
  std::vector<Place> route;  // places left to try, the next one last
  Place at{};                // the one that is being tried
  uint16_t port = 0;
  uint64_t attempt_began = 0;  // 0: no descriptor for it yet
  bool hello_sent = false;     // the peer's kernel has taken the connection
  bool hello_late = false;     // so late that the peer may have closed it by then
  bool silent = false;         // so was its host at the last look
  size_t greeted = 0;          // bytes of the peer's welcome
  char greeting[sizeof(Introduction)] = {};
};

// A connection that nobody has introduced yet.
struct Newcomer {
  Descriptor socket;
  uint64_t deadline = 0;
  size_t got = 0;
  char bytes[sizeof(Introduction)] = {};
};

}  // namespace causeway::eth

struct cwyc_domain : causeway::fabric::Domain<causeway::eth::Network> {
  uint64_t stack = 0;                                // network_stack()
  std::vector<causeway::eth::Interface> interfaces;  // in the order of preference
  bool named = false;                                // by the configuration
  uint32_t next_key = 1;
  std::unique_ptr<causeway::eth::Leases> leases;  // the engine's; never used
};

struct cwyc_mem {
  causeway::eth::RkeyBlob rkey{};
};

struct cwyc_rkey {
  uint64_t base, length;
  uint32_t key;
  bool host;
};

struct cwyc_ep : causeway::fabric::Endpoint<causeway::eth::Network> {
  uint32_t window = 0;     // granted per lane
  size_t chunk_bytes = 0;  // of one Chunk
  causeway::Descriptor epoll, listener, cables;
  causeway::eth::EndpointDatagrams datagrams;
  std::vector<causeway::eth::Newcomer> newcomers;
  uint64_t accepts_at = 0;       // 0: the listener is watched; or from then on
  uint32_t inside = 0;           // calls of progress, one in the other
  std::vector<uint32_t> dirty;   // links with something that may leave now
  std::vector<uint32_t> unread;  // links whose inbox has units that the budget left, or datagrams
  uint32_t hot = causeway::fabric::no_link;  // asked before epoll
  bool hot_datagrams = false;                // its datagrams, not its stream
  uint32_t missed = 0, heard = 0;            // reads of it in vain; reads that found something
  uint32_t passes = 0;
  std::vector<pthread_t> sleepers;  // threads that have armed and made no progress since
  uint64_t next_look = 0;
  uint64_t closes_at = 0;  // it is being closed: what has left it may take until then to arrive
  uint32_t full = 0;       // links whose sockets have no room
  // Parking: descriptors of links, how many there may be, and how many where peers do not answer;
  // which link is looked at next, when others are asked again, and since when there are too few.
  size_t sockets = 0, most_sockets = 0, bound = 0, hand = 0;
  uint64_t next_ask = 0, short_since[2] = {}, parked = 0;
  uint64_t sends = 0, receives = 0, blocked = 0;  // system calls; times that a socket was full
};
