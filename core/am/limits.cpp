#include "am/limits.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "am/send_buffer.h"
#include "base/context.h"
#include "base/error.h"
#include "base/fatal.h"
#include "config/config.h"
#include "connection/conduit_set.h"
#include "connection/job.h"
#include "object/endpoint.h"
#include "object/team.h"

namespace causeway {
namespace {

AmLimits least(const AmLimits& a, const AmLimits& b) {
  return {std::min(a.medium, b.medium), std::min(a.long_max, b.long_max)};
}

// The limits of a rank's conduit of that name, which the rank may not have.
AmLimits on_card(uint32_t rank, const std::string& conduit) {
  const auto& known = *context().job().card(rank).am_limits;
  const auto found = known.find(conduit);
  return found != known.end() ? found->second : AmLimits{SIZE_MAX, SIZE_MAX};
}

AmLimits on_both_cards(uint32_t rank, const std::string& conduit) {
  return least(on_card(context().rank(), conduit), on_card(rank, conduit));
}

// The limits of messages in one direction. Every size up to a limit lies in a span whose conduit
// takes it.
AmLimits along(const Choice& choice, uint32_t rank) {
  const std::vector<SizeSpan>& spans = choice.of(OperationKind::am);
  const auto limit = [&](size_t AmLimits::*which) {
    return static_cast<size_t>(largest_message(spans, [&](const Conduit& conduit) -> uint64_t {
      return on_both_cards(rank, conduit.name()).*which;
    }));
  };
  return {limit(&AmLimits::medium), limit(&AmLimits::long_max)};
}

AmLimits compute(const Peer& peer) {
  ProcessContext& rt = context();
  const PeerFacts there = rt.job().facts_of(peer.rank, nullptr),
                  here = rt.job().facts_seen_from(peer.rank);
  const Choice choice = choose(rt.config(), rt.conduits(), there);
  const AmLimits limits = along(choice, peer.rank);
  if (rule_for(rt.config(), here) == choice.rule) return limits;
  try {
    return least(limits, along(choose(rt.config(), rt.conduits(), here), peer.rank));
  } catch (const Error&) {
    return limits;  // the peer cannot answer at all, and will say so when it tries
  }
}

// How the processes of a team lie to each other.
class Layout {
 public:
  explicit Layout(const Team& team) {
    const JobFacts& job = context().job();
    for (const Peer* peer : team.members()) {
      if (!ranks_.insert(peer->rank).second) continue;
      ++hosts_[job.card(peer->rank).host_id];
      ++nbrhds_[job.locality_key(peer->rank)];
    }
  }
  const std::set<uint32_t>& ranks() const { return ranks_; }

  // Is a process of the team this far from that rank?
  bool any(Locality locality, uint32_t rank) const {
    const JobFacts& job = context().job();
    const size_t host = hosts_.at(job.card(rank).host_id);
    const size_t nbrhd = nbrhds_.at(job.locality_key(rank));
    switch (locality) {
      case Locality::self:
        return true;
      case Locality::nbrhd:
        return nbrhd > 1;
      case Locality::host:
        return host > nbrhd;
      case Locality::remote:
        return ranks_.size() > host;
    }
    return false;
  }

 private:
  std::set<uint32_t> ranks_;
  std::map<uint64_t, size_t> hosts_, nbrhds_;  // processes of the team there
};

// The limits between members whose locality to each other is one that no member has to this rank.
AmLimits between_others(const Team& team) {
  const ProcessContext& rt = context();
  const Layout layout(team);
  // The facts that a choice depends on, but for addresses: as in peer_classes().
  std::set<std::tuple<const PeerRule*, Locality, std::string>> known;
  AmLimits out{SIZE_MAX, SIZE_MAX};
  for (const uint32_t rank : layout.ranks()) {
    for (const Locality locality :
         {Locality::self, Locality::nbrhd, Locality::host, Locality::remote}) {
      if (locality == rt.job().locality(rank) || !layout.any(locality, rank)) continue;
      const PeerFacts facts = rt.job().facts_supposed(rank, locality);
      if (!known.emplace(rule_for(rt.config(), facts), locality, facts.addresses->list()).second)
        continue;
      try {
        out = least(out, along(choose(rt.config(), rt.conduits(), facts), rank));
      } catch (const Error&) {
        // A member that cannot reach that rank says so when it is to send.
      }
    }
  }
  return out;
}

AmLimits compute(const Team& team) {
  AmLimits out = between_others(team);
  for (const Peer* peer : team.members()) out = least(out, limits_of(*peer));
  return out;
}

// Several threads may compute the same answer at once. `long_max` is looked at only where
// `medium_max`, written last, is seen.
template <typename Whose>
AmLimits limits_slowly(const Whose& whose) {
  const AmLimits limits = or_fatal("gex_AM_Max*()", [&] { return compute(whose); });
  whose.long_max.store(static_cast<uint32_t>(limits.long_max), std::memory_order_relaxed);
  whose.medium_max.store(static_cast<uint32_t>(limits.medium), std::memory_order_release);
  return limits;
}

template <typename Whose>
inline AmLimits remembered(const Whose& whose) {
  // Acquire: pairs with the release above, for the other value.
  const uint32_t medium = whose.medium_max.load(std::memory_order_acquire);
  if (__builtin_expect(medium == 0, 0)) return limits_slowly(whose);
  return {medium, whose.long_max.load(std::memory_order_relaxed)};
}

}  // namespace

AmLimits limits_of(const Peer& peer) {
  return remembered(peer);
}

AmLimits limits_of(const Team& team) {
  return remembered(team);
}

AmLimits least_limits() {
  static const AmLimits limits = [] {
    AmLimits out{SIZE_MAX, SIZE_MAX};
    for (uint32_t r = 0; r < context().size(); ++r) {
      for (const auto& [conduit, theirs] : *context().job().card(r).am_limits)
        out = least(out, theirs);
    }
    return out;
  }();
  return limits;
}

size_t payload_limit(const AmLimits& limits, bool medium, gex_Flags_t flags) {
  if (medium) return limits.medium;
  const bool in_our_buffer = (flags & GEX_FLAG_AM_PREPARE_LEAST_ALLOC) != 0;
  return in_our_buffer ? std::min(limits.long_max, kSendBufferBytes) : limits.long_max;
}

}  // namespace causeway
