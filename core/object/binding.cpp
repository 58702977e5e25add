#include "object/binding.h"

#include <string>
#include <vector>

#include "collective/exchange.h"
#include "diag/log.h"
#include "object/endpoint.h"
#include "object/runtime.h"
#include "object/segment.h"
#include "object/team.h"
#include "progress/poll.h"

namespace causeway {
namespace {

// Asks the conduits in the rule's order whether the peer's memory is mapped here.
void map_directly(Peer& peer) {
  if (peer.rank == runtime().rank()) {
    peer.segment.direct = true;
    peer.segment.delta = 0;
    return;
  }
  if (runtime().job().locality(peer.rank) != Locality::nbrhd) return;
  for (Connection* c : peer.connections) {
    if (c == nullptr || !(c->cep->caps & CWYC_CAP_DIRECT)) continue;
    cwyc_rkey* rkey = c->rkey.load(std::memory_order_acquire);
    if (rkey == nullptr) continue;
    intptr_t delta = 0;
    if (c->cep->conduit->module().rkey_direct(rkey, &delta) == CWY_OK) {
      peer.segment.direct = true;
      peer.segment.delta = delta;
      return;
    }
  }
}

}  // namespace

void publish_bound_segments(Team& team, bool publish_own) {
  Endpoint& ep = *team.ep();
  const std::string own = publish_own && ep.segment() != nullptr ? ep.segment()->pack() : "";
  const std::vector<std::string> all = exchange(team, own);
  for (uint32_t r = 0; r < team.size(); ++r) {
    Peer& peer = team.member(r);
    if (all[r].empty() || peer.segment.size.load(std::memory_order_acquire) != 0) continue;
    unpack_segment(all[r], peer.segment);
    // Neighbors are mapped now, so that the window can be; others when first used.
    if (runtime().job().locality(peer.rank) == Locality::nbrhd) {
      while (connect_peer(peer) == CWY_RETRY) poll_once();
    }
    open_rights(peer);
    map_directly(peer);
  }
  ep.publish_windows();
  // Nobody leaves before everybody has mapped everybody: a segment may be destroyed right after.
  exchange(team, "");
}

}  // namespace causeway
