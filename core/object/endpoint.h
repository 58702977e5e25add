// Endpoint: a client's local end of communication: handlers, bound segment, and what it knows of
// the endpoints of other ranks.
//
// A process has one endpoint in each conduit, whatever the number of its clients and their
// endpoints: the first client's primordial endpoint, the *base*, opens them. Every other endpoint
// sends through the base's connections, with both endpoints named in the message
// (connection/word.h).
#pragma once

#include <gasnetex.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "connection/conduit_set.h"
#include "connection/peer.h"
#include "object/handler_table.h"
#include "object/peer_table.h"

namespace causeway {

class Client;
class Segment;
class Team;

// Delivery of messages, without and with `checks: full`. Set by wiring.cpp, constant afterwards.
struct Delivery {
  cwyc_deliver_fn plain = nullptr;
  cwyc_deliver_fn checked = nullptr;
  cwyc_place_fn place = nullptr;
};
extern Delivery delivery;

class Endpoint {
 public:
  static constexpr size_t kMaxEndpoints = GASNET_MAXEPS;

  Endpoint(Client* client, uint16_t index, gex_EP_Capabilities_t capabilities, gex_Flags_t flags);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  Client* client() const { return client_; }
  uint16_t index() const { return index_; }
  gex_Flags_t flags() const { return flags_; }
  gex_EP_Capabilities_t capabilities() const { return capabilities_; }
  // Acquire and release: handlers on other threads look at it.
  Segment* segment() const { return segment_.load(std::memory_order_acquire); }
  void set_segment(Segment* segment) { segment_.store(segment, std::memory_order_release); }
  HandlerTable& handlers() { return handlers_; }

  // The endpoint 0 of a rank, once ranks have told each other where they are. PeerTable says from
  // where this may be called.
  Peer& peer(uint32_t rank) { return peers_[rank]; }
  // The endpoint `index` of a rank. Lock-free but for the first use of an index or a rank.
  Peer& peer(uint16_t index, uint32_t rank) { return peers(index)[rank]; }
  PeerTable& peers(uint16_t index);
  // The same if it was asked for before, else NULL.
  Peer* met(uint16_t index, uint32_t rank) const {
    const PeerTable* const peers = tables_[index].load(std::memory_order_acquire);
    return peers != nullptr ? peers->met(rank) : nullptr;
  }

  // Those of the base.
  std::vector<std::unique_ptr<ConduitEp>>& conduit_eps() { return base_->own_conduit_eps_; }
  ConduitEp* conduit_ep(const Conduit* conduit);
  // The stand-in that splits have in the place of a conduit's endpoint: no capabilities of its own,
  // and messages up to `medium` bytes. Under the connect mutex.
  ConduitEp* split_ep(uint64_t medium);
  std::mutex& connect_mutex() { return base_->own_connect_mutex_; }

  // The segment bound here has changed: connections of every peer get the tables that fit (peer.h).
  void refit_connections();

  // Everything that has a window over this endpoint's peers: teams and TM-pairs.
  void add_team(Team* team);
  void remove_team(Team* team);
  // Recomputes and publishes every window (direct.h), after segments came or went.
  void publish_windows();
  // The same for one of its peers.
  void publish_member(const Peer& peer);
  // The interned TM-pair (this endpoint, remote index). Lookup is lock-free. The remote endpoint
  // need not exist (specification of gex_TM_Pair: nothing is communicated); using the pair then
  // ends the job with a line that says so. `remote_index` is below kMaxEndpoints.
  Team* pair(uint16_t remote_index);

  const void* cdata = nullptr;

 private:
  Client* client_;
  Endpoint* base_;
  uint16_t index_;
  gex_EP_Capabilities_t capabilities_;
  gex_Flags_t flags_;
  std::atomic<Segment*> segment_{nullptr};
  HandlerTable handlers_;
  PeerTable peers_;
  std::vector<std::unique_ptr<ConduitEp>> own_conduit_eps_;
  std::vector<std::unique_ptr<ConduitEp>> own_split_eps_;  // one per size of messages
  std::mutex own_connect_mutex_;
  std::mutex teams_mutex_;
  std::mutex pairs_mutex_;
  std::vector<Team*> teams_;
  // Set once each: release on store, acquire on load.
  std::array<std::atomic<Team*>, kMaxEndpoints> pairs_{};
  // Peers by remote index. Set once each, release, acquire: index 0, which is peers_, by the
  // constructor, the others under the client's publications mutex.
  std::array<std::atomic<PeerTable*>, kMaxEndpoints> tables_{};
};

// The endpoint of this process with that client number and index, or NULL. Any thread, any
// context. Endpoints are never destroyed before the process ends, as the specification has no
// call for it.
Endpoint* find_endpoint(uint16_t client, uint16_t index);

// With `checks: full`: ends the job unless the endpoint was created with the capability. Every
// endpoint has all of them here; a program that relies on that will not run elsewhere.
void require_capability(const char* call, const Endpoint& ep, gex_EP_Capabilities_t capability,
                        const char* name);

inline Endpoint* as(gex_EP_t ep) {
  return reinterpret_cast<Endpoint*>(ep);
}
inline gex_EP_t as_c(Endpoint* ep) {
  return reinterpret_cast<gex_EP_t>(ep);
}

}  // namespace causeway
