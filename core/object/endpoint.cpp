#include "object/endpoint.h"

#include <algorithm>

#include "am/deliver.h"
#include "object/client.h"
#include "object/runtime.h"
#include "progress/poll.h"

namespace causeway {

Endpoint::Endpoint(Client* client, uint16_t index, gex_Flags_t flags)
    : client_(client), index_(index), flags_(flags), peers_(runtime().size()) {
  for (auto& conduit : runtime().conduits().conduits) {
    conduit_eps_.push_back(open_conduit_ep(*conduit, this, index, runtime().multithreaded(),
                                           runtime().size(), deliver));
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

Team* Endpoint::pair(uint16_t remote_index) {
  std::atomic<Team*>& slot = pairs_[remote_index];
  Team* team = slot.load(std::memory_order_acquire);
  if (team != nullptr) return team;
  std::vector<Peer*> members;
  members.reserve(peers_.size());
  for (Peer& peer : peers_) members.push_back(&peer);
  auto* fresh = new Team(client_, this, std::move(members), runtime().rank(), 0, 0, true);
  // Release on success publishes the object; acquire on failure reads the winner's.
  if (slot.compare_exchange_strong(team, fresh, std::memory_order_acq_rel,
                                   std::memory_order_acquire)) {
    fresh->publish_window();
    return fresh;
  }
  delete fresh;
  return team;
}

}  // namespace causeway
