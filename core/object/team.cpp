#include "object/team.h"

#include <algorithm>
#include <new>

#include "base/context.h"
#include "object/endpoint.h"
#include "object/segment.h"
#include "object/team_ids.h"

extern "C" __attribute__((visibility("default"))) const uint32_t cwy_direct_v1 =
    sizeof(cwy_team_head);

static_assert(sizeof(cwy_team_head) == 64, "direct.h: the head is one cache line, frozen");

namespace causeway {
namespace {

intptr_t* distances(cwy_team_head* head) {
  return reinterpret_cast<intptr_t*>(head + 1);
}

cwy_team_head* make_head(size_t size) {
  void* memory = ::operator new (sizeof(cwy_team_head) + size * sizeof(intptr_t),
                                 std::align_val_t{alignof(cwy_team_head)});
  auto* head = new (memory) cwy_team_head{};
  head->head_size = sizeof(cwy_team_head);
  head->size = static_cast<uint32_t>(size);
  std::fill_n(distances(head), size, CWY_NOT_MAPPED);
  return head;
}

}  // namespace

using NumberReleased = void(uint32_t id);
constinit NumberReleased* team_number_released = [](uint32_t) {};

Team::Team(Client* client, Endpoint* ep, TeamMembers members, uint32_t rank, uint32_t id,
           gex_Flags_t flags, bool is_pair)
    : head_(make_head(members.size())),
      client_(client),
      ep_(ep),
      members_(std::move(members)),
      id_(id),
      flags_(flags),
      is_pair_(is_pair) {
  head_->rank = rank;
  head_->owner = this;
  ep_->add_team(this);
}

Team::~Team() {
  ep_->remove_team(this);
  collectives_.reset();
  if (!is_pair_) {
    team_ids::release(id_);
    team_number_released(id_);
  }
  ::operator delete (head_, std::align_val_t{alignof(cwy_team_head)});
}

std::pair<uint16_t, uint32_t> TeamMember::place() const {
  const uint64_t word = word_.load(std::memory_order_acquire);
  if (word & 1) return {static_cast<uint16_t>(word >> 33), static_cast<uint32_t>(word >> 1)};
  const Peer& peer = *reinterpret_cast<const Peer*>(word);
  return {peer.ep_index, peer.rank};
}

Peer& Team::meet(uint32_t rank) const {
  Peer& peer = ep_->peer(members_[rank].index(), members_[rank].rank());
  members_[rank].set(peer);
  return peer;
}

TeamPart& Team::collectives(TeamPart* (*make)(Team*)) {
  const std::lock_guard lock(collectives_mutex_);
  if (collectives_ == nullptr) collectives_.reset(make(this));
  return *collectives_;
}

void Team::publish_window() {
  if (!context().direct_allowed()) return;
  const Segment* const bound = ep_->segment();
  if (bound != nullptr && bound->device() != nullptr) {
    // Local addresses of this endpoint are not for the processor to touch.
    __atomic_store_n(&head_->direct_count, 0, __ATOMIC_RELEASE);
    return;
  }
  for (uint32_t r = 0; r < head_->size; ++r) publish_distance(r);
  __atomic_store_n(&head_->direct_count, head_->size, __ATOMIC_RELEASE);
}

void Team::publish_distance(uint32_t rank) {
  const Peer* const peer = ep_->met(members_[rank].index(), members_[rank].rank());
  const bool mapped = peer != nullptr && peer->segment.size.load(std::memory_order_acquire) != 0 &&
                      peer->segment.inlined;
  // Release: whoever reads the distance finds the memory mapped.
  __atomic_store_n(distances(head_) + rank, mapped ? peer->segment.delta : CWY_NOT_MAPPED,
                   __ATOMIC_RELEASE);
  if (mapped) any_mapped_.store(true, std::memory_order_relaxed);
}

void Team::publish_member(const Peer& peer) {
  if (!context().direct_allowed()) return;
  const auto is_peer = [&peer](const TeamMember& member) {
    return member.rank() == peer.rank && member.index() == peer.ep_index;
  };
  // In a team of all, and in a pair, the number is the job's: no walk.
  if (peer.rank < members_.size() && is_peer(members_[peer.rank]))
    return publish_distance(peer.rank);
  const auto found = std::ranges::find_if(members_, is_peer);
  if (found != members_.end()) publish_distance(static_cast<uint32_t>(found - members_.begin()));
}

bool Team::shares_processes() const {
  std::vector<uint32_t> ranks;
  ranks.reserve(members_.size());
  for (const TeamMember& member : members_) ranks.push_back(member.rank());
  std::ranges::sort(ranks);
  return std::adjacent_find(ranks.begin(), ranks.end()) != ranks.end();
}

}  // namespace causeway
