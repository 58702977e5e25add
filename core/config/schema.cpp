#include "config/schema.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "base/error.h"
#include "config/embedded.h"

namespace causeway {
namespace {

struct TypeWords {
  std::string_view word;
  ValueType type;
  const char* expected;
};
constexpr TypeWords kTypes[] = {
    {"map", ValueType::map, "a map"},
    {"named-map", ValueType::named_map, "a map"},
    {"list", ValueType::list, "a list"},
    {"string", ValueType::string, "a text"},
    {"int", ValueType::integer, "a whole number"},
    {"bool", ValueType::boolean, "true or false"},
    {"size", ValueType::size, "a size such as 64KiB"},
    {"time", ValueType::time, "a time such as 50us"},
    {"enum", ValueType::enumeration, "a word"},
    {"name", ValueType::name, "a name (letters, digits, - and _, a letter first)"},
    {"conduit", ValueType::conduit, "the name of a conduit"},
    {"carrier", ValueType::carrier, "the name of a conduit or rail"},
    {"rank-set", ValueType::rank_set, "ranks such as 0-3,7"},
    {"glob", ValueType::glob, "a host name pattern"},
    {"option", ValueType::option, "a single value"},
};

// The types alone are checked here: unit tests look at each entry of the build's schema.
void parse_type(Schema& out, const Node& node) {
  const auto found = std::ranges::find(kTypes, node.text, &TypeWords::word);
  if (found == std::end(kTypes)) throw Error(CWY_ERR_INVALID, "schema: unknown type {}", node.text);
  out.type = found->type;
  out.type_word = node.text;
  out.expected = found->expected;
}

std::vector<std::string> texts(const Node& list) {
  std::vector<std::string> out;
  for (const Node& item : list.items) out.push_back(item.text);
  return out;
}

Schema parse_entry(const Node& node);

void parse_attribute(Schema& out, const std::string& key, const Node& value) {
  if (key == "type")
    parse_type(out, value);
  else if (key == "keys")
    for (const Entry& entry : value.entries)
      out.keys.push_back({entry.key, parse_entry(entry.value)});
  else if (key == "each")
    out.each = std::make_shared<const Schema>(parse_entry(value));
  else if (key == "values")
    out.values = texts(value);
  else if (key == "words")
    out.words = texts(value);
  else if (key == "min")
    out.min_text = value.text;
  else if (key == "max")
    out.max_text = value.text;
  else if (key == "min_items")
    out.min_items = std::stoul(value.text);
  else if (key == "max_items")
    out.max_items = std::stoul(value.text);
  else if (key == "unique")
    out.unique = parse_bool(value.text);
  else if (key == "or_list")
    out.or_list = parse_bool(value.text);
  else if (key == "required")
    out.required = parse_bool(value.text);
  else if (key == "removable")
    out.removable = parse_bool(value.text);
  else if (key == "effect" && value.text == "none-yet")
    out.none_yet = true;
  else if (key == "default")
    out.default_value = value;
  else if (key == "help")
    out.help = value.text;
}

Schema parse_entry(const Node& node) {
  Schema out;
  for (const Entry& entry : node.entries) parse_attribute(out, entry.key, entry.value);
  return out;
}

void add_paths(const std::string& prefix, const Schema& schema,
               std::vector<std::pair<std::string, const Schema*>>& out) {
  if (!prefix.empty()) out.emplace_back(prefix, &schema);
  for (const auto& [key, child] : schema.keys)
    add_paths(prefix.empty() ? key : prefix + "." + key, child, out);
  if (schema.type == ValueType::named_map) add_paths(prefix + ".<name>", *schema.each, out);
  if (schema.type == ValueType::list) add_paths(prefix + "[]", *schema.each, out);
}

}  // namespace

const Schema* Schema::find(const std::string& key) const {
  for (const auto& [name, child] : keys)
    if (name == key) return &child;
  return nullptr;
}

std::vector<std::string> Schema::key_names() const {
  std::vector<std::string> out;
  for (const auto& entry : keys) out.push_back(entry.name);
  return out;
}

const Schema& config_schema() {
  static const Schema schema = parse_entry(unpack_document(k_schema_tree, "schema.yaml"));
  return schema;
}

std::vector<std::pair<std::string, const Schema*>> schema_paths(const Schema& schema) {
  std::vector<std::pair<std::string, const Schema*>> out;
  add_paths("", schema, out);
  return out;
}

}  // namespace causeway
