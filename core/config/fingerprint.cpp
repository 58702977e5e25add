// document_text: keys in alphabetical order and values in canonical spelling, so that equal texts
// mean equal configurations, however their sources were written.
#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "base/shown_text.h"
#include "config/document.h"

namespace causeway {
namespace {

bool is_plain(const std::string& text) {
  if (text.empty() || text == "null" || text == "Null" || text == "NULL") return false;
  const auto safe = [](char c) {
    return std::string_view("_./+").find(c) != std::string_view::npos || (c >= '0' && c <= '9') ||
           (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  return safe(text[0]) && std::ranges::all_of(text, [&](char c) { return safe(c) || c == '-'; });
}

std::string scalar_text(const std::string& text) {
  if (is_plain(text)) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (is_control(c)) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

bool is_leaf(const Node& node) {
  return node.entries.empty() && node.items.empty();
}

std::string leaf_text(const Node& node) {
  if (node.kind == Node::Kind::map) return "{}";
  return node.kind == Node::Kind::list ? "[]" : scalar_text(node.text);
}

void emit_members(const Node& map, size_t indent, bool first_line_open, std::string& out);

void emit_list(const Node& list, size_t indent, std::string& out) {
  if (std::ranges::all_of(list.items, is_leaf)) {
    std::string line;
    for (const Node& item : list.items) line += (line.empty() ? "" : ", ") + leaf_text(item);
    out += " [" + line + "]\n";
    return;
  }
  out += '\n';
  for (const Node& item : list.items) {
    out += std::string(indent, ' ') + "- ";
    if (is_leaf(item))
      out += leaf_text(item) + '\n';
    else
      emit_members(item, indent + 2, true, out);
  }
}

void emit_members(const Node& map, size_t indent, bool first_line_open, std::string& out) {
  std::vector<const Entry*> sorted;
  for (const Entry& entry : map.entries) sorted.push_back(&entry);
  std::ranges::sort(sorted, {}, &Entry::key);
  for (const Entry* entry : sorted) {
    const Node& child = entry->value;
    if (!first_line_open) out.append(indent, ' ');
    first_line_open = false;
    out += scalar_text(entry->key) + ':';
    if (is_leaf(child)) {
      out += ' ' + leaf_text(child) + '\n';
    } else if (!child.items.empty()) {
      emit_list(child, indent + 2, out);
    } else {
      out += '\n';
      emit_members(child, indent + 2, false, out);
    }
  }
}

}  // namespace

std::string document_text(const Node& root) {
  std::string out;
  emit_members(root, 0, false, out);
  return out;
}

}  // namespace causeway
