// The schema, the default, the README and the site examples must say the same.
#include "config/schema.h"

#include <gmock/gmock.h>

#include <dirent.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

#include "config/embedded.h"
#include "config/steps.h"
#include "config_testing.h"
#include "embed/pack.h"

namespace causeway::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kConfigs = CAUSEWAY_SOURCE_DIR "/configs";

std::string read(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) out.push_back(line);
  return out;
}

// The fenced blocks of a Markdown text opened by ```<language>.
std::vector<std::string> blocks(const std::string& text, const std::string& language) {
  std::vector<std::string> out;
  std::string block;
  bool inside = false, wanted = false;
  for (const std::string& line : lines_of(text)) {
    if (line.rfind("```", 0) == 0) {
      if (inside && wanted) out.push_back(block);
      inside = !inside;
      wanted = inside && line == "```" + language;
      block.clear();
    } else if (inside) {
      block += line + "\n";
    }
  }
  return out;
}

std::string tree_text(const Node& node) {
  std::string out = node.text;
  for (const Node& item : node.items) out += "[" + tree_text(item) + "]";
  std::vector<std::string> entries;
  for (const Entry& entry : node.entries) entries.push_back(entry.key + tree_text(entry.value));
  std::sort(entries.begin(), entries.end());
  for (const std::string& entry : entries) out += "{" + entry + "}";
  return out;
}

// Catches an embedding that lags behind configs/ or loses characters, kinds or positions.
TEST(ConfigSchema, EmbeddedTreesAreTheFiles) {
  const std::pair<const char*, std::string> trees[] = {{k_schema_tree, "schema.yaml"},
                                                       {k_default_tree, "default.yaml"}};
  for (const auto& [tree, name] : trees) {
    Problems problems;
    std::optional<Node> file = parse_document(read(kConfigs + "/" + name), name, problems);
    ASSERT_TRUE(file) << problems.text(20);
    if (tree == k_schema_tree) set_origin(*file, {});
    std::string packed, again;
    pack_document(*file, packed);
    pack_document(unpack_document(tree, name), again);
    EXPECT_EQ(packed, tree);
    EXPECT_EQ(again, tree);
  }
}

void check_entry(const Node& entry, const std::string& path) {
  constexpr const char* known[] = {"type",    "keys",     "each",      "values",    "words",
                                   "min",     "max",      "min_items", "max_items", "unique",
                                   "or_list", "required", "effect",    "removable", "default",
                                   "help",    "version"};
  ASSERT_EQ(entry.kind, Node::Kind::map) << path;
  for (const Entry& attribute : entry.entries)
    EXPECT_TRUE(std::ranges::count(known, attribute.key) == 1) << path << ": " << attribute.key;
  ASSERT_NE(entry.find("type"), nullptr) << path;
  const std::string type = entry.find("type")->text;
  EXPECT_EQ(type == "named-map" || type == "list", entry.find("each") != nullptr) << path;
  EXPECT_EQ(type == "enum", entry.find("values") != nullptr) << path;
  if (const Node* each = entry.find("each")) check_entry(*each, path + "[]");
  if (const Node* keys = entry.find("keys"))
    for (const Entry& key : keys->entries) check_entry(key.value, path + "." + key.key);
}

// Catches an attribute that is misspelt, and one that does not belong to its type: the core reads
// the schema without a check.
TEST(ConfigSchema, EveryEntryIsSound) {
  check_entry(unpack_document(k_schema_tree, "schema.yaml"), "");
}

// The document that holds with no source at all: every `default` of the schema in its place.
Node schema_defaults(const Schema& schema) {
  if (schema.default_value) return *schema.default_value;
  Node node;
  node.kind = Node::Kind::map;
  for (const auto& [key, child] : schema.keys) {
    if (child.default_value || child.type == ValueType::map) {
      node.entries.push_back({key, {}, schema_defaults(child)});
    }
  }
  return node;
}

TEST(ConfigSchema, DefaultFileIsTheSchemasDefaults) {
  Problems problems;
  std::vector<Problem> unused;
  Node file = unpack_document(k_default_tree, "default.yaml");
  validate(config_schema(), file, problems, unused);
  EXPECT_TRUE(problems.empty()) << problems.text(20);
  EXPECT_THAT(unused, IsEmpty());
  EXPECT_EQ(tree_text(file), tree_text(schema_defaults(config_schema())));
}

// Without a default, a typed field of Config would have nothing to be read from.
TEST(ConfigSchema, EveryFixedScalarHasADefaultAndEveryKeyHelp) {
  for (const auto& [path, schema] : schema_paths(config_schema())) {
    const bool fixed = path.find_first_of("[<") == std::string::npos;
    if (fixed && schema->type != ValueType::map) {
      EXPECT_TRUE(schema->default_value) << path;
    }
    const bool named = path.back() != ']' && path.back() != '>';
    if (named) {
      EXPECT_FALSE(schema->help.empty()) << path;
    }
  }
}

// No key and no value may be a word that YAML 1.1 readers turn into a boolean.
TEST(ConfigSchema, NoBooleanWords) {
  const auto is_boolean_word = [](const std::string& word) {
    return word == "on" || word == "off" || word == "yes" || word == "no" || word == "y" ||
           word == "n";
  };
  for (const auto& [path, schema] : schema_paths(config_schema())) {
    EXPECT_FALSE(is_boolean_word(path.substr(path.rfind('.') + 1))) << path;
    EXPECT_TRUE(std::none_of(schema->values.begin(), schema->values.end(), is_boolean_word))
        << path;
  }
}

// The row of `path` in a table of the README: "| `path` | type | default | meaning |".
std::vector<std::string> row_of(const std::vector<std::string>& lines, const std::string& path) {
  for (const std::string& line : lines) {
    if (line.rfind("| `" + path + "` |", 0) != 0) continue;
    std::vector<std::string> cells;
    std::istringstream stream(line.substr(1));
    for (std::string cell; std::getline(stream, cell, '|');) cells.push_back(cell);
    return cells;
  }
  return {};
}

TEST(ConfigSchema, ReadmeExplainsEveryKey) {
  const std::vector<std::string> lines = lines_of(read(kConfigs + "/README.md"));
  for (const auto& [path, schema] : schema_paths(config_schema())) {
    if (path.back() == ']' || path.back() == '>') continue;
    const std::vector<std::string> cells = row_of(lines, path);
    ASSERT_EQ(cells.size(), 4u) << "no row for " << path;
    EXPECT_THAT(cells[3], HasSubstr(schema->help)) << path;
    for (const std::string& value : schema->values) {
      EXPECT_THAT(cells[1], HasSubstr("`" + value + "`")) << path;
    }
    if (schema->values.empty()) {
      EXPECT_THAT(cells[1], HasSubstr(schema->type_word)) << path;
    }
    EXPECT_THAT(cells[1], HasSubstr(schema->min_text)) << path;
    EXPECT_THAT(cells[1], HasSubstr(schema->max_text)) << path;
    if (schema->default_value && schema->default_value->kind == Node::Kind::scalar) {
      const std::string& text = schema->default_value->text;
      EXPECT_THAT(cells[2], HasSubstr("`" + (text.empty() ? "\"\"" : text) + "`")) << path;
    }
  }
}

// And nothing that is no key: a row left behind when a key went.
TEST(ConfigSchema, ReadmeExplainsNothingElse) {
  const auto paths = schema_paths(config_schema());
  for (const std::string& line : lines_of(read(kConfigs + "/README.md"))) {
    if (line.rfind("| `", 0) != 0 || std::count(line.begin(), line.end(), '|') != 5) continue;
    const std::string path = line.substr(3, line.find('`', 3) - 3);
    EXPECT_TRUE(std::any_of(paths.begin(), paths.end(), [&](const auto& known) {
      return known.first == path;
    })) << path;
  }
}

// What the README shows must work. Examples may use conduits they do not define.
TEST(ConfigSchema, ReadmeExamplesAreValid) {
  const std::vector<std::string> examples = blocks(read(kConfigs + "/README.md"), "yaml");
  EXPECT_GT(examples.size(), 8u);
  for (const std::string& example : examples) {
    for (const std::string& problem : problems_of(example)) {
      EXPECT_THAT(problem, HasSubstr(": unknown conduit '")) << example;
    }
  }
}

TEST(ConfigSchema, ReadmeShowsTheMistakesAsTheyAreReported) {
  const std::string readme = read(kConfigs + "/README.md");
  const std::string text = blocks(readme, "yaml-with-mistakes").at(0);
  std::string expected = blocks(readme, "").at(0);
  std::string found;
  for (std::string line : problems_of(text, {"log.level=loud"})) {
    for (size_t at = 0; (at = line.find("f:", at)) != std::string::npos; at += 10) {
      if (at == 0 || line[at - 1] == '(') line.replace(at, 2, "site.yaml:");
    }
    found += line + "\n";
  }
  EXPECT_EQ(found, expected);
}

TEST(ConfigSchema, SiteExamplesLoad) {
  int count = 0;
  DIR* directory = ::opendir((kConfigs + "/sites").c_str());
  ASSERT_NE(directory, nullptr);
  while (const dirent* entry = ::readdir(directory)) {
    const std::string name = entry->d_name;
    if (name[0] == '.') continue;
    ++count;
    ConfigSources sources = only_sets({});
    sources.files = {kConfigs + "/sites/" + name};
    const CheckedConfig checked = check_config(sources);
    EXPECT_TRUE(checked.problems.empty()) << checked.problems.text(20);
    EXPECT_THAT(checked.warnings, IsEmpty()) << name;
    EXPECT_THAT(read(kConfigs + "/README.md"), HasSubstr("sites/" + name));
  }
  ::closedir(directory);
  EXPECT_GE(count, 4);
}

TEST(ConfigSchema, AmOnlyEmulatesEverything) {
  ConfigSources sources = only_sets({});
  sources.files = {kConfigs + "/sites/am-only.yaml"};
  const Config config = load_config(sources);
  EXPECT_EQ(config.direct_map, DirectMap::never);
  for (const ConduitSpec& conduit : config.conduits) {
    ASSERT_TRUE(conduit.native.has_value()) << conduit.name;
    EXPECT_THAT(*conduit.native, IsEmpty()) << conduit.name;
  }
}

}  // namespace
}  // namespace causeway::testing
