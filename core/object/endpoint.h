// Endpoint: a client's local end of communication: handlers, bound segment, peers, and one
// endpoint in each conduit.
#pragma once

#include <gasnetex.h>

#include <array>
#include <memory>
#include <mutex>
#include <vector>

#include "am/handler_table.h"
#include "object/peer.h"
#include "select/conduit_set.h"

namespace causeway {

class Client;
class Segment;
class Team;

class Endpoint {
 public:
  Endpoint(Client* client, uint16_t index, gex_Flags_t flags);
  ~Endpoint();

  Client* client() const { return client_; }
  uint16_t index() const { return index_; }
  gex_Flags_t flags() const { return flags_; }
  Segment* segment() const { return segment_; }
  void set_segment(Segment* segment) { segment_ = segment; }
  HandlerTable& handlers() { return handlers_; }
  Peer& peer(uint32_t rank) { return peers_[rank]; }
  uint32_t peer_count() const { return static_cast<uint32_t>(peers_.size()); }
  std::vector<std::unique_ptr<ConduitEp>>& conduit_eps() { return conduit_eps_; }
  ConduitEp* conduit_ep(const Conduit* conduit);
  std::mutex& connect_mutex() { return connect_mutex_; }

  // Everything that has a window over this endpoint's peers: teams and TM-pairs.
  void add_team(Team* team);
  void remove_team(Team* team);
  // Recomputes and publishes every window (direct.h), after segments came or went.
  void publish_windows();
  // The interned TM-pair (this endpoint, remote index). Lookup is lock-free. The remote endpoint
  // need not exist (specification of gex_TM_Pair: nothing is communicated); using the pair then
  // ends the job with a line that says so. `remote_index` is below kMaxEndpoints.
  Team* pair(uint16_t remote_index);

  const void* cdata = nullptr;

  static constexpr size_t kMaxEndpoints = GASNET_MAXEPS;

 private:
  Client* client_;
  uint16_t index_;
  gex_Flags_t flags_;
  Segment* segment_ = nullptr;
  HandlerTable handlers_;
  std::vector<Peer> peers_;
  std::vector<std::unique_ptr<ConduitEp>> conduit_eps_;
  std::mutex connect_mutex_;
  std::mutex teams_mutex_;
  std::mutex pairs_mutex_;
  std::vector<Team*> teams_;
  // Set once each: release on store, acquire on load.
  std::array<std::atomic<Team*>, kMaxEndpoints> pairs_{};
  // Peers with an index other than 0, made with the first pair that names the index.
  std::array<std::unique_ptr<std::vector<Peer>>, kMaxEndpoints> indexed_peers_;
  std::vector<Peer>& peers_with_index(uint16_t index);
};

inline Endpoint* as(gex_EP_t ep) {
  return reinterpret_cast<Endpoint*>(ep);
}
inline gex_EP_t as_c(Endpoint* ep) {
  return reinterpret_cast<gex_EP_t>(ep);
}

}  // namespace causeway
