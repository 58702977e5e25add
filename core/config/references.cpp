#include "config/references.h"

#include <fmt/core.h>

#include <algorithm>

#include "config/validate.h"

namespace causeway {
namespace {

struct ReferenceCheck {
  std::vector<std::string> known;
  const Removals& removals;
  Problems& problems;

  void visit(const Schema& schema, const std::string& path, const Node& node) {
    if (schema.type == ValueType::conduit) check(path, node);
    for (const Entry& entry : node.entries) {
      const Schema* child = schema.each ? schema.each.get() : schema.find(entry.key);
      if (child != nullptr)
        visit(*child, path.empty() ? entry.key : path + "." + entry.key, entry.value);
    }
    if (!schema.each) return;
    for (size_t i = 0; i < node.items.size(); ++i) {
      // A list of names is one place for a reader; a list of maps is one place per entry.
      const bool leaf = schema.each->type == ValueType::conduit;
      visit(*schema.each, leaf ? path : fmt::format("{}[{}]", path, i), node.items[i]);
    }
  }

  void check(const std::string& path, const Node& node) {
    if (std::find(known.begin(), known.end(), node.text) != known.end()) return;
    std::string message = fmt::format("unknown conduit '{}' in {}", node.text, path);
    if (const auto removed = removals.find("conduits." + node.text); removed != removals.end()) {
      message += "; it was removed by " + removed->second.str();
    } else if (const auto near = did_you_mean(node.text, known)) {
      message += fmt::format("; did you mean '{}'?", *near);
    } else if (!known.empty()) {
      message += "; known conduits: " + join_words(known, "and");
    }
    problems.add(node.where, message);
  }
};

}  // namespace

void check_references(const Schema& schema, const Node& root, const Removals& removals,
                      Problems& problems) {
  ReferenceCheck check{{}, removals, problems};
  if (const Node* conduits = root.find("conduits")) {
    for (const Entry& entry : conduits->entries) check.known.push_back(entry.key);
  }
  check.visit(schema, "", root);
}

}  // namespace causeway
