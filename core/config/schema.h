// Schema: what may stand in a configuration, read from configs/schema.yaml (compiled in).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/document.h"

namespace causeway {

// The words of schema.yaml, `-` written `_`; `boolean` and `integer` because of the language.
enum class ValueType {
  map,
  named_map,
  list,
  string,
  integer,
  boolean,
  size,
  time,
  enumeration,
  name,
  conduit,
  carrier,
  rank_set,
  glob,
  option
};

struct SchemaKey;

struct Schema {
  ValueType type = ValueType::map;
  std::string type_word;      // as written in schema.yaml
  const char* expected = "";  // "a text", for messages
  std::string help;
  std::vector<SchemaKey> keys;         // map
  std::shared_ptr<const Schema> each;  // named-map, list
  std::vector<std::string> values;     // enum
  std::vector<std::string> words;      // accepted beside the type's own values
  std::string min_text, max_text;      // int, size, time; "" = none
  std::optional<Node> default_value;
  size_t min_items = 0;
  size_t max_items = 10000;
  bool unique = false;
  bool or_list = false;
  bool required = false;
  bool removable = false;
  bool none_yet = false;  // no room of this version uses it

  const Schema* find(const std::string& key) const;
  std::vector<std::string> key_names() const;
};

struct SchemaKey {
  std::string name;
  Schema value;
};

// The schema of this version, parsed at the first call. Single-threaded, as load_config is.
const Schema& config_schema();

// Every key with its entry, depth first: "conduits.<name>.native", "peers[].match.host".
std::vector<std::pair<std::string, const Schema*>> schema_paths(const Schema& schema);

}  // namespace causeway
