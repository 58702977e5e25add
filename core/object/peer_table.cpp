#include "object/peer_table.h"

#include "base/context.h"
#include "object/client.h"
#include "object/connect.h"
#include "object/endpoint.h"

namespace causeway {

PeerTable::PeerTable(Endpoint* ep, uint16_t index)
    : ep_(ep), index_(index), peers_(context().size()) {}

void PeerTable::close() {
  peers_.for_each(destroy_peer);
}

Peer& PeerTable::meet(uint32_t rank) {
  // The base's first: it is asked for with the mutex held, and that of one client is the base's.
  Endpoint& base = context().base_endpoint();
  if (ep_ != &base || index_ != 0) base.peer(rank);
  Publications& publications = ep_->client()->publications();
  // Held until others see the peer, so that it misses no publication.
  const std::lock_guard lock(publications.mutex());
  if (Peer* const peer = met(rank)) return *peer;
  Peer& peer = peers_.at(rank, [&] {
    auto fresh = std::make_unique<Peer>();
    init_peer(*fresh, ep_, rank, index_);
    publications.give_known(*fresh);
    return fresh;
  });
  if (peer.segment.inlined) ep_->publish_member(peer);
  return peer;
}

}  // namespace causeway
