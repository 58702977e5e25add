#include "collective/table.h"

#include <gasnet_fwd.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "base/error.h"

namespace causeway {
namespace {

bool fits(const cwyl_candidate& c, const cwyl_shape& shape) {
  return c.operation == shape.operation && shape.bytes >= c.min_bytes &&
         shape.bytes <= c.max_bytes && shape.team_size >= c.min_team &&
         shape.team_size <= c.max_team && (!(shape.flags & CWYL_NEED_ORDER) || c.keeps_order);
}

// "plugin/algorithm", "plugin/*", "algorithm", "*/algorithm" or "*".
bool names(const std::string& pattern, const CollectiveTable::Candidate& c) {
  const size_t slash = pattern.find('/');
  const std::string plugin = slash == std::string::npos ? "*" : pattern.substr(0, slash);
  const std::string algorithm = slash == std::string::npos ? pattern : pattern.substr(slash + 1);
  return (plugin == "*" || plugin == c.plugin) &&
         (algorithm == "*" || algorithm == c.algorithm->name);
}

bool type_matches(const std::string& word, uint32_t dt) {
  constexpr std::array<std::pair<const char*, gex_DT_t>, 7> kTypes{{{"i32", GEX_DT_I32},
                                                                    {"u32", GEX_DT_U32},
                                                                    {"i64", GEX_DT_I64},
                                                                    {"u64", GEX_DT_U64},
                                                                    {"flt", GEX_DT_FLT},
                                                                    {"dbl", GEX_DT_DBL},
                                                                    {"user", GEX_DT_USER}}};
  if (word == "any") return true;
  return std::ranges::any_of(
      kTypes, [&](const auto& type) { return word == type.first && dt == type.second; });
}

bool locality_matches(const std::string& word, const cwyl_shape& shape) {
  if (word == "nbrhd") return shape.nbrhd_count == 1;
  if (word == "host") return shape.host_count == 1;
  return word == "any" || shape.host_count > 1;
}

bool memory_matches(const std::string& word, uint32_t classes) {
  constexpr uint32_t kHost = 1u << CWY_MEM_HOST;
  if (word == "any") return true;
  if (word == "host") return classes == kHost;
  if (word == "device") return classes != kHost;
  const auto kind = memory_class_of(word);
  return kind && (classes & 1u << *kind) != 0;
}

}  // namespace

std::optional<uint32_t> memory_class_of(const std::string& word) {
  if (word == "cuda") return CWY_MEM_CUDA;
  if (word == "hip") return CWY_MEM_HIP;
  if (word == "ze") return CWY_MEM_ZE;
  return std::nullopt;
}

const char* operation_word(uint32_t operation) {
  static constexpr const char* kWords[] = {"barrier", "broadcast", "reduce_one", "reduce_all"};
  static_assert(std::size(kWords) == CWYL_OPERATIONS);
  return operation < CWYL_OPERATIONS ? kWords[operation] : "unknown operation";
}

bool rule_matches(const CollectiveRule& rule, const cwyl_shape& shape, uint32_t memory) {
  return (rule.operation == "any" || rule.operation == operation_word(shape.operation)) &&
         shape.bytes >= rule.from && shape.bytes <= rule.to && shape.team_size >= rule.ranks_from &&
         shape.team_size <= rule.ranks_to && locality_matches(rule.locality, shape) &&
         type_matches(rule.type, shape.dt) && memory_matches(rule.memory, memory);
}

CollectiveTable::CollectiveTable(const Config& config, Loader& loader)
    : rules_(config.collective_rules) {
  for (const std::string& name : config.collective_plugins) {
    CollectivePlugin* plugin = loader.collective(name);
    if (plugin == nullptr) continue;  // reported by the loader
    for (const cwyl_candidate& c : plugin->candidates) {
      candidates_.push_back(
          {name, plugin->manifest.version, &c, std::make_shared<std::atomic<uint64_t>>(0)});
    }
  }
  std::ranges::stable_sort(candidates_, [](const auto& a, const auto& b) {
    return std::tuple(a.plugin, std::string_view(a.algorithm->name)) <
           std::tuple(b.plugin, std::string_view(b.algorithm->name));
  });
  std::string wrong;
  for (const CollectiveRule& rule : rules_) {
    try {
      require_known(rule);
    } catch (const Error& e) {
      wrong += (wrong.empty() ? "" : "\n") + e.text();
    }
  }
  if (!wrong.empty()) throw Error(CWY_ERR_INVALID, "{}", wrong);
}

// A rule that can never hold is a misspelling more often than a wish for the future.
void CollectiveTable::require_known(const CollectiveRule& rule) const {
  std::string wrong;
  for (const std::string& pattern : rule.use) {
    const auto known = [&](const Candidate& c) {
      return names(pattern, c) &&
             (rule.operation == "any" || rule.operation == operation_word(c.algorithm->operation));
    };
    if (std::ranges::any_of(candidates_, known)) continue;
    std::vector<std::string> words;
    for (const Candidate& c : candidates_) {
      if (rule.operation == "any" || rule.operation == operation_word(c.algorithm->operation)) {
        words.push_back(c.name());
        words.push_back(c.algorithm->name);
      }
    }
    wrong += fmt::format(
        "{}{}: rule {} names the algorithm '{}', which no loaded collective plugin has for "
        "{}{}; `causeway explain --collectives` lists them",
        wrong.empty() ? "" : "\n", rule.where.str(), rule.label, pattern,
        rule.operation == "any" ? "any operation" : rule.operation, meant_hint(pattern, words));
  }
  if (!wrong.empty()) throw Error(CWY_ERR_INVALID, "{}", wrong);
}

const CollectiveTable::Candidate* CollectiveTable::by_rule(const CollectiveRule& rule,
                                                           const cwyl_shape& shape) const {
  for (const std::string& pattern : rule.use) {
    const Candidate* best = nullptr;
    int32_t best_score = -1;
    for (const Candidate& c : candidates_) {
      if (!names(pattern, c) || !fits(*c.algorithm, shape)) continue;
      const int32_t score = c.algorithm->score(&shape);
      if (score <= best_score) continue;
      best = &c;
      best_score = score;
    }
    if (best != nullptr) return best;
  }
  return nullptr;
}

CollectiveTable::Choice CollectiveTable::choose(const cwyl_shape& shape, uint32_t memory) const {
  for (const CollectiveRule& rule : rules_) {
    if (!rule_matches(rule, shape, memory)) continue;
    if (const Candidate* found = by_rule(rule, shape))
      return {found, &rule, found->algorithm->score(&shape)};
    if (rule.require) {
      throw Error(CWY_ERR_UNSUPPORTED,
                  "rule {} ({}) requires an algorithm that cannot serve a {} of {} bytes among {} "
                  "members; name another one in its `use`, or drop `require`",
                  rule.label, rule.where.str(), operation_word(shape.operation), shape.bytes,
                  shape.team_size);
    }
  }
  Choice best{nullptr, nullptr, -1};
  for (const Candidate& c : candidates_) {
    if (!fits(*c.algorithm, shape)) continue;
    const int32_t score = c.algorithm->score(&shape);
    if (score > best.score) best = {&c, nullptr, score};
  }
  if (best.candidate == nullptr) {
    throw Error(CWY_ERR_UNSUPPORTED,
                "no loaded collective plugin offers a {} of {} bytes for {} members; check "
                "plugins.collectives and `causeway info`",
                operation_word(shape.operation), shape.bytes, shape.team_size);
  }
  return best;
}

}  // namespace causeway
