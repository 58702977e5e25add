#include "object/binding.h"

#include <string>
#include <vector>

#include "collective/exchange.h"
#include "diag/error.h"
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

// One member's word to the others: '=' and the packed segment, or '!' and why there is none.
std::string own_word(const std::function<Segment*()>& own) {
  try {
    const Segment* segment = own();
    return "=" + (segment != nullptr ? segment->pack() : std::string());
  } catch (const Error& e) {
    return "!" + e.text();
  }
}

void require_all_well(const Team& team, const std::vector<std::string>& words) {
  for (uint32_t r = 0; r < team.size(); ++r) {
    if (words[r].front() == '=') continue;
    const std::string why = words[r].substr(1);
    if (r == team.rank()) throw Error(CWY_ERR_NOMEM, "{}", why);
    throw Error(CWY_ERR_NOMEM, "rank {} failed: {}", r, why);
  }
}

}  // namespace

void publish_segments(Team& team, const std::function<Segment*()>& own) {
  const std::vector<std::string> words = causeway::exchange(team, own_word(own));
  require_all_well(team, words);
  for (uint32_t r = 0; r < team.size(); ++r) {
    Peer& peer = team.member(r);
    const std::string packed = words[r].substr(1);
    if (packed.empty() || peer.segment.size.load(std::memory_order_acquire) != 0) continue;
    unpack_segment(packed, peer.segment);
    // Neighbors are mapped now, so that the window can be; others when first used.
    if (runtime().job().locality(peer.rank) == Locality::nbrhd) {
      while (connect_peer(peer) == CWY_RETRY) poll_once();
    }
    open_rights(peer);
    map_directly(peer);
  }
  team.ep()->publish_windows();
  // Nobody leaves before everybody has mapped everybody: a segment may be destroyed right after.
  causeway::exchange(team, "");
}

}  // namespace causeway
