#include "connection/am_limits.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "base/context.h"
#include "base/error.h"
#include "config/config.h"
#include "connection/conduit_set.h"
#include "connection/job.h"
#include "connection/peer_classes.h"

namespace causeway {
namespace {

// The limits of a rank's conduit of that name, which the rank may not have.
AmLimits on_card(uint32_t rank, const std::string& conduit) {
  const auto& known = context().job().kind(rank).am_limits;
  const auto found = known.find(conduit);
  return found != known.end() ? found->second : AmLimits{SIZE_MAX, SIZE_MAX};
}

AmLimits on_both_cards(uint32_t rank, const std::string& conduit) {
  return least(on_card(context().rank(), conduit), on_card(rank, conduit));
}

// Limits of messages one way: every size up to a limit lies in a span whose conduit takes it.
AmLimits along(const Choice& choice, uint32_t rank) {
  const std::vector<SizeSpan>& spans = choice.of(OperationKind::am);
  const auto limit = [&](size_t AmLimits::*which) {
    return static_cast<size_t>(largest_message(spans, [&](const Conduit& conduit) -> uint64_t {
      return on_both_cards(rank, conduit.name()).*which;
    }));
  };
  return {limit(&AmLimits::medium), limit(&AmLimits::long_max)};
}

// How the processes of a set of ranks lie to each other.
class Layout {
 public:
  explicit Layout(const std::set<uint32_t>& ranks) : size_(ranks.size()) {
    const JobFacts& job = context().job();
    for (const uint32_t rank : ranks) {
      ++hosts_[job.host_id(rank)];
      ++nbrhds_[job.locality_key(rank)];
    }
  }

  // Is a process of the set this far from that rank?
  bool any(Locality locality, uint32_t rank) const {
    const JobFacts& job = context().job();
    const size_t host = hosts_.at(job.host_id(rank));
    const size_t nbrhd = nbrhds_.at(job.locality_key(rank));
    switch (locality) {
      case Locality::self:
        return true;
      case Locality::nbrhd:
        return nbrhd > 1;
      case Locality::host:
        return host > nbrhd;
      case Locality::remote:
        return size_ > host;
    }
    return false;
  }

 private:
  size_t size_;
  std::map<uint64_t, size_t> hosts_, nbrhds_;  // processes of the set there
};

}  // namespace

AmLimits least(const AmLimits& a, const AmLimits& b) {
  return {std::min(a.medium, b.medium), std::min(a.long_max, b.long_max)};
}

AmLimits limits_with(uint32_t rank) {
  const ProcessContext& rt = context();
  const PeerFacts here = rt.job().facts_seen_from(rank);
  const Choice choice = choice_for(rank);
  const AmLimits limits = along(choice, rank);
  if (rule_for(rt.config(), here) == choice.rule) return limits;
  try {
    return least(limits, along(choose(rt.config(), rt.conduits(), here), rank));
  } catch (const Error&) {
    return limits;  // the peer cannot answer at all, and will say so when it tries
  }
}

AmLimits limits_between_others(const std::set<uint32_t>& ranks) {
  const ProcessContext& rt = context();
  const Layout layout(ranks);
  // The facts of a choice, but for addresses and lanes, which all have the same limits.
  std::set<std::tuple<const PeerRule*, Locality, std::string>> known;
  AmLimits out{SIZE_MAX, SIZE_MAX};
  for (const uint32_t rank : ranks) {
    for (const Locality locality :
         {Locality::self, Locality::nbrhd, Locality::host, Locality::remote}) {
      if (locality == rt.job().locality(rank) || !layout.any(locality, rank)) continue;
      const PeerRule* rule = rule_for(rt.config(), rt.job().facts_for_rules(rank, locality));
      if (!known.emplace(rule, locality, rt.job().kind(rank).opened).second) continue;
      try {
        out = least(out, along(choose(rt.config(), rt.conduits(),
                                      rt.job().facts_of(rank, nullptr, locality)),
                               rank));
      } catch (const Error&) {
        // A rank that cannot reach that rank says so when it is to send.
      }
    }
  }
  return out;
}

}  // namespace causeway
