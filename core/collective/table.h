// CollectiveTable: the candidates of every loaded collective plugin, and the choice among them.
#pragma once

#include <causeway/collective.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "loader/loader.h"

namespace causeway {

class CollectiveTable {
 public:
  // Throws Error(CWY_ERR_INVALID) when a rule names an algorithm that no loaded plugin has.
  CollectiveTable(const Config& config, Loader& loader);

  struct Candidate {
    std::string plugin, version;
    const cwyl_candidate* algorithm;
    std::shared_ptr<std::atomic<uint64_t>> runs;  // begun in this process; relaxed
    std::string name() const { return plugin + "/" + algorithm->name; }
  };
  const std::vector<Candidate>& candidates() const { return candidates_; }
  const std::vector<CollectiveRule>& rules() const { return rules_; }

  // The choice and what made it: a rule, or NULL when the scores did.
  struct Choice {
    const Candidate* candidate;
    const CollectiveRule* rule;
    int32_t score;
  };
  // The first rule that matches and names a candidate that fits; without one, the fitting candidate
  // with the highest score, the first by plugin and name among equals. A pure function of its
  // argument, so members that share the facts agree. Throws Error when nothing fits.
  // `memory`: mask of 1<<cwy_memkind_class that members had bound. Algorithms see host memory only
  // (staging/stage.h), so it is a matter of rules and not of `shape`.
  Choice choose(const cwyl_shape& shape, uint32_t memory = 1u << CWY_MEM_HOST) const;

 private:
  const Candidate* by_rule(const CollectiveRule& rule, const cwyl_shape& shape) const;
  void require_known(const CollectiveRule& rule) const;

  std::vector<Candidate> candidates_;  // ordered by plugin and name
  std::vector<CollectiveRule> rules_;
};

// A short text that is equal on two ranks exactly when their tables are: plugins, versions,
// candidates with their ranges, and the scores of a sample of shapes.
const std::string& table_digest();

// "barrier", "broadcast", "reduce_one", "reduce_all".
const char* operation_word(uint32_t operation);
// The class of device memory that a rule's `memory:` names: cuda, hip or ze.
std::optional<uint32_t> memory_class_of(const std::string& word);
// Does the rule speak of calls of this shape over teams with this memory (Team::memory_classes)?
bool rule_matches(const CollectiveRule& rule, const cwyl_shape& shape, uint32_t memory);

}  // namespace causeway
