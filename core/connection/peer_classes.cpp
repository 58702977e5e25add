#include "connection/peer_classes.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <tuple>

#include "base/context.h"
#include "base/error.h"
#include "base/log.h"
#include "config/config.h"
#include "config/load_config.h"
#include "config/peer_rules.h"
#include "connection/conduit_set.h"
#include "fmt/ranges.h"

namespace causeway {
namespace {

void look_at(const Config& config, const ConduitSet& set, const PeerFacts& peer, PeerClass& out) {
  try {
    const Choice choice = choose(config, set, peer);
    out.choice = choice.summary();
    out.warning = choice.warning;
    for (const auto& conduit : set.conduits)
      if (choice.uses(conduit.get())) out.conduits.insert(conduit.get());
  } catch (const Error& e) {
    out.unreachable = e.text();
  }
}

// ---- ranks that read another configuration ----

// The setting of Config::text that `at` lies in or before, behind the keys that it lies under.
std::string setting_at(const std::string& text, size_t at) {
  std::vector<std::pair<size_t, std::string>> keys;  // by indentation, each behind those above it
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t indent = std::min(line.find_first_not_of(" -"), line.size());
    std::string under;  // the keys that the line lies under
    while (!keys.empty() && keys.back().first >= indent) keys.pop_back();
    if (!keys.empty()) under = keys.back().second + " ";
    keys.emplace_back(indent, under + line.substr(indent));
    if (static_cast<size_t>(lines.tellg()) > at && !line.ends_with(':')) return keys.back().second;
  }
  return "nothing more";
}

std::string first_difference(const std::string& here, const std::string& there) {
  const size_t at = std::ranges::mismatch(here, there).in1 - here.begin();
  return fmt::format("'{}' there, '{}' here", setting_at(there, at), setting_at(here, at));
}

std::string way(const PeerRule* rule) {
  if (rule == nullptr) return "by no rule";
  return fmt::format("by rule {} (use: {})", rule->label, fmt::join(rule->use, ", "));
}

// Where another rank's configuration parts from this one's, and which way either would take; ""
// where its text is not known.
std::string difference(const Config& config, const JobFacts& job, uint32_t rank,
                       const std::string& text) {
  if (text.empty()) return {};
  std::string out = ": " + first_difference(config.text, text);
  ConfigSources sources;
  sources.identity_label = fmt::format("configuration of rank {}", rank);
  sources.identity_text = text;
  sources.site_file = "";
  const CheckedConfig theirs = check_config(sources);
  if (!theirs.config) return out;
  const std::string there = way(rule_for(config, job.facts_of(rank, nullptr)));
  const std::string back = way(rule_for(*theirs.config, job.facts_seen_from(rank)));
  return out + fmt::format("; rank {} would reach rank {} {}, and rank {} rank {} {}", job.rank(),
                           rank, there, rank, job.rank(), back);
}

// ---- what was chosen ----

// The choice that the class would make towards this rank. Rules that name ranks or hosts may have
// the two directions go different ways, which works, but is seldom meant.
PeerClass way_back(const Config& config, const ConduitSet& set, const JobFacts& job,
                   const PeerClass& c) {
  const PeerFacts back = job.facts_seen_from(c.first);
  if (rule_for(config, back) == c.rule) return c;
  PeerClass out;
  look_at(config, set, back, out);
  return out;
}

void tell(const JobFacts& job, const PeerClass& c, const PeerClass& back) {
  const std::string ranks = c.count == 1
                                ? fmt::format("rank {}", c.first)
                                : fmt::format("{} ranks, the first of them {}", c.count, c.first);
  const char* near = locality_word(c.locality);
  if (!c.unreachable.empty()) {
    log_info("{} ({}): unreachable: {}", ranks, near, c.unreachable);
    return;
  }
  log_info("{} ({}): {}, by rule {}", ranks, near, c.choice, c.rule->label);
  if (!c.warning.empty()) log_warn("{}", c.warning);
  if (back.choice == c.choice || job.rank() > c.first) return;
  log_info("rank {} reaches rank {} by {}, but rank {} reaches rank {} by {}", job.rank(), c.first,
           c.choice, c.first, job.rank(), back.choice.empty() ? "nothing" : back.choice);
}

}  // namespace

void refuse_other_configuration(uint32_t rank, const std::string& text) {
  const JobFacts& job = context().job();
  throw Error(CWY_ERR_INVALID,
              "rank {} runs with another configuration than rank {}{}; give every rank the same "
              "CAUSEWAY_CONFIG, CAUSEWAY_SET and GASNET_ variables",
              rank, job.rank(), difference(context().config(), job, rank, text));
}

std::vector<PeerClass> peer_classes(const Config& config, const ConduitSet& set,
                                    const JobFacts& job) {
  // Rule, locality, and what the peer opened: all that a choice depends on, but for its lane and
  // for what conduits find in single addresses.
  using Key = std::tuple<const PeerRule*, Locality, std::string>;
  uint32_t lanes = 1;  // powers of two, so that the most tell all apart
  for (const auto& conduit : set.conduits) lanes = std::max(lanes, conduit->spec().lanes);
  std::map<Key, size_t> known;
  std::set<std::pair<size_t, uint32_t>> looked;  // class, lane
  std::vector<PeerClass> out;
  for (uint32_t r = 0; r < job.size(); ++r) {
    const PeerFacts peer = job.facts_for_rules(r, job.locality(r));
    const PeerRule* rule = rule_for(config, peer);
    const Key key{rule, peer.locality, job.kind(r).opened};
    const auto [at, fresh] = known.emplace(key, out.size());
    if (fresh) {
      PeerClass c;
      c.rule = rule;
      c.locality = peer.locality;
      c.first = r;
      out.push_back(std::move(c));
    }
    PeerClass& c = out[at->second];
    ++c.count;
    if (looked.emplace(at->second, peer.pair % lanes).second)
      look_at(config, set, job.facts_of(r, nullptr), c);
  }
  return out;
}

void settle_peers(const ConduitEps& eps) {
  const ProcessContext& rt = context();
  const Config& config = rt.config();
  const ConduitSet& set = rt.conduits();
  const JobFacts& job = rt.job();
  const std::vector<PeerClass> classes = peer_classes(config, set, job);
  std::set<const Conduit*> used;
  std::set<std::string> came;  // conduits of which every lane may be come by
  for (const PeerClass& c : classes) {
    const PeerClass back = way_back(config, set, job, c);
    used.insert(c.conduits.begin(), c.conduits.end());
    if (back.rule != c.rule)
      for (const Conduit* conduit : back.conduits) came.insert(conduit->spec().name);
    tell(job, c, back);
  }
  for (const auto& cep : eps) {
    const ConduitSpec& spec = cep->conduit->spec();
    const bool needed =
        spec.open_always || used.count(cep->conduit) != 0 || came.count(spec.name) != 0;
    cep->needed.store(needed, std::memory_order_relaxed);
    if (!needed)
      log_info("conduit {} serves nobody in this job and is not polled", cep->conduit->name());
  }
}

Choice choice_for(uint32_t rank) {
  const ProcessContext& rt = context();
  return choose(rt.config(), rt.conduits(), rt.job().facts_of(rank, nullptr));
}

}  // namespace causeway
