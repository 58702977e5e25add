#include "config/set_text.h"

#include <fmt/core.h>

#include <string_view>
#include <utility>

namespace causeway {
namespace {

constexpr size_t kDeepestPath = 32;

std::string trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t\n") - first + 1));
}

// Follows brackets and quotes through a text, one character at a time.
class Nesting {
 public:
  // Whether `c` stands outside of brackets and quotes (an opening one counts as inside).
  bool outside(char c) {
    const char before = std::exchange(before_, c);
    if (quote_ != 0) {
      if (skip_)
        skip_ = false;
      else if (c == '\\' && quote_ == '"')
        skip_ = true;
      else if (c == quote_)
        quote_ = 0;
      return false;
    }
    // A quote within a word, as in it's, opens nothing.
    if ((c == '"' || c == '\'') && std::string_view("=[{,: ").find(before) != std::string::npos) {
      quote_ = c;
      return false;
    }
    if (c == '[' || c == '{') ++depth_;
    if ((c == ']' || c == '}') && depth_ > 0) {
      --depth_;
      return false;
    }
    return depth_ == 0;
  }

 private:
  int depth_ = 0;
  char quote_ = 0;
  char before_ = ',';
  bool skip_ = false;
};

bool is_path(const std::string& path, std::vector<std::string>& keys) {
  std::string_view rest = path;
  while (true) {
    const size_t dot = rest.find('.');
    keys.emplace_back(rest.substr(0, dot));
    if (keys.back().empty() || keys.size() > kDeepestPath) return false;
    if (dot == std::string_view::npos) return true;
    rest.remove_prefix(dot + 1);
  }
}

std::optional<Node> parse_value(const std::string& text, const Origin& where, Problems& problems) {
  Node node;
  node.where = where;
  if (text == "null" || text == "~") {
    node.written_null = true;
    node.text = text;
    return node;
  }
  if (text.empty() || std::string_view("[{\"'").find(text.front()) == std::string_view::npos) {
    node.kind = Node::Kind::scalar;
    node.text = text;
    return node;
  }
  Problems inner;
  std::optional<Node> parsed = parse_document(text, where.source, inner);
  for (const Problem& problem : inner.list()) problems.add(where, problem.message);
  if (!inner.empty()) return std::nullopt;
  if (parsed) set_origin(*parsed, where);
  return parsed;
}

}  // namespace

std::vector<std::string> split_sets(const std::string& text) {
  std::vector<std::string> out;
  std::string item;
  const auto finish = [&] {
    if (std::string trimmed = trim(item); !trimmed.empty()) out.push_back(std::move(trimmed));
    item.clear();
  };
  Nesting nesting;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (!nesting.outside(c))
      item += c;
    else if (c == ',')
      finish();
    else if (c == '\\' && i + 1 < text.size() && (text[i + 1] == ',' || text[i + 1] == '\\'))
      item += text[++i];
    else
      item += c;
  }
  finish();
  return out;
}

std::string escape_set(const std::string& item) {
  std::string out;
  Nesting nesting;
  for (const char c : item) {
    if (nesting.outside(c) && (c == ',' || c == '\\')) out += '\\';
    out += c;
  }
  return out;
}

std::optional<Node> parse_set(const std::string& item, const std::string& label,
                              Problems& problems) {
  const Origin where{fmt::format("{}: {}", label, item), 0, 0};
  const size_t equals = item.find('=');
  if (equals == std::string::npos) {
    problems.add(where,
                 "expected path=value; a comma within a value is written \\, or stands in quotes "
                 "or brackets");
    return std::nullopt;
  }
  const std::string path = trim(std::string_view(item).substr(0, equals));
  if (path.find('[') != std::string::npos) {
    problems.add(where, "a list is set as a whole, as in peers=[{use: [shm]}]");
    return std::nullopt;
  }
  std::vector<std::string> keys;
  if (!is_path(path, keys)) {
    problems.add(where, "expected a path of keys such as timeouts.start before the =");
    return std::nullopt;
  }
  std::optional<Node> value =
      parse_value(trim(std::string_view(item).substr(equals + 1)), where, problems);
  for (auto key = keys.rbegin(); value && key != keys.rend(); ++key) {
    Node outer;
    outer.kind = Node::Kind::map;
    outer.where = where;
    outer.entries.push_back({*key, where, std::move(*value)});
    value = std::move(outer);
  }
  return value;
}

}  // namespace causeway
