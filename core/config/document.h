// Document: a YAML text as a tree that remembers where every key and value was written.
//
// yaml-cpp parses; its events build this tree instead of YAML::Node, which forgets quoting,
// the position of keys, and duplicate keys, and which expands aliases without bound.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "config/problem.h"

namespace causeway {

struct Entry;

struct Node {
  enum class Kind { null, scalar, list, map };
  Kind kind = Kind::null;
  bool written_null = false;  // `null` or `~` stands in the text, as opposed to nothing at all
  bool pruned = false;        // validation removed an entry of this map
  std::string text;           // scalar; of a written null, its spelling
  Origin where;
  std::vector<Node> items;     // list
  std::vector<Entry> entries;  // map, in file order, keys unique

  Entry* find_entry(const std::string& key);
  const Node* find(const std::string& key) const;
};

struct Entry {
  std::string key;
  Origin key_where;
  Node value;
};

// "a map", "a list", "'text'", "nothing": for "expected X, found Y".
std::string describe(const Node& node);
// "'text'", cut where it is long, and without control characters.
std::string quoted(const std::string& text);

// Parses one YAML document. What is wrong goes to `problems`; a text that is no YAML gives
// nullopt, an empty one a null node. Columns count bytes. Never throws for what `text` holds.
std::optional<Node> parse_document(const std::string& text, const std::string& source,
                                   Problems& problems);

// A map as YAML: equal exactly for maps that mean the same.
std::string document_text(const Node& root);

// Every position of the tree becomes `where`.
void set_origin(Node& node, const Origin& where);

}  // namespace causeway
