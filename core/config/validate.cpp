#include "config/steps.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include "base/error.h"
#include "config/rank_set.h"
#include "config/units.h"

namespace causeway {
namespace {

bool is_name(const std::string& text) {
  const auto allowed = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
  };
  return !text.empty() && text.size() <= 63 && std::isalpha(static_cast<unsigned char>(text[0])) &&
         std::ranges::all_of(text, allowed);
}

// A hint at words that YAML 1.1 reads as booleans and YAML 1.2 as texts, or at two settings in one.
std::string note_on(const std::string& text, int line) {
  if (line == 0 && text.find('=', std::min(text.find_first_of(" ,;"), text.size())) != text.npos)
    return "; one setting for each --set, commas between those of CAUSEWAY_SET";
  static const std::set<std::string> words{"on", "off", "yes", "no", "y", "n"};
  std::string lower;
  for (const char c : text) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (!words.contains(lower)) return "";
  return "; on, off, yes and no are not used, because YAML versions disagree about them";
}

bool same_value(const Node& a, const Node& b) {
  return a.kind == b.kind && a.text == b.text && std::ranges::equal(a.items, b.items, same_value) &&
         std::ranges::equal(a.entries, b.entries, [](const Entry& x, const Entry& y) {
           return x.key == y.key && same_value(x.value, y.value);
         });
}

// Whether `node` says only what the schema's defaults say.
bool says_default(const Schema& schema, const Node& node) {
  if (schema.type != ValueType::map)
    return schema.default_value && same_value(node, *schema.default_value);
  return std::ranges::all_of(node.entries, [&](const Entry& entry) {
    const Schema* child = schema.find(entry.key);
    return child != nullptr && says_default(*child, entry.value);
  });
}

class Validator {
 public:
  Validator(const Schema& root, Problems& problems, std::vector<Problem>& unused)
      : root_(root), problems_(problems), unused_(unused) {}

  void check_root(Node& node) {
    if (node.kind == Node::Kind::null) node.kind = Node::Kind::map;
    if (node.kind != Node::Kind::map) {
      const Origin where = node.where;
      const bool colon = node.text.find(':') < node.text.find(": ");
      problems_.add(where, fmt::format("expected a map of settings, found {}{}", describe(node),
                                       colon ? "; a space is missing behind ':'" : ""));
      node = Node{};
      node.kind = Node::Kind::map;
      node.where = where;
      return;
    }
    check(root_, "", node);
  }

 private:
  // False: the value is of no use and must be dropped; the problem has been reported.
  bool check(const Schema& schema, const std::string& path, Node& node) {
    switch (schema.type) {
      case ValueType::map:
        return check_map(schema, path, node);
      case ValueType::named_map:
        return check_named_map(schema, path, node);
      case ValueType::list:
        return check_list(schema, path, node);
      default:
        return check_scalar(schema, path, node);
    }
  }

  // A heading with nothing under it is an empty map. Anything else that is no map is reported
  // and emptied, so that the name it stands under stays known to references.
  void demand_map(const std::string& path, Node& node) {
    if (node.kind == Node::Kind::map) return;
    if (node.kind != Node::Kind::null || node.written_null) wrong(path, node, "expected a map");
    node.kind = Node::Kind::map;
    node.text.clear();
    node.items.clear();
  }

  bool check_map(const Schema& schema, const std::string& path, Node& node) {
    demand_map(path, node);
    check_required(schema, path, node);
    drop_unless(node, [&](Entry& entry) {
      const Schema* child = schema.find(entry.key);
      if (child == nullptr) {
        unknown_key(schema, path, entry);
        return false;
      }
      const std::string child_path = join(path, entry.key);
      if (!check(*child, child_path, entry.value)) return false;
      if (child->none_yet && !says_default(*child, entry.value))
        unused_.push_back(
            {entry.key_where, fmt::format("{} has no effect in this version", child_path)});
      return true;
    });
    return true;
  }

  bool check_named_map(const Schema& schema, const std::string& path, Node& node) {
    demand_map(path, node);
    drop_unless(node, [&](Entry& entry) {
      if (!is_name(entry.key))
        problems_.add(entry.key_where,
                      fmt::format("{} is not a name; letters, digits, - and _, a letter first",
                                  quoted(entry.key)));
      const std::string child_path = join(path, entry.key);
      if (!schema.removable || entry.value.kind != Node::Kind::null)
        return check(*schema.each, child_path, entry.value);
      if (!entry.value.written_null) {
        problems_.add(entry.key_where,
                      fmt::format("{0} has no settings; write {1}: {{}} to leave them all at "
                                  "their defaults, {1}: null to remove it",
                                  child_path, entry.key));
        entry.value.kind = Node::Kind::map;
      }
      return true;
    });
    return true;
  }

  bool check_list(const Schema& schema, const std::string& path, Node& node) {
    if (node.kind != Node::Kind::list) {
      std::string more;
      if (node.kind == Node::Kind::scalar && schema.each->keys.empty())
        more = fmt::format("; write [{}]", node.text);
      wrong(path, node, "expected a list", more.size() < 80 ? more : "");
      return false;
    }
    if (node.items.size() < schema.min_items) {
      problems_.add(node.where, fmt::format("{} needs at least {} entr{}", path, schema.min_items,
                                            schema.min_items == 1 ? "y" : "ies"));
      return false;
    }
    if (node.items.size() > schema.max_items) {
      problems_.add(node.where, fmt::format("{} has {} entries; at most {} are allowed", path,
                                            node.items.size(), schema.max_items));
      return false;
    }
    std::vector<Node> kept;
    for (size_t i = 0; i < node.items.size(); ++i) {
      Node& item = node.items[i];
      if (!check(*schema.each, fmt::format("{}[{}]", path, i), item)) continue;
      const auto same = [&](const Node& other) { return other.text == item.text; };
      if (schema.unique && item.kind == Node::Kind::scalar && std::ranges::any_of(kept, same)) {
        problems_.add(item.where, fmt::format("{} stands twice in {}", describe(item), path));
        continue;
      }
      kept.push_back(std::move(item));
    }
    node.items = std::move(kept);
    return true;
  }

  bool check_scalar(const Schema& schema, const std::string& path, Node& node) {
    const bool named = schema.type == ValueType::name || schema.type == ValueType::conduit ||
                       schema.type == ValueType::carrier;
    // There is a plugin named null, and a conduit may be named after it.
    if (named && node.kind == Node::Kind::null && node.text == "null") {
      node.kind = Node::Kind::scalar;
      node.written_null = false;
    }
    if (schema.or_list && node.kind == Node::Kind::list) join_items(node);
    if (!demand(node.kind == Node::Kind::scalar, schema, path, node)) return false;
    if (holds(schema.words, node.text)) return true;
    try {
      return check_text(schema, path, node);
    } catch (const Error& e) {
      problems_.add(node.where,
                    fmt::format("{}: {}{}", path, e.text(), note_on(node.text, node.where.line)));
      return false;
    }
  }

  // A list of texts is one text, with commas between.
  static void join_items(Node& node) {
    std::string text;
    for (const Node& item : node.items) {
      if (item.kind != Node::Kind::scalar) return;  // stays a list, which is refused
      text += (text.empty() ? "" : ",") + item.text;
    }
    node.kind = Node::Kind::scalar;
    node.text = text;
    node.items.clear();
  }

  // Throws Error for a text that is not of the type.
  bool check_text(const Schema& schema, const std::string& path, Node& node) {
    switch (schema.type) {
      case ValueType::boolean:
        parse_bool(node.text);
        return true;
      case ValueType::integer:
        return check_bounds(schema, path, node, parse_integer,
                            [](int64_t value) { return std::to_string(value); });
      case ValueType::size:
        return check_bounds(schema, path, node, parse_size, format_size);
      case ValueType::time:
        return check_bounds(schema, path, node, parse_time_ns, format_time);
      case ValueType::rank_set:
        if (!demand(!node.text.empty(), schema, path, node)) return false;
        node.text = RankSet::parse(node.text).str();
        return true;
      case ValueType::enumeration:
        return check_enum(schema, path, node);
      case ValueType::name:
      case ValueType::conduit:
      case ValueType::carrier:
        return demand(is_name(node.text), schema, path, node);
      case ValueType::glob:
        return demand(!node.text.empty(), schema, path, node);
      default:
        return true;
    }
  }

  bool demand(bool fits, const Schema& schema, const std::string& path, const Node& node) {
    if (!fits) wrong(path, node, expected(schema));
    return fits;
  }

  template <typename Parse, typename Format>
  bool check_bounds(const Schema& schema, const std::string& path, Node& node, Parse parse,
                    Format format) {
    const auto value = parse(node.text);
    const bool low = !schema.min_text.empty() && value < parse(schema.min_text);
    const bool high = !schema.max_text.empty() && value > parse(schema.max_text);
    if (low || high) {
      problems_.add(node.where,
                    fmt::format("{} must be at {} {}, found {}", path, low ? "least" : "most",
                                low ? schema.min_text : schema.max_text, describe(node)));
      return false;
    }
    node.text = format(value);
    return true;
  }

  bool check_enum(const Schema& schema, const std::string& path, Node& node) {
    if (holds(schema.values, node.text)) return true;
    wrong(path, node, expected(schema),
          meant_hint(node.text, schema.values) + note_on(node.text, node.where.line));
    return false;
  }

  void check_required(const Schema& schema, const std::string& path, const Node& node) {
    for (const auto& [key, child] : schema.keys)
      if (child.required && node.find(key) == nullptr)
        problems_.add(node.where, fmt::format("{} needs the key '{}'", path, key));
  }

  void unknown_key(const Schema& schema, const std::string& path, const Entry& entry) {
    const std::string place = path.empty() ? "at the top level" : "in " + path;
    problems_.add(entry.key_where, fmt::format("unknown key {} {}{}", quoted(entry.key), place,
                                               key_hint(schema, path, entry)));
  }

  std::string key_hint(const Schema& schema, const std::string& path, const Entry& entry) {
    const std::string& key = entry.key;
    if (key == "include") return "; a file may have it, at its top level";
    if (key == "<<") return "; merge keys are not supported, repeat the settings";
    if (const size_t dot = key.find('.');
        dot != std::string::npos && schema.find(key.substr(0, dot)) != nullptr)
      return fmt::format("; nest it: {}: {{{}: ...}}", key.substr(0, dot), key.substr(dot + 1));
    std::vector<std::string> names = schema.key_names();
    if (path.empty() && entry.key_where.line != 0) names.emplace_back("include");
    if (const std::string hint = meant_hint(key, names); !hint.empty()) return hint;
    if (schema.find("options") != nullptr && is_name(key))
      return fmt::format("; the plugin's own options stand in '{}.options'", path);
    if (const std::string elsewhere = find_elsewhere(key); !elsewhere.empty())
      return elsewhere == key ? fmt::format("; '{}' stands at the top level", key)
                              : fmt::format("; did you mean '{}'?", elsewhere);
    return "; known keys: " + join_words(names, "and");
  }

  // The one place with fixed keys where `key` would be right; "" when there is none or several.
  std::string find_elsewhere(const std::string& key) const {
    std::string found;
    for (const auto& [path, schema] : schema_paths(root_)) {
      const bool fixed = path.find_first_of("[<") == std::string::npos;
      if (!fixed || path.substr(path.rfind('.') + 1) != key) continue;
      if (!found.empty()) return "";
      found = path;
    }
    return found;
  }

  template <typename Keep>
  static void drop_unless(Node& map, Keep keep) {
    std::vector<Entry> kept;
    for (Entry& entry : map.entries)
      if (keep(entry))
        kept.push_back(std::move(entry));
      else
        map.pruned = true;
    map.entries = std::move(kept);
  }

  static std::string expected(const Schema& schema) {
    std::vector<std::string> choices = schema.words;
    choices.insert(choices.end(), schema.values.begin(), schema.values.end());
    if (schema.values.empty()) choices.emplace_back(schema.expected);
    return "expected " + join_words(choices, "or");
  }

  void wrong(const std::string& path, const Node& node, const std::string& what,
             const std::string& more = "") {
    problems_.add(node.where, fmt::format("{}: {}, found {}{}", path, what, describe(node), more));
  }

  static std::string join(const std::string& path, const std::string& key) {
    return path.empty() ? key : path + "." + key;
  }

  const Schema& root_;
  Problems& problems_;
  std::vector<Problem>& unused_;
};

}  // namespace

bool holds(const std::vector<std::string>& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

std::string join_words(const std::vector<std::string>& words, const std::string& last) {
  std::string out;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i != 0) out += i + 1 == words.size() ? " " + last + " " : ", ";
    out += words[i];
  }
  return out;
}

void validate(const Schema& schema, Node& root, Problems& problems, std::vector<Problem>& unused) {
  Validator(schema, problems, unused).check_root(root);
}

}  // namespace causeway
