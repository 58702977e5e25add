// The objects of a network's conduit as far as they are the same for all: a network derives its own
// from these, adds what its library wants, and hands the types over as members of `N` (README).
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <causeway/conduit.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "../common/count.h"
#include "../common/descriptor.h"
#include "../common/gate.h"
#include "../common/handed_back.h"
#include "../common/peer_traffic.h"
#include "../common/plugin_services.h"
#include "wire.h"

namespace causeway::fabric {

using conduit::log;
using conduit::services;

enum class Work : uint8_t {
  put,
  put_behind,  // a put whose visibility a read behind it tells
  get,
  atomic,
  send,
  last_send,  // the frame that says good-bye
  probe,
  receive
};

// A buffer of the conduit's own that frames and copies are sent from.
template <class N>
struct Bounce {
  Bounce* next = nullptr;
  typename N::LocalKey key{};
  char* data = nullptr;
};

// One operation in the network's hands: its completion carries this address. Belongs to its
// endpoint's pool; on the list of its link until the completion, or the link's end.
template <class N>
struct Ticket {
  typename N::Ticket* previous = nullptr;
  typename N::Ticket* next = nullptr;
  typename N::Link* link = nullptr;  // NULL: the link is gone, or there never was one
  cwyc_op* op = nullptr;             // NULL: nobody is told
  Bounce<N>* bounce = nullptr;
  typename N::Lease* lease = nullptr;
  typename N::LocalKey key{};  // of the ticket itself, for `result`
  void* copy_to = nullptr;     // where the result goes
  uint64_t copy_bytes = 0;
  uint64_t result = 0;
  Work work = Work::send;
  uint8_t report = 0;  // bits still to be reported
};

// Where an operation's local bytes are, as the network wants them.
template <class N>
struct Local {
  void* data = nullptr;
  typename N::LocalKey key{};
  Bounce<N>* bounce = nullptr;
  typename N::Lease* lease = nullptr;
};

// `parking`: both sides find out if nothing is under way; then `parked`: the link has no path until
// it is used again. Only for networks that close quiet links.
enum class LinkState : uint8_t { connecting, up, parking, parked, failed };

// One path to one endpoint of a peer, for both directions. The core's connection refers to it; so
// does a peer that connected without this side having done so. `N::LinkPath` is the network's own,
// in front because every post reads it.
template <class N>
struct Link : N::LinkPath {
  using Network = N;

  cwyc_ep* ep = nullptr;
  uint32_t remote = no_link;  // how the peer names this link
  LinkState state = LinkState::connecting;
  bool purged = false;
  uint32_t credit[lane_count] = {};  // room at the peer
  uint32_t owed[lane_count] = {};    // room here that the peer has not heard of
  uint32_t owed_limit = 0;           // tell without waiting for a frame once so much is owed

  cwyc_conn* conn = nullptr;              // the core's, if it has connected
  typename N::Ticket* pending = nullptr;  // operations under way
  uint32_t in_flight = 0;                 // how many
  uint32_t index = 0;                     // index and generation here
  cwy_peer peer{};
  uint64_t nonce = 0;  // of the peer's endpoint
  cwyc_op* connect_op = nullptr;
  uint64_t deadline = 0;  // until then a peer may be silent; or when a lost one counts as dead
  bool active = false;    // this side asked for it
  bool local_closed = false, remote_closed = false;
  bool lost = false, suspected = false, reported = false;
  bool bye_due = false, bye_sent = false, on_todo = false;
  uint32_t buffers = 0;  // receive buffers that stand for this link
  const char* why = "";
  Descriptor process;  // of a peer of this host, watched where the network does not tell of its end
};

// A network's types by the names that the engine has for them.
template <class TheLink, class TheTicket, class TheBuffer, class TheOptions, class TheAddress,
          class TheBlob>
struct CoreTypes {
  using Link = TheLink;
  using Ticket = TheTicket;
  using ReceiveBuffer = TheBuffer;
  using Options = TheOptions;
  using Address = TheAddress;
  using RkeyBlob = TheBlob;
  using Endpoint = cwyc_ep;
  using Domain = cwyc_domain;
  using Mem = cwyc_mem;
  using Rkey = cwyc_rkey;
  // Where a network has nothing to do, or the same as others: its own call of such a name hides it.
  static void endpoint_opened(auto*) {}
  static void look_at_links(auto*) {}
  static void left(auto&) {}
  static void reserve(auto&) {}
  static void unreserve(auto*, auto*) {}
  static void frame_done(auto*, auto*) {}
  static bool gathers(const auto*) { return true; }
  static uint32_t cost_of(const auto*, size_t) { return 1; }
  static cwy_status may_register(const auto*, cwy_err*) { return CWY_OK; }
  // A link whose connection request is still under way may yet be refused.
  static bool is_usable(const auto& link) { return link.state == LinkState::up; }
  // A processor places the payload of a frame at the other end.
  static size_t most_inline(const auto* ep, size_t, bool, bool) { return ep->copy_frame; }
};

// The thread inside the gate adds.
struct Counters {
  Count messages[lane_count][3];
  Count received, at_once, copied, retries, puts, gets, atomics, put_bytes, get_bytes, am_bytes;
  Count credit_frames, dropped, connections, deferred, errors;
};

// A request that arrived while only replies were wanted.
template <class N>
struct Deferred {
  typename N::ReceiveBuffer* buffer;
  char* frame;
  size_t length;
};

// The medium whose deliver() runs: what am_retain() may take away.
template <class N>
struct Delivering {
  typename N::ReceiveBuffer* buffer;
  char* frame;
  void* payload;
  bool kept = false;
};

// A frame that the core keeps, in place of its header, which has been read.
template <class N>
struct Kept : HandedBack::Link {
  typename N::ReceiveBuffer* buffer;
};

// The domain's members that the engine uses; the network's has `leases` beside them, behind what
// registrations belong to.
template <class N>
struct Domain {
  typename N::Options options;
  uint64_t job = 0;  // of the job's key, what introductions show
  Gate gate;
  std::vector<cwyc_ep*> eps;
  std::vector<cwyc_mem*> mems;  // what peers may write to
  uint64_t atomic_ops[16] = {};
  bool told_memory = false;  // that a buffer could not be registered
};

template <class N>
class Slabs;

template <class N>
struct Endpoint {
  using Network = N;

  cwyc_domain* domain = nullptr;
  cwyc_ep_params params{};
  uint64_t nonce = 0;
  size_t medium_max = 0, frame_max = 0, copy_frame = 0;
  size_t bounce_bytes = 0;
  uint32_t in_flight_max = 0, in_flight = 0;
  typename N::Ticket* free_tickets = nullptr;
  Bounce<N>* free_bounces = nullptr;
  uint32_t posted = 0, wanted = 0;  // receive buffers posted, and how many should be
  uint32_t connecting = 0;          // links that come up
  std::deque<Deferred<N>> deferred;
  Delivering<N>* delivering = nullptr;
  HandedBack released;  // frames that the core keeps no more
  uint32_t kept = 0;    // frames of the core's; a buffer more than otherwise is wanted for each
  std::vector<std::unique_ptr<typename N::Link>> links;  // by index; holes are NULL
  std::vector<uint32_t> holes;
  std::unordered_multimap<uint64_t, typename N::Link*> by_nonce;  // of the peers' endpoints
  std::vector<uint32_t> generations;
  std::vector<uint32_t> newest_epoch;                    // by rank
  std::vector<typename N::Link*> todo;                   // with something to do in progress
  std::vector<typename N::ReceiveBuffer*> idle_buffers;  // not posted, to be used again
  std::unique_ptr<Slabs<N>> slabs;
  typename N::Address address{};
  Counters counters;
  conduit::PeerTraffic traffic;
};

}  // namespace causeway::fabric
