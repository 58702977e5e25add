#include "object/footprint.h"

#include <fmt/core.h>

#include <mutex>

#include "object/client.h"
#include "object/endpoint.h"
#include "object/runtime.h"

namespace causeway {
namespace {

constexpr uint64_t kAllocation = 16;             // of the allocator, for each
constexpr uint64_t kMapNode = 32 + kAllocation;  // links and colour beside the pair

uint64_t bytes_of(const std::string& text) {
  // What fits the object itself allocates nothing.
  return text.capacity() < sizeof(std::string) / 2 ? 0 : text.capacity() + 1 + kAllocation;
}

uint64_t bytes_of(const Card& card) {
  uint64_t sum = sizeof card + bytes_of(card.hostname) + bytes_of(card.fingerprint);
  for (const auto& [name, address] : card.addresses) {
    sum += kMapNode + 2 * sizeof name + bytes_of(name) + bytes_of(address);
  }
  for (const auto& [name, limits] : card.am_limits) {
    sum += kMapNode + sizeof name + sizeof limits + bytes_of(name);
  }
  return sum;
}

}  // namespace

uint64_t bytes_of_uncontacted_peer() {
  const uint32_t ranks = runtime().size();
  if (ranks < 2) return 0;
  uint64_t cards = 0;
  for (uint32_t r = 0; r < ranks; ++r) {
    if (r != runtime().rank()) cards += bytes_of(runtime().job().card(r));
  }
  // Its place in a team: a pointer to the peer and a distance.
  const uint64_t place = sizeof(Peer*) + sizeof(intptr_t);
  const uint64_t known = runtime().clients.front()->publications().bytes() / ranks;
  return cards / (ranks - 1) + sizeof(Peer) + place + known;
}

std::string footprint_text() {
  std::string connections;
  Endpoint& ep = *runtime().clients.front()->endpoint();
  std::unique_lock lock(ep.connect_mutex());
  for (const auto& cep : ep.conduit_eps()) {
    if (cep->connections == 0) continue;
    connections +=
        fmt::format("{}{} {} of {} bytes", connections.empty() ? "" : ", ", cep->conduit->name(),
                    cep->connections, cep->connection_bytes / cep->connections);
  }
  lock.unlock();
  return fmt::format("{} bytes of each rank never contacted; connections: {}",
                     bytes_of_uncontacted_peer(), connections.empty() ? "none" : connections);
}

}  // namespace causeway
