// Team: an ordered set of endpoints seen from one of them, or a TM-pair. Owns the frozen head of
// causeway/direct.h, which is what a gex_TM_t points to.
#pragma once

#include <gasnetex.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "object/peer.h"

namespace causeway {

class Client;
class Endpoint;
struct TeamCollectives;

class Team {
 public:
  // Members in rank order. A TM-pair is a team whose ranks are job ranks and which no collective
  // call accepts.
  Team(Client* client, Endpoint* ep, std::vector<Peer*> members, uint32_t rank, uint32_t id,
       gex_Flags_t flags, bool is_pair);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  static Team* of(gex_TM_t tm) { return static_cast<Team*>(tm->owner); }
  gex_TM_t handle() const { return head_; }

  Client* client() const { return client_; }
  Endpoint* ep() const { return ep_; }
  uint32_t rank() const { return head_->rank; }
  uint32_t size() const { return head_->size; }
  uint32_t id() const { return id_; }  // equal on all members, unique among teams of the process
  gex_Flags_t flags() const { return flags_; }
  bool is_pair() const { return is_pair_; }
  Peer& member(uint32_t rank) const { return *members_[rank]; }
  const std::vector<Peer*>& members() const { return members_; }

  // Publishes which members' memory is mapped here, and where.
  void publish_window();
  bool has_window() const { return any_mapped_; }

  // What its collectives keep; made at the first one.
  TeamCollectives& collectives();

  const void* cdata = nullptr;

 private:
  cwy_team_head* head_;  // what a gex_TM_t points to; the distances follow it
  Client* client_;
  Endpoint* ep_;
  std::vector<Peer*> members_;
  uint32_t id_;
  gex_Flags_t flags_;
  bool is_pair_;
  bool any_mapped_ = false;
  std::mutex collectives_mutex_;
  std::unique_ptr<TeamCollectives> collectives_;
};

}  // namespace causeway
