#include "select/selector.h"

#include "config/peer_rules.h"
#include "diag/error.h"
#include "diag/log.h"

namespace causeway {
namespace {

// Empty when `conduit` reaches the peer; otherwise the reason.
std::string refusal_reason(const Conduit& conduit, const PeerFacts& peer) {
  cwy_err err{CWY_HEAD(cwy_err), CWY_OK, 0, {}};
  const cwy_status status = conduit.module().reach(conduit.domain(), &peer.desc, &err);
  if (status == CWY_OK) return {};
  return err.text[0] != '\0' ? std::string(err.text) : std::string(status_name(status));
}

std::string missing_reason(const ConduitSet& set, const std::string& name) {
  for (const ConduitFailure& failure : set.failures) {
    if (failure.name == name) return failure.reason;
  }
  return "not defined under conduits:";
}

std::string describe(const PeerFacts& peer, const std::vector<Refusal>& refused,
                     const PeerRule* rule) {
  std::string text = fmt::format("rank {} on host {} ({}) cannot be reached", peer.desc.peer.rank,
                                 peer.host, locality_word(peer.locality));
  if (rule == nullptr) return text + ": no entry of peers: matches it; add one";
  text += fmt::format(" by {} ({})", rule->label, rule->where.str());
  for (const Refusal& r : refused) text += fmt::format("; {}: {}", r.conduit, r.reason);
  return text;
}

Conduit* directed(const ConduitSet& set, const PeerFacts& peer, const PeerRule& rule,
                  const char* operation, Conduit* general, Choice& choice) {
  const auto found = rule.operations.find(operation);
  if (found == rule.operations.end()) return general;
  Conduit* conduit = set.find(found->second);
  const std::string reason =
      conduit == nullptr ? missing_reason(set, found->second) : refusal_reason(*conduit, peer);
  if (reason.empty()) return conduit;
  choice.refused.push_back({fmt::format("{} for {}", found->second, operation), reason});
  return general;
}

void obey_fallback(const Choice& choice, const PeerFacts& peer) {
  const std::string text = fmt::format(
      "rank {}: {} takes {} because {} was refused: {}", peer.desc.peer.rank, choice.rule->label,
      choice.general->name(), choice.refused.front().conduit, choice.refused.front().reason);
  if (choice.rule->require || choice.rule->on_fallback == Fallback::fail) {
    throw Error(CWY_ERR_UNREACHABLE, "{}", text);
  }
  if (choice.rule->on_fallback == Fallback::warn) log_warn("{}", text);
}

}  // namespace

const PeerRule* rule_for(const Config& config, const PeerFacts& peer) {
  for (const PeerRule& rule : config.peers) {
    if (rule.matches(peer.locality, peer.host, peer.desc.peer.rank)) return &rule;
  }
  return nullptr;
}

Choice choose(const Config& config, const ConduitSet& set, const PeerFacts& peer) {
  Choice choice;
  choice.rule = rule_for(config, peer);
  if (choice.rule == nullptr) throw Error(CWY_ERR_UNREACHABLE, "{}", describe(peer, {}, nullptr));
  for (const std::string& name : choice.rule->use) {
    Conduit* conduit = set.find(name);
    const std::string reason =
        conduit == nullptr ? missing_reason(set, name) : refusal_reason(*conduit, peer);
    if (reason.empty()) {
      choice.general = conduit;
      break;
    }
    choice.refused.push_back({name, reason});
    if (choice.rule->require) break;
  }
  if (choice.general == nullptr) {
    throw Error(CWY_ERR_UNREACHABLE, "{}", describe(peer, choice.refused, choice.rule));
  }
  if (!choice.refused.empty()) obey_fallback(choice, peer);
  const PeerRule& rule = *choice.rule;
  choice.put = directed(set, peer, rule, "put", choice.general, choice);
  choice.get = directed(set, peer, rule, "get", choice.general, choice);
  choice.atomic = directed(set, peer, rule, "atomic", choice.general, choice);
  choice.am = directed(set, peer, rule, "am", choice.general, choice);
  return choice;
}

}  // namespace causeway
