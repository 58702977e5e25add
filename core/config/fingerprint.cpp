// config_fingerprint: the merged document as YAML, rebuilt from the leaves in Config::values.
// Keys stand in alphabetical order and values in canonical spelling, so that equal texts mean
// equal configurations, however their sources were written.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <string_view>

#include "config/config.h"

namespace causeway {
namespace {

struct Tree {
  std::string scalar;  // used when there are neither members nor items; "{}" and "[]" too
  std::map<std::string, Tree> members;
  std::map<size_t, Tree> items;
};

// Splits off "key" or "[12]" at the front of a dotted path.
Tree& descend(Tree& tree, std::string_view& path) {
  if (path.front() == '[') {
    const size_t end = std::min(path.find(']'), path.size() - 1);
    size_t index = 0;
    std::from_chars(path.data() + 1, path.data() + end, index);
    path.remove_prefix(end + 1);
    if (!path.empty() && path.front() == '.') path.remove_prefix(1);
    return tree.items[index];
  }
  const size_t end = path.find_first_of(".[");
  const std::string key(path.substr(0, end));
  path.remove_prefix(end == std::string_view::npos ? path.size() : end);
  if (!path.empty() && path.front() == '.') path.remove_prefix(1);
  return tree.members[key];
}

bool is_plain(const std::string& text) {
  if (text == "{}" || text == "[]") return true;
  if (text.empty() || text == "null" || text == "Null" || text == "NULL") return false;
  const auto safe = [](char c) {
    return std::string_view("_./+").find(c) != std::string_view::npos || (c >= '0' && c <= '9') ||
           (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  return safe(text[0]) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return safe(c) || c == '-'; });
}

std::string scalar_text(const std::string& text) {
  if (is_plain(text)) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

bool is_leaf(const Tree& tree) {
  return tree.members.empty() && tree.items.empty();
}

void emit_members(const Tree& tree, size_t indent, bool first_line_open, std::string& out);

void emit_list(const Tree& tree, size_t indent, std::string& out) {
  const bool leaves = std::all_of(tree.items.begin(), tree.items.end(),
                                  [](const auto& item) { return is_leaf(item.second); });
  if (leaves) {
    std::string line;
    for (const auto& item : tree.items) {
      line += (line.empty() ? "" : ", ") + scalar_text(item.second.scalar);
    }
    out += " [" + line + "]\n";
    return;
  }
  out += '\n';
  for (const auto& item : tree.items) {
    out += std::string(indent, ' ') + "- ";
    if (is_leaf(item.second)) {
      out += scalar_text(item.second.scalar) + '\n';
    } else {
      emit_members(item.second, indent + 2, true, out);
    }
  }
}

void emit_members(const Tree& tree, size_t indent, bool first_line_open, std::string& out) {
  for (const auto& [key, child] : tree.members) {
    if (!first_line_open) out.append(indent, ' ');
    first_line_open = false;
    out += scalar_text(key) + ':';
    if (is_leaf(child)) {
      out += ' ' + scalar_text(child.scalar) + '\n';
    } else if (!child.items.empty()) {
      emit_list(child, indent + 2, out);
    } else {
      out += '\n';
      emit_members(child, indent + 2, false, out);
    }
  }
}

}  // namespace

std::string config_fingerprint(const Config& config) {
  Tree root;
  for (const auto& [path, text] : config.values) {
    Tree* tree = &root;
    for (std::string_view rest = path; !rest.empty();) tree = &descend(*tree, rest);
    tree->scalar = text;
  }
  std::string out;
  emit_members(root, 0, false, out);
  return out;
}

}  // namespace causeway
