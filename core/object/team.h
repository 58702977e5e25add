// Team: an ordered set of endpoints seen from one of them, or a TM-pair. Owns the frozen head of
// causeway/direct.h, which is what a gex_TM_t points to.
#pragma once

#include <gasnetex.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/line_allocator.h"
#include "connection/peer.h"

namespace causeway {

class Client;
class Endpoint;

// State that a room above keeps per team: made when it first asks, destroyed with the team.
class TeamPart {
 public:
  virtual ~TeamPart() = default;
};

// Called when a team's number is given back (team_ids.h). Told by wiring.cpp, constant afterwards.
extern void (*team_number_released)(uint32_t id);

// A member: its peer, or where to find it as long as no operation of the team has asked for it.
class TeamMember {
 public:
  TeamMember(uint16_t index, uint32_t rank)
      : word_(uint64_t{index} << 33 | uint64_t{rank} << 1 | 1) {}
  TeamMember(const TeamMember& other) : word_(other.word_.load(std::memory_order_acquire)) {}
  // Calls meet() where the peer is not known here. On the way of each operation: the bit alone is
  // tested.
  template <typename Meet>
  Peer& peer(Meet&& meet) const {
    const uint64_t word = word_.load(std::memory_order_acquire);
    return __builtin_expect(word & 1, 0) ? meet() : *reinterpret_cast<Peer*>(word);
  }
  uint32_t rank() const { return place().second; }  // of the job
  uint16_t index() const { return place().first; }
  void set(Peer& peer) const {
    word_.store(reinterpret_cast<uint64_t>(&peer), std::memory_order_release);
  }

 private:
  std::pair<uint16_t, uint32_t> place() const;
  // The peer's address; or odd, the endpoint's index and the rank. Release once the peer is
  // complete; acquire.
  mutable std::atomic<uint64_t> word_;
};

// Every operation reads the members, so they lie in cache lines of their own.
using TeamMembers = std::vector<TeamMember, LineAllocator<TeamMember>>;

class Team {
 public:
  // Members in rank order. A TM-pair is a team whose ranks are job ranks and which no collective
  // call accepts. `id` was claimed (team_ids.h) and is released with the team; a pair has none.
  Team(Client* client, Endpoint* ep, TeamMembers members, uint32_t rank, uint32_t id,
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
  // Equal on all members, and no other team of any of their processes has it. A process may have
  // several members of one team: messages for one of them name its rank too.
  uint32_t id() const { return id_; }
  gex_Flags_t flags() const { return flags_; }
  bool is_pair() const { return is_pair_; }
  // The peer comes into being at the first call for it: PeerTable says where that may be.
  Peer& member(uint32_t rank) const {
    return members_[rank].peer([this, rank]() -> Peer& { return meet(rank); });
  }
  uint32_t job_rank(uint32_t rank) const { return members_[rank].rank(); }
  const TeamMembers& members() const { return members_; }
  // Does any process have several members? The same on all members.
  bool shares_processes() const;

  // Publishes which members' memory is mapped here, and where. Under the mutex of the client's
  // Publications, which says why.
  void publish_window();
  // The same for the one member that the peer is, if it is one.
  void publish_member(const Peer& peer);
  bool has_window() const { return any_mapped_.load(std::memory_order_relaxed); }

  // Scratch that the client granted, by member: the owners' addresses. Size 0: none.
  void set_scratch(std::vector<uint64_t> addresses, uint64_t size) {
    scratches_ = std::move(addresses);
    scratch_size_ = size;
  }
  uint64_t scratch_size() const { return scratch_size_; }
  // Mask of 1<<cwy_memkind_class: what members' endpoints had bound when the team was made. Equal
  // on all members; host alone for the team of all, whose endpoints had nothing bound then.
  void set_memory_classes(uint32_t classes) { memory_classes_ = classes; }
  uint32_t memory_classes() const { return memory_classes_; }
  uint64_t scratch(uint32_t rank) const { return scratches_[rank]; }

  // Numbers this member's exchanges, as every other member does. Collective calls over a team are
  // made in one order by all members (specification, "Collective Call"), so any two agree.
  uint32_t next_exchange() { return exchanges_.fetch_add(1, std::memory_order_relaxed); }
  // Names a collective creation over this team among all of the process.
  uint64_t next_creation() {
    return static_cast<uint64_t>(id_) << 32 | creations_.fetch_add(1, std::memory_order_relaxed);
  }

  // The barrier that a team with several local members ends with (process/team_create.cpp).
  void set_farewell(gex_Event_t event) { farewell_ = event; }
  gex_Event_t farewell() const { return farewell_; }

  // The state of its collectives; made at the first call.
  TeamPart& collectives(TeamPart* (*make)(Team*));

  // The payload that messages between any two members may carry (am/limits.h); 0 until it was asked
  // for. As in Peer: the value is looked at only where `medium_max`, written last, is seen.
  mutable std::atomic<uint32_t> medium_max{0}, long_max{0};

  const void* cdata = nullptr;

 private:
  [[gnu::cold, gnu::noinline]] Peer& meet(uint32_t rank) const;
  void publish_distance(uint32_t rank);
  cwy_team_head* head_;  // what a gex_TM_t points to; the distances follow it
  Client* client_;
  Endpoint* ep_;
  TeamMembers members_;
  uint32_t id_;
  gex_Flags_t flags_;
  bool is_pair_;
  std::vector<uint64_t> scratches_;
  uint64_t scratch_size_ = 0;
  uint32_t memory_classes_ = 1u << CWY_MEM_HOST;
  std::atomic<uint32_t> exchanges_{0}, creations_{0};  // relaxed: ordered by the collective calls
  gex_Event_t farewell_ = GEX_EVENT_INVALID;
  std::atomic<bool> any_mapped_{false};  // relaxed: for the report
  std::mutex collectives_mutex_;
  std::unique_ptr<TeamPart> collectives_;
};

}  // namespace causeway
