#include "config/steps.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace causeway {
namespace {

struct Merger {
  Removals& removals;
  Problems& problems;

  void merge_maps(const Schema& schema, const std::string& path, Node& base, Node over) {
    for (Entry& entry : over.entries) {
      const std::string child_path = path.empty() ? entry.key : path + "." + entry.key;
      const Schema* child =
          schema.type == ValueType::named_map ? schema.each.get() : schema.find(entry.key);
      if (child == nullptr) continue;
      if (entry.value.kind == Node::Kind::null) {
        remove(child_path, base, entry);
        continue;
      }
      removals.erase(child_path);
      merge_entry(*child, child_path, base, std::move(entry));
    }
  }

  void merge_entry(const Schema& schema, const std::string& path, Node& base, Entry entry) {
    const bool mergeable = schema.type == ValueType::map || schema.type == ValueType::named_map;
    Entry* held = base.find_entry(entry.key);
    if (held == nullptr) {
      // A map comes through the merge too, so that a removal below a new entry is noticed.
      Node empty;
      empty.kind = Node::Kind::map;
      empty.where = entry.value.where;
      empty.pruned = entry.value.pruned;
      held = &base.entries.emplace_back(Entry{entry.key, {}, std::move(empty)});
    }
    held->key_where = entry.key_where;
    if (mergeable)
      merge_maps(schema, path, held->value, std::move(entry.value));
    else
      held->value = std::move(entry.value);
  }

  void remove(const std::string& path, Node& base, const Entry& entry) {
    const auto found = std::ranges::find(base.entries, entry.key, &Entry::key);
    if (found == base.entries.end()) {
      problems.add(entry.key_where,
                   fmt::format("nothing to remove: no earlier source has {}", path));
      return;
    }
    base.entries.erase(found);
    removals[path] = entry.key_where;
  }
};

}  // namespace

void merge(const Schema& schema, Node& base, Node over, Removals& removals, Problems& problems) {
  base.kind = Node::Kind::map;
  Merger{removals, problems}.merge_maps(schema, "", base, std::move(over));
}

}  // namespace causeway
