#include "config/peer_rules.h"

#include <fmt/core.h>
#include <fnmatch.h>

#include <set>

#include "config/rank_set.h"
#include "config/steps.h"

namespace causeway {
namespace {

bool rule_includes(const PeerRule& rule, Locality peer) {
  return !rule.locality || locality_includes(*rule.locality, peer);
}

// Whether every host name that `narrow` matches, `broad` matches too, as far as can be told
// without comparing two patterns.
bool host_covers(const std::string& broad, const std::string& narrow) {
  if (broad.empty() || broad == "*" || broad == narrow) return true;
  const bool literal = !narrow.empty() && narrow.find_first_of("*?[\\") == std::string::npos;
  return literal && fnmatch(broad.c_str(), narrow.c_str(), 0) == 0;
}

class ReachCheck {
 public:
  ReachCheck(const std::vector<PeerRule>& rules, const std::vector<bool>& comparable)
      : rules_(rules), comparable_(comparable) {
    for (size_t i = 0; i < rules.size(); ++i)
      ranks_.push_back(RankSet::parse(comparable[i] ? rules[i].rank_set : ""));
  }

  // The rules before `at` that together take all of its peers; empty when some peer is left.
  std::vector<size_t> takers(size_t at) const {
    std::set<size_t> out;
    for (const Locality locality : kLocalities) {
      if (!rule_includes(rules_[at], locality)) continue;
      const std::vector<size_t> some = takers_at(at, locality);
      if (some.empty()) return {};
      out.insert(some.begin(), some.end());
    }
    return {out.begin(), out.end()};
  }

 private:
  std::vector<size_t> takers_at(size_t at, Locality locality) const {
    std::vector<size_t> out;
    std::vector<const RankSet*> sets;
    for (size_t i = 0; i < at; ++i) {
      if (!comparable_[i] || !rule_includes(rules_[i], locality) ||
          !host_covers(rules_[i].host_glob, rules_[at].host_glob))
        continue;
      if (ranks_[i].covers(ranks_[at])) return {i};
      if (!ranks_[i].intersects(ranks_[at])) continue;
      out.push_back(i);
      sets.push_back(&ranks_[i]);
    }
    if (out.empty() || !RankSet::union_of(sets).covers(ranks_[at])) return {};
    return out;
  }

  const std::vector<PeerRule>& rules_;
  const std::vector<bool>& comparable_;
  std::vector<RankSet> ranks_;
};

// "a (f:1:2), b (f:3:4) and 7 more".
std::string name_rules(const std::vector<PeerRule>& rules, const std::vector<size_t>& which) {
  constexpr size_t most = 3;
  std::vector<std::string> names;
  for (size_t i = 0; i < which.size() && i < most; ++i)
    names.push_back(fmt::format("{} ({})", rules[which[i]].label, rules[which[i]].where.str()));
  if (which.size() > most) names.push_back(fmt::format("{} more", which.size() - most));
  return join_words(names, "and");
}

}  // namespace

const char* locality_word(Locality locality) {
  constexpr const char* words[] = {"self", "nbrhd", "host", "remote"};
  return words[static_cast<size_t>(locality)];
}

bool locality_includes(Locality condition, Locality peer) {
  if (condition == Locality::remote || peer == Locality::remote) return condition == peer;
  return static_cast<int>(peer) <= static_cast<int>(condition);
}

bool PeerRule::matches(Locality locality_of_peer, const std::string& host, uint32_t rank) const {
  if (locality && !locality_includes(*locality, locality_of_peer)) return false;
  if (!host_glob.empty() && fnmatch(host_glob.c_str(), host.c_str(), 0) != 0) return false;
  return rank_set.empty() || RankSet::parse(rank_set).contains(rank);
}

void check_reachable(const std::vector<PeerRule>& rules, const std::vector<bool>& comparable,
                     Problems& problems) {
  const ReachCheck check(rules, comparable);
  for (size_t at = 0; at < rules.size(); ++at) {
    if (!comparable[at]) continue;
    const std::vector<size_t> before = check.takers(at);
    if (before.empty()) continue;
    problems.add(
        rules[at].where,
        fmt::format("rule {} can never match: {} before it take{} every such peer; move "
                    "it up or remove it",
                    rules[at].label, name_rules(rules, before), before.size() == 1 ? "s" : ""));
  }
}

}  // namespace causeway
