#include "object/endpoint.h"

#include <algorithm>

#include "am/deliver.h"
#include "checks/handler_checks.h"
#include "object/client.h"
#include "object/runtime.h"
#include "progress/poll.h"

namespace causeway {

Endpoint::Endpoint(Client* client, uint16_t index, gex_Flags_t flags)
    : client_(client), index_(index), flags_(flags), peers_(runtime().size()) {
  for (auto& conduit : runtime().conduits().conduits) {
    conduit_eps_.push_back(open_conduit_ep(*conduit, this, index, runtime().multithreaded(),
                                           runtime().size(),
                                           runtime().checks() ? deliver_checked : deliver));
  }
}

Endpoint::~Endpoint() {
  remove_from_poll(*this);
  for (auto& slot : pairs_) delete slot.load(std::memory_order_acquire);
  for (Peer& peer : peers_) destroy_peer(peer);
}

ConduitEp* Endpoint::conduit_ep(const Conduit* conduit) {
  for (auto& cep : conduit_eps_) {
    if (cep->conduit == conduit) return cep.get();
  }
  return nullptr;
}

void Endpoint::add_team(Team* team) {
  const std::lock_guard lock(teams_mutex_);
  teams_.push_back(team);
}

void Endpoint::remove_team(Team* team) {
  const std::lock_guard lock(teams_mutex_);
  teams_.erase(std::remove(teams_.begin(), teams_.end(), team), teams_.end());
}

void Endpoint::publish_windows() {
  const std::lock_guard lock(teams_mutex_);
  for (Team* team : teams_) team->publish_window();
}

std::vector<Peer>& Endpoint::peers_with_index(uint16_t index) {
  if (index == 0) return peers_;
  auto& slot = indexed_peers_[index];
  if (slot == nullptr) {
    slot = std::make_unique<std::vector<Peer>>(peers_.size());
    for (uint32_t r = 0; r < peers_.size(); ++r) {
      init_peer((*slot)[r], this, r);
      (*slot)[r].ep_index = index;
    }
  }
  return *slot;
}

Team* Endpoint::pair(uint16_t remote_index) {
  std::atomic<Team*>& slot = pairs_[remote_index];
  if (Team* team = slot.load(std::memory_order_acquire)) return team;
  const std::lock_guard lock(pairs_mutex_);
  if (Team* team = slot.load(std::memory_order_relaxed)) return team;  // the lock orders it
  std::vector<Peer*> members;
  members.reserve(peers_.size());
  for (Peer& peer : peers_with_index(remote_index)) members.push_back(&peer);
  auto* team = new Team(client_, this, std::move(members), runtime().rank(), 0, 0, true);
  team->publish_window();
  // Release: whoever finds the pair without the lock finds it complete.
  slot.store(team, std::memory_order_release);
  return team;
}

}  // namespace causeway
