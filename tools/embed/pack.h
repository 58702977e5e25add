// The packed form of a YAML document, which unpack_document() of core/config reads.
#pragma once

#include <fmt/core.h>

#include <string>

#include "config/document.h"

namespace causeway {

// A node: a letter for its kind, its line and column, and the bytes of its text, its items or its
// entries with how many they are before them; a zero is written as nothing. The key of an entry
// stands like a scalar's text.
inline void pack_document(const Node& node, std::string& out) {
  const auto number = [](size_t n) { return n == 0 ? " " : fmt::format("{} ", n); };
  const auto place = [&](const Origin& o) {
    return number(static_cast<size_t>(o.line)) + number(static_cast<size_t>(o.column));
  };
  const auto text = [&](const std::string& t) { return number(t.size()) + t; };
  switch (node.kind) {
    case Node::Kind::null:
      out += 'n' + place(node.where) + text(node.text);
      break;
    case Node::Kind::scalar:
      out += 's' + place(node.where) + text(node.text);
      break;
    case Node::Kind::list:
      out += 'l' + place(node.where) + number(node.items.size());
      for (const Node& item : node.items) pack_document(item, out);
      break;
    case Node::Kind::map:
      out += 'm' + place(node.where) + number(node.entries.size());
      for (const Entry& entry : node.entries) {
        out += place(entry.key_where) + text(entry.key);
        pack_document(entry.value, out);
      }
      break;
  }
}

}  // namespace causeway
