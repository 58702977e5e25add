#include "object/client.h"

#include <numeric>

#include "collective/arena.h"
#include "diag/error.h"
#include "diag/log.h"
#include "object/runtime.h"
#include "object/segment.h"
#include "progress/poll.h"

namespace causeway {
namespace {

// One card per rank: where it runs and how its endpoints are addressed.
std::vector<Card> trade_cards(Endpoint& ep) {
  Card own = Card::of_this_process();
  own.segment_max = measure_max_segment();
  own.fingerprint = config_fingerprint(runtime().config());
  for (auto& cep : ep.conduit_eps()) {
    own.addresses[cep->conduit->name()] = cep->address();
    own.am_limits[cep->conduit->name()] = cep->limits;
  }
  own.addresses[kCollectiveCard] = collective_card(ep);
  const auto packed =
      runtime().bootstrap().exchange(own.pack(), runtime().config().timeouts.start_ns);
  std::vector<Card> cards;
  cards.reserve(packed.size());
  for (const std::string& bytes : packed) cards.push_back(Card::unpack(bytes));
  return cards;
}

// Finds the conduits that map other processes' memory: asked about a process beside this one, so
// that a conduit which only reaches its own process does not count.
bool find_mapping_conduits(Endpoint& ep) {
  bool any = false;
  for (auto& cep : ep.conduit_eps()) {
    cwyc_peer_desc other{};
    other.head = CWY_HEAD(cwyc_peer_desc);
    other.same_host = 1;
    cwy_err err{CWY_HEAD(cwy_err), CWY_OK, 0, {}};
    const Conduit& conduit = *cep->conduit;
    cep->maps_neighbors = (cep->attr.caps & CWYC_CAP_DIRECT) != 0 &&
                          conduit.module().reach(conduit.domain(), &other, &err) == CWY_OK;
    any |= cep->maps_neighbors;
  }
  return any;
}

}  // namespace

Client::Client(std::string name, gex_Flags_t flags) : name_(std::move(name)), flags_(flags) {
  ep_ = std::make_unique<Endpoint>(this, 0, 0);
  const bool can_map = find_mapping_conduits(*ep_);  // before the cards are written
  runtime().job().set_cards(trade_cards(*ep_), can_map);
  adopt_collective_cards();
  std::vector<Peer*> members;
  members.reserve(runtime().size());
  for (uint32_t r = 0; r < runtime().size(); ++r) {
    init_peer(ep_->peer(r), ep_.get(), r);
    members.push_back(&ep_->peer(r));
  }
  team_ =
      std::make_unique<Team>(this, ep_.get(), std::move(members), runtime().rank(), 0, 0, false);
  add_to_poll(*ep_);
}

Client::~Client() {
  remove_from_poll(*ep_);
}

}  // namespace causeway
