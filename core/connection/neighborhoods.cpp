#include "connection/neighborhoods.h"

#include <map>

#include "base/context.h"
#include "bootstrap/bootstrap.h"
#include "config/config.h"
#include "config/rank_set.h"
#include "connection/conduit_set.h"
#include "connection/job.h"
#include "connection/mapping.h"

namespace causeway {
namespace {

// Ranks that have opened the same conduits, which map the same, choose alike: each can say for
// every other what its neighbors would do.
bool all_alike(const JobFacts& job) {
  const CardKind& own = job.kind(job.rank());
  for (uint32_t r = 0; r < job.size(); ++r) {
    const CardKind& kind = job.kind(r);
    if (job.present(r) && (kind.maps != own.maps || kind.opened != own.opened)) return false;
  }
  return true;
}

// Whether a rank is mapped depends on the rule by which its neighbors reach it, and on nothing that
// tells these apart.
std::vector<uint32_t> divide_alike(const JobFacts& job) {
  const Config& config = context().config();
  const std::string& words = job.kind(job.rank()).maps;
  std::map<const PeerRule*, bool> mapped;  // by what serves a rank
  std::map<uint64_t, uint32_t> lowest;     // of those that are mapped, by who could map them
  std::vector<uint32_t> out(job.size());
  for (uint32_t r = 0; r < job.size(); ++r) {
    out[r] = r;
    if (words.empty() || !job.present(r)) continue;
    const PeerRule* rule = rule_for(config, job.facts_for_rules(r, Locality::nbrhd));
    const auto [at, fresh] = mapped.emplace(rule, false);
    if (fresh)
      at->second = maps_segments(config, context().conduits(),
                                 job.facts_of(r, nullptr, Locality::nbrhd), words, words);
    if (at->second) out[r] = lowest.emplace(job.sharing_id(r), r).first->second;
  }
  return out;
}

// Ranks whose segments this one maps, itself included, as text.
std::string own_row(const JobFacts& job) {
  std::vector<uint32_t> row;
  const std::string& words = job.kind(job.rank()).maps;
  for (uint32_t r = 0; r < job.size(); ++r) {
    const bool maps = job.locality(r) == Locality::nbrhd && job.present(r) &&
                      maps_segments(context().config(), context().conduits(),
                                    job.facts_of(r, nullptr), words, job.kind(r).maps);
    if (maps || r == job.rank()) row.push_back(r);
  }
  return RankSet::of(row).str();
}

// Every rank says which ranks it maps. A replacement uses its own row alone: the others would take
// no part, and do not look at its neighborhood.
std::vector<uint32_t> divide_by_rows(const JobFacts& job) {
  Bootstrap& bootstrap = context().bootstrap();
  const std::string own = own_row(job);
  const CardTable texts = bootstrap.epoch() == 1
                              ? bootstrap.exchange(own, context().config().timeouts.start_ns)
                              : CardTable(std::vector<std::string>(job.size(), own));
  std::vector<RankSet> rows;
  std::vector<uint64_t> groups;
  for (uint32_t r = 0; r < job.size(); ++r) {
    rows.push_back(RankSet::parse(std::string(texts[r])));
    groups.push_back(job.sharing_id(r));
  }
  return divide_by_mapping(groups, [&](uint32_t a, uint32_t b) { return rows[a].contains(b); });
}

}  // namespace

std::vector<uint32_t> find_neighborhoods() {
  const JobFacts& job = context().job();
  return all_alike(job) ? divide_alike(job) : divide_by_rows(job);
}

}  // namespace causeway
