#include "object/team.h"

#include "collective/engine.h"
#include "object/endpoint.h"
#include "object/runtime.h"

extern "C" __attribute__((visibility("default"))) const uint32_t cwy_direct_v1 =
    sizeof(cwy_team_head);

static_assert(sizeof(cwy_team_head) == 64, "direct.h: the head is one cache line, frozen");

namespace causeway {

Team::Team(Client* client, Endpoint* ep, std::vector<Peer*> members, uint32_t rank, uint32_t id,
           gex_Flags_t flags, bool is_pair)
    : client_(client),
      ep_(ep),
      members_(std::move(members)),
      delta_(members_.size(), 0),
      id_(id),
      flags_(flags),
      is_pair_(is_pair) {
  head_.delta = delta_.data();
  head_.head_size = sizeof(cwy_team_head);
  head_.rank = rank;
  head_.size = static_cast<uint32_t>(members_.size());
  head_.owner = this;
  ep_->add_team(this);
}

Team::~Team() { ep_->remove_team(this); }

TeamCollectives& Team::collectives() {
  const std::lock_guard lock(collectives_mutex_);
  if (collectives_ == nullptr) collectives_ = std::make_unique<TeamCollectives>(this);
  return *collectives_;
}

void Team::publish_window() {
  const auto mapped = [&](uint32_t r) {
    const RemoteSegment& segment = members_[r]->segment;
    return segment.size.load(std::memory_order_acquire) != 0 && segment.direct;
  };
  const uint32_t me = head_.rank;
  // No operation is in flight on this endpoint now (specification of
  // gex_EP_PublishBoundSegment), so nobody reads the window while it changes.
  __atomic_store_n(&head_.window_count, 0, __ATOMIC_RELEASE);
  if (runtime().direct_allowed() && mapped(me)) {
    uint32_t first = me, last = me;
    while (first > 0 && mapped(first - 1)) --first;
    while (last + 1 < head_.size && mapped(last + 1)) ++last;
    for (uint32_t r = first; r <= last; ++r) delta_[r] = members_[r]->segment.delta;
    head_.delta = delta_.data() + first;
    head_.window_first = first;
    // Release: a client that sees the count sees the deltas.
    __atomic_store_n(&head_.window_count, last - first + 1, __ATOMIC_RELEASE);
  }
}

}  // namespace causeway
