#include "object/endpoint.h"

#include "base/context.h"
#include "base/fatal.h"
#include "connection/fallbacks.h"
#include "object/client.h"
#include "object/connect.h"
#include "progress/poll.h"

namespace causeway {

namespace {

// Every endpoint of the process. Set once each: release on store, acquire on load.
std::array<std::array<std::atomic<Endpoint*>, Endpoint::kMaxEndpoints>, Client::kMax> g_endpoints{};

}  // namespace

constinit Delivery delivery;

Endpoint* find_endpoint(uint16_t client, uint16_t index) {
  if (client >= Client::kMax || index >= Endpoint::kMaxEndpoints) return nullptr;
  return g_endpoints[client][index].load(std::memory_order_acquire);
}

void require_capability(const char* call, const Endpoint& ep, gex_EP_Capabilities_t capability,
                        const char* name) {
  if (ep.capabilities() & capability) return;
  fatal(call, "the endpoint with index {} was created without GEX_EP_CAPABILITY_{}", ep.index(),
        name);
}

Endpoint::Endpoint(Client* client, uint16_t index, gex_EP_Capabilities_t capabilities,
                   gex_Flags_t flags)
    : client_(client),
      base_(client->id() == 0 && index == 0 ? this : &context().base_endpoint()),
      index_(index),
      capabilities_(capabilities),
      flags_(flags),
      peers_(this, 0) {
  if (base_ == this) {
    for (auto& conduit : context().conduits().conduits) {
      own_conduit_eps_.push_back(
          open_conduit_ep(*conduit, this, index, context().multithreaded(), context().size(),
                          context().checks() ? delivery.checked : delivery.plain, delivery.place));
    }
  }
  tables_[0].store(&peers_, std::memory_order_release);
  g_endpoints[client->id()][index].store(this, std::memory_order_release);
}

Endpoint::~Endpoint() {
  g_endpoints[client_->id()][index_].store(nullptr, std::memory_order_release);
  remove_from_poll(*this);
  for (auto& slot : pairs_) delete slot.load(std::memory_order_acquire);
  for (auto& slot : tables_) {
    PeerTable* const peers = slot.load(std::memory_order_acquire);
    if (peers != nullptr) peers->close();
    if (peers != &peers_) delete peers;
  }
}

ConduitEp* Endpoint::conduit_ep(const Conduit* conduit) {
  for (auto& cep : conduit_eps())
    if (cep->conduit == conduit) return cep.get();
  return nullptr;
}

ConduitEp* Endpoint::split_ep(uint64_t medium) {
  for (auto& cep : base_->own_split_eps_)
    if (cep->classes[0].am_medium_max == medium) return cep.get();
  auto cep = std::make_unique<ConduitEp>();
  cep->owner = base_;
  cwyc_class_attr attr{};
  attr.head = CWY_HEAD(cwyc_class_attr);
  attr.rma_max = UINT64_MAX;
  attr.am_medium_max = medium;
  cep->classes.push_back(attr);
  cep->ops.push_back(*fallbacks.split);
  cep->inner.push_back(*fallbacks.split);
  base_->own_split_eps_.push_back(std::move(cep));
  return base_->own_split_eps_.back().get();
}

void Endpoint::add_team(Team* team) {
  const std::lock_guard lock(teams_mutex_);
  teams_.push_back(team);
}

void Endpoint::remove_team(Team* team) {
  const std::lock_guard lock(teams_mutex_);
  std::erase(teams_, team);
}

void Endpoint::publish_windows() {
  const std::lock_guard lock(teams_mutex_);
  for (Team* team : teams_) team->publish_window();
}

void Endpoint::publish_member(const Peer& peer) {
  const std::lock_guard lock(teams_mutex_);
  for (Team* team : teams_) team->publish_member(peer);
}

void Endpoint::refit_connections() {
  for (uint16_t index = 0; index < kMaxEndpoints; ++index) {
    const PeerTable* const peers = tables_[index].load(std::memory_order_acquire);
    if (peers != nullptr) peers->for_each(causeway::refit_connections);
  }
}

PeerTable& Endpoint::peers(uint16_t index) {
  std::atomic<PeerTable*>& slot = tables_[index];
  if (PeerTable* const peers = slot.load(std::memory_order_acquire)) return *peers;
  const std::lock_guard lock(client_->publications().mutex());
  if (PeerTable* const peers = slot.load(std::memory_order_relaxed)) return *peers;  // the lock's
  auto fresh = std::make_unique<PeerTable>(this, index);
  // Release: whoever finds the table without the lock finds it complete.
  slot.store(fresh.get(), std::memory_order_release);
  return *fresh.release();
}

Team* Endpoint::pair(uint16_t remote_index) {
  std::atomic<Team*>& slot = pairs_[remote_index];
  if (Team* team = slot.load(std::memory_order_acquire)) return team;
  const std::lock_guard lock(pairs_mutex_);
  if (Team* team = slot.load(std::memory_order_relaxed)) return team;  // the lock orders it
  TeamMembers members;
  members.reserve(context().size());
  for (uint32_t r = 0; r < context().size(); ++r) members.emplace_back(remote_index, r);
  auto* team = new Team(client_, this, std::move(members), context().rank(), 0, 0, true);
  {
    const std::lock_guard known(client_->publications().mutex());
    team->publish_window();
  }
  // Release: whoever finds the pair without the lock finds it complete.
  slot.store(team, std::memory_order_release);
  return team;
}

}  // namespace causeway
