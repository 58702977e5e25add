#include "config/steps.h"

#include <fmt/core.h>

#include "config/config.h"

namespace causeway {
namespace {

struct ReferenceCheck {
  std::vector<std::string> known;  // conduits
  std::vector<std::string> rails;
  std::vector<std::string> used;  // of both, in any place
  const Removals& removals;
  Problems& problems;

  void visit(const Schema& schema, const std::string& path, const Node& node) {
    if (schema.type == ValueType::conduit) check(path, node);
    if (schema.type == ValueType::carrier && !holds(rails, node.text)) check(path, node);
    for (const Entry& entry : node.entries) {
      const Schema* child = schema.each ? schema.each.get() : schema.find(entry.key);
      if (child != nullptr)
        visit(*child, path.empty() ? entry.key : path + "." + entry.key, entry.value);
    }
    if (!schema.each) return;
    for (size_t i = 0; i < node.items.size(); ++i) {
      // A list of names is one place for a reader; a list of maps is one place per entry.
      const bool leaf =
          schema.each->type == ValueType::conduit || schema.each->type == ValueType::carrier;
      visit(*schema.each, leaf ? path : fmt::format("{}[{}]", path, i), node.items[i]);
    }
  }

  void check(const std::string& path, const Node& node) {
    used.push_back(node.text);
    if (holds(known, node.text)) return;
    std::string message = fmt::format("unknown conduit '{}' in {}", node.text, path);
    if (holds(rails, node.text))
      message += "; it is a rail, and only a conduit can stand here";
    else if (const auto removed = removals.find("conduits." + node.text); removed != removals.end())
      message += "; it was removed by " + removed->second.str();
    else if (const std::string hint = meant_hint(node.text, both()); !hint.empty())
      message += hint;
    else if (!known.empty())
      message += fmt::format("; known conduits: {}; 'conduits: {{{}: {{}}}}' adds it",
                             join_words(known, "and"), node.text);
    problems.add(node.where, message);
  }

  std::vector<std::string> both() const {
    std::vector<std::string> out = known;
    out.insert(out.end(), rails.begin(), rails.end());
    return out;
  }
};

// A conduit that no place uses, and whose name is close to one in use, is a slip: what is set there
// has no effect. A second one of a plugin has `plugin`.
void check_unused(const Node& conduits, const std::vector<std::string>& used,
                  std::vector<Problem>& warnings) {
  for (const Entry& entry : conduits.entries) {
    if (holds(used, entry.key) || entry.value.find("plugin") != nullptr) continue;
    if (const std::string hint = meant_hint(entry.key, used); !hint.empty())
      warnings.push_back({entry.key_where, "conduit '" + entry.key + "' is in no rule" + hint});
  }
}

// An entry that nothing fits is a slip.
void check_range(const Node& item, const char* low, const char* high, Problems& problems) {
  const Node *from = item.find(low), *to = item.find(high);
  if (from != nullptr && to != nullptr && parse_size(from->text) > parse_size(to->text))
    problems.add(item.where,
                 fmt::format("nothing is {} {} {} {}", low, from->text, high, to->text));
}

void check_ranges(const Node& root, Problems& problems) {
  if (const Node* peers = root.find("peers"))
    for (const Node& rule : peers->items)
      if (const Node* sizes = rule.find("sizes"))
        for (const Node& item : sizes->items) check_range(item, "from", "to", problems);
  const Node* const collectives = root.find("collectives");
  const Node* const rules = collectives != nullptr ? collectives->find("rules") : nullptr;
  for (size_t i = 0; rules != nullptr && i < rules->items.size(); ++i) {
    check_range(rules->items[i], "from", "to", problems);
    check_range(rules->items[i], "ranks_from", "ranks_to", problems);
  }
}

}  // namespace

void check_references(const Schema& schema, const Node& root, const Removals& removals,
                      Problems& problems, std::vector<Problem>& warnings) {
  ReferenceCheck check{{}, {}, {}, removals, problems};
  const Node* const conduits = root.find("conduits");
  if (conduits != nullptr)
    for (const Entry& entry : conduits->entries) check.known.push_back(entry.key);
  if (const Node* rails = root.find("rails")) {
    for (const Entry& entry : rails->entries) {
      check.rails.push_back(entry.key);
      if (!holds(check.known, entry.key)) continue;
      problems.add(entry.key_where,
                   fmt::format("rail '{}' has the name of a conduit; rename one", entry.key));
    }
  }
  check_ranges(root, problems);
  check.visit(schema, "", root);
  if (conduits != nullptr) check_unused(*conduits, check.used, warnings);
}

}  // namespace causeway
