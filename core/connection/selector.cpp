#include "connection/selector.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/log.h"
#include "config/peer_rules.h"
#include "loader/one_line.h"
#include "loader/plugin_call.h"

namespace causeway {
namespace {

constexpr std::array<const char*, kOperationKinds> kKindWords{"put", "get", "atomic", "am"};

// Empty when `conduit` reaches the peer; otherwise the reason.
std::string refusal_reason(const Conduit& conduit, const PeerFacts& peer) {
  cwyc_peer_desc desc = peer.desc;
  if (peer.addresses != nullptr) {
    const auto found = peer.addresses->find(conduit.name());
    if (!found) return fmt::format("rank {} has not opened it", peer.desc.peer.rank);
    if (!peer.supposed) {
      desc.address = found->data();
      desc.address_len = found->size();
    }
  }
  cwy_err err{CWY_HEAD(cwy_err), CWY_OK, 0, {}};
  const cwy_status status = plugin_call({"conduit", conduit.name()}, "reach", [&] {
    return conduit.module().reach(conduit.domain(), &desc, &err);
  });
  if (status == CWY_OK) return {};
  return reason(err, status);
}

std::string missing_reason(const ConduitSet& set, const std::string& name) {
  for (const ConduitFailure& failure : set.failures)
    if (failure.name == name) return failure.reason;
  return "not defined under conduits:";
}

std::string describe(const ConduitSet& set, const std::vector<Refusal>& refused,
                     const PeerRule* rule) {
  if (rule == nullptr) {
    std::string text = "no entry of peers: matches it; add one";
    // Without shm no rank is a neighbor, so a rule for neighbors does not match.
    const char* separator = "; not there, which may be why: ";
    for (const ConduitFailure& failure : set.failures) {
      if (failure.unnamed) continue;
      text += fmt::format("{}{}: {}", separator, failure.name, failure.reason);
      separator = "; ";
    }
    return text;
  }
  std::string text = fmt::format("by {} ({})", rule->label, rule->where.str());
  for (const Refusal& r : refused) text += fmt::format("; {}: {}", r.conduit, r.reason);
  return text;
}

[[noreturn]] void refuse(const PeerFacts& peer, const std::string& reason, const PeerRule* rule,
                         const std::vector<Refusal>& refused) {
  throw Unreachable(
      fmt::format("rank {} on host {} ({}) cannot be reached: {}", peer.desc.peer.rank, peer.host,
                  locality_word(peer.locality), reason),
      reason, rule, refused);
}

// Finds out once per name which of its conduits reach the peer, and keeps why others do not.
class Chooser {
 public:
  Chooser(const Config& config, const ConduitSet& set, const PeerFacts& peer, Choice& choice)
      : config_(config), set_(set), peer_(peer), rule_(*choice.rule), choice_(choice) {}

  void choose_all() {
    choose_general();
    for (size_t kind = 0; kind < kOperationKinds; ++kind) choose_spans(kind);
    const auto smallest = [&](OperationKind kind) {
      return choice_.of(kind).front().carrier.conduits.front();
    };
    choice_.put = smallest(OperationKind::put);
    choice_.get = smallest(OperationKind::get);
    choice_.atomic = smallest(OperationKind::atomic);
    choice_.am = smallest(OperationKind::am);
    obey_fallback();
  }

 private:
  // No conduits: it does not reach the peer; the reasons have been kept.
  const Carrier& carrier(const std::string& name, const std::string& purpose) {
    const auto [at, fresh] = known_.emplace(name, Carrier{});
    Carrier& out = at->second;
    if (!fresh) return out;
    const RailSpec* rail = config_.find_rail(name);
    if (rail == nullptr) {
      add(out, name, name + purpose);
      return out;
    }
    for (const std::string& member : rail->use)
      add(out, member, fmt::format("{} of rail {}{}", member, name, purpose));
    if (out.conduits.size() > 1) out.rail = rail;  // one that is left alone serves like any other
    return out;
  }

  void add(Carrier& carrier, const std::string& name, const std::string& who) {
    Conduit* conduit = set_.lane_of(name, peer_.pair);
    const std::string reason =
        conduit == nullptr ? missing_reason(set_, name) : refusal_reason(*conduit, peer_);
    if (reason.empty())
      carrier.conduits.push_back(conduit);
    else
      choice_.refused.push_back({who, reason});
  }

  void choose_general() {
    for (const std::string& name : rule_.use) {
      general_ = carrier(name, "");
      if (!general_.conduits.empty()) break;
      if (rule_.require) break;
    }
    if (general_.conduits.empty())
      refuse(peer_, describe(set_, choice_.refused, &rule_), &rule_, choice_.refused);
    choice_.general = general_.conduits.front();
  }

  // Sizes at which another entry of `sizes:` may begin to hold.
  std::set<uint64_t> borders(const std::string& operation) const {
    std::set<uint64_t> out{0};
    for (const SizeRule& size : rule_.sizes) {
      if (!size.covers(operation, size.from)) continue;
      out.insert(size.from);
      if (size.to != UINT64_MAX) out.insert(size.to + 1);
    }
    return out;
  }

  SizeSpan span_at(const std::string& operation, uint64_t size) {
    for (size_t i = 0; i < rule_.sizes.size() && operation != "atomic"; ++i) {
      const SizeRule& entry = rule_.sizes[i];
      if (!entry.covers(operation, size)) continue;
      const Carrier& found = carrier(entry.use, fmt::format(" for sizes[{}]", i));
      if (!found.conduits.empty()) return {UINT64_MAX, found, fmt::format("sizes[{}]", i)};
    }
    if (const auto directed = rule_.operations.find(operation);
        directed != rule_.operations.end()) {
      const Carrier& found = carrier(directed->second, " for " + operation);
      if (!found.conduits.empty()) return {UINT64_MAX, found, "operations." + operation};
    }
    return {UINT64_MAX, general_, "use"};
  }

  void choose_spans(size_t kind) {
    const std::string operation = kKindWords[kind];
    std::vector<SizeSpan>& spans = choice_.spans[kind];
    for (const uint64_t from : operation == "atomic" ? std::set<uint64_t>{0} : borders(operation)) {
      SizeSpan span = span_at(operation, from);
      if (operation == "atomic") {
        // Those of a network on a rank's memory have to meet in one domain.
        Conduit* const first = span.carrier.conduits.front();
        span.carrier = {nullptr, {first->has_atomics() ? set_.first_lane(first) : first}};
      }
      if (!spans.empty() && spans.back().carrier == span.carrier) continue;
      if (!spans.empty()) spans.back().to = from - 1;
      spans.push_back(std::move(span));
    }
  }

  void obey_fallback() {
    if (choice_.refused.empty()) return;
    const Refusal& first = choice_.refused.front();
    const std::string text = fmt::format("{} takes {} because {} was refused: {}", rule_.label,
                                         choice_.summary(), first.conduit, first.reason);
    if (rule_.require || rule_.on_fallback == Fallback::fail)
      refuse(peer_, text, &rule_, choice_.refused);
    if (rule_.on_fallback == Fallback::warn)
      choice_.warning = fmt::format("rank {}: {}", peer_.desc.peer.rank, text);
  }

  const Config& config_;
  const ConduitSet& set_;
  const PeerFacts& peer_;
  const PeerRule& rule_;
  Choice& choice_;
  Carrier general_;
  std::map<std::string, Carrier> known_;
};

std::string spans_text(const std::vector<SizeSpan>& spans) {
  std::string out;
  uint64_t from = 0;
  for (const SizeSpan& span : spans) {
    if (!out.empty()) out += fmt::format(", from {} bytes ", from);
    out += span.carrier.name();
    from = span.to + 1;
  }
  return out;
}

}  // namespace

const char* operation_kind_word(OperationKind kind) {
  return kKindWords[static_cast<size_t>(kind)];
}

std::string Carrier::name() const {
  std::string members;
  for (const Conduit* conduit : conduits)
    members += (members.empty() ? "" : "+") + conduit->spec().name;
  return is_rail() ? fmt::format("{} ({})", rail->name, members) : members;
}

Conduit* Choice::only(OperationKind kind) const {
  const std::vector<SizeSpan>& all = of(kind);
  return all.size() == 1 && !all[0].carrier.is_rail() ? all[0].carrier.conduits[0] : nullptr;
}

bool Choice::uses(const Conduit* conduit) const {
  return std::ranges::any_of(spans, [&](const std::vector<SizeSpan>& all) {
    return std::ranges::any_of(all, [&](const SizeSpan& span) {
      const auto& c = span.carrier.conduits;
      return std::ranges::find(c, conduit) != c.end();
    });
  });
}

std::string Choice::summary() const {
  std::array<std::string, kOperationKinds> texts;
  for (size_t kind = 0; kind < kOperationKinds; ++kind) texts[kind] = spans_text(spans[kind]);
  // Atomics go through the first conduit of a rail, and the first lane: not worth a word.
  const std::string& messages = texts[static_cast<size_t>(OperationKind::am)];
  const Conduit* const carrier = of(OperationKind::am).front().carrier.conduits.front();
  const bool same = std::ranges::all_of(texts, [&](const std::string& t) {
    return t == messages || (&t == &texts[static_cast<size_t>(OperationKind::atomic)] &&
                             atomic->spec().name == carrier->spec().name);
  });
  if (same) return messages;
  std::string out;
  for (size_t kind = 0; kind < kOperationKinds; ++kind)
    out += fmt::format("{}{} {}", out.empty() ? "" : "; ", kKindWords[kind], texts[kind]);
  return out;
}

const PeerRule* rule_for(const Config& config, const PeerFacts& peer) {
  for (const PeerRule& rule : config.peers)
    if (rule.matches(peer.locality, peer.host, peer.desc.peer.rank)) return &rule;
  return nullptr;
}

Choice choose(const Config& config, const ConduitSet& set, const PeerFacts& peer) {
  Choice choice;
  choice.rule = rule_for(config, peer);
  if (choice.rule == nullptr) refuse(peer, describe(set, {}, nullptr), nullptr, {});
  Chooser(config, set, peer, choice).choose_all();
  return choice;
}

}  // namespace causeway
