#include "collective/table.h"

#include "diag/error.h"

namespace causeway {
namespace {

bool fits(const cwyl_candidate& c, const cwyl_shape& shape) {
  return c.operation == shape.operation && shape.bytes >= c.min_bytes &&
         shape.bytes <= c.max_bytes && shape.team_size >= c.min_team &&
         shape.team_size <= c.max_team && (!(shape.flags & CWYL_NEED_ORDER) || c.keeps_order) &&
         (shape.memkind_classes & ~c.memkind_classes) == 0;
}

}  // namespace

const char* operation_word(uint32_t operation) {
  switch (operation) {
    case CWYL_BARRIER:
      return "barrier";
    case CWYL_BROADCAST:
      return "broadcast";
    case CWYL_REDUCE_ONE:
      return "reduce-to-one";
    case CWYL_REDUCE_ALL:
      return "reduce-to-all";
    default:
      return "unknown operation";
  }
}

CollectiveTable::CollectiveTable(const Config& config, Loader& loader) {
  for (const std::string& name : config.collective_plugins) {
    CollectivePlugin* plugin = loader.collective(name);
    if (plugin == nullptr) continue;  // reported by the loader
    for (const cwyl_candidate& c : plugin->candidates) candidates_.push_back({name, &c});
  }
}

const CollectiveTable::Candidate& CollectiveTable::choose(const cwyl_shape& shape) const {
  const Candidate* best = nullptr;
  int32_t best_score = -1;
  for (const Candidate& c : candidates_) {
    if (!fits(*c.algorithm, shape)) continue;
    const int32_t score = c.algorithm->score(&shape);
    if (score > best_score) {
      best = &c;
      best_score = score;
    }
  }
  if (best == nullptr) {
    throw Error(CWY_ERR_UNSUPPORTED,
                "no loaded collective plugin offers a {} for {} members; check plugins.collective "
                "and `causeway info`",
                operation_word(shape.operation), shape.team_size);
  }
  return *best;
}

}  // namespace causeway
