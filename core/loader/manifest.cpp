// The manifest's YAML, checked. Keys: conduit-api/README.md, "The manifest".
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/error.h"
#include "loader/elf_section.h"
#include "loader/loader.h"
#include "loader/one_line.h"
#include "loader/option_value.h"

namespace causeway {
namespace {

constexpr size_t kLongestName = 63;
constexpr size_t kMostOptions = 256;

constexpr PluginKind kKinds[] = {PluginKind::conduit, PluginKind::memkind, PluginKind::collective};

// Shape of plugin names and option keys: [a-z][a-z0-9_]*.
bool is_identifier(const std::string& text) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !text.empty() && text.size() <= kLongestName && text[0] >= 'a' && text[0] <= 'z' &&
         std::ranges::all_of(text, fits);
}

// Everything here throws Error with the reason only; read_manifest puts the path before it.
[[noreturn]] void reject(const std::string& reason) {
  throw Error(CWY_ERR_INVALID, reason);
}

std::string scalar_or(const YAML::Node& map, const char* key, const std::string& fallback) {
  const YAML::Node node = map[key];
  if (!node) return fallback;
  if (!node.IsScalar()) reject(fmt::format("manifest key '{}' must be a single value", key));
  return one_line(node.Scalar());
}

std::string scalar(const YAML::Node& map, const char* key) {
  if (!map[key]) reject(fmt::format("manifest lacks the key '{}'", key));
  return scalar_or(map, key, "");
}

std::vector<std::string> words(const YAML::Node& map, const char* key) {
  std::vector<std::string> list;
  const YAML::Node node = map[key];
  if (!node) return list;
  bool good = node.IsSequence();
  for (const YAML::Node& word : node)
    if (good = good && word.IsScalar(); good) list.push_back(one_line(word.Scalar()));
  if (!good) reject(fmt::format("'{}' must be a list of words", key));
  return list;
}

uint32_t number(const std::string& text, const char* what) {
  uint32_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end)
    reject(fmt::format("manifest {}: '{}' is not a number", what, text));
  return value;
}

void read_api(const std::string& text, Manifest& manifest) {
  const size_t dot = text.find('.');
  if (dot == std::string::npos)
    reject(fmt::format("manifest api: '{}' is not MAJOR.MINOR, for example \"{}.{}\"", text,
                       CWY_PLUGIN_MAJOR, CWY_PLUGIN_MINOR));
  const uint32_t major = number(text.substr(0, dot), "api");
  const uint32_t minor = number(text.substr(dot + 1), "api");
  if (major > UINT16_MAX || minor > UINT16_MAX) reject("manifest api: number out of range");
  manifest.api_major = static_cast<uint16_t>(major);
  manifest.api_minor = static_cast<uint16_t>(minor);
}

void check_versions(const Manifest& manifest) {
  const std::string ours = fmt::format("{}.{}", CWY_PLUGIN_MAJOR, CWY_PLUGIN_MINOR);
  const std::string theirs = fmt::format("{}.{}", manifest.api_major, manifest.api_minor);
  if (manifest.api_major > CWY_PLUGIN_MAJOR) {
    reject(
        fmt::format("is too new: built for plugin interface {}, this Causeway offers {}; use a "
                    "newer Causeway or an older build of the plugin",
                    theirs, ours));
  }
  if (manifest.api_major < CWY_PLUGIN_MAJOR) {
    reject(
        fmt::format("is too old: built for plugin interface {}, this Causeway offers {}; "
                    "rebuild the plugin against it",
                    theirs, ours));
  }
  // The comparison is with 0 as long as the minor is 0; it is meant for every later one.
  const uint32_t our_minor = CWY_PLUGIN_MINOR;
  if (manifest.min_core_minor > our_minor) {
    reject(
        fmt::format("is too new: needs plugin interface {}.{} or later, this Causeway offers "
                    "{}; use a newer Causeway or an older build of the plugin",
                    manifest.api_major, manifest.min_core_minor, ours));
  }
}

PluginKind read_kind(const std::string& word) {
  for (const PluginKind kind : kKinds)
    if (word == kind_word(kind)) return kind;
  reject(fmt::format("manifest kind: '{}' is not conduit, memkind or collective", word));
}

OptionSchema read_option(const std::string& key, const YAML::Node& node) {
  if (!is_identifier(key)) reject("the name is not of the form [a-z][a-z0-9_]*");
  if (!node.IsMap()) reject("must be a map with a type");
  OptionSchema schema;
  schema.key = key;
  schema.type = scalar(node, "type");
  schema.help = scalar_or(node, "help", "");
  schema.min_text = scalar_or(node, "min", "");
  schema.max_text = scalar_or(node, "max", "");
  schema.choices = words(node, "choices");
  schema.default_text = scalar_or(node, "default", natural_default(schema));
  check_option_schema(schema);
  return schema;
}

void read_options(const YAML::Node& options, Manifest& manifest) {
  if (!options || options.IsNull()) return;
  if (!options.IsMap()) reject("manifest key 'options' must be a map");
  if (options.size() > kMostOptions)
    reject(fmt::format("manifest lists more than {} options", kMostOptions));
  for (const auto& entry : options) {
    const std::string key =
        entry.first.IsScalar() ? one_line(entry.first.Scalar(), kLongestName) : "?";
    try {
      manifest.options.push_back(read_option(key, entry.second));
    } catch (const Error& error) {
      reject(fmt::format("manifest option '{}': {}", key, error.text()));
    }
  }
}

Manifest parse(const std::string& text) {
  const YAML::Node root = YAML::Load(text);
  if (!root.IsMap()) reject("its manifest is not a YAML map");
  // Versions first: a later major may mean something else by every other key.
  const std::string format = scalar(root, "causeway_manifest");
  if (format != "1")
    reject(fmt::format("is too new: manifest format '{}', this Causeway reads 1", format));
  Manifest manifest;
  read_api(scalar(root, "api"), manifest);
  manifest.min_core_minor = number(scalar_or(root, "min_core_minor", "0"), "min_core_minor");
  check_versions(manifest);
  manifest.kind = read_kind(scalar(root, "kind"));
  manifest.name = scalar(root, "name");
  if (!is_identifier(manifest.name)) {
    reject(fmt::format("manifest name: '{}' is not of the form [a-z][a-z0-9_]*, at most {} bytes",
                       manifest.name, kLongestName));
  }
  manifest.version = scalar(root, "version");
  manifest.summary = scalar_or(root, "summary", "");
  manifest.license = scalar_or(root, "license", "");
  manifest.wanted_by = words(root, "wanted_by");
  read_options(root["options"], manifest);
  return manifest;
}

// A file named <kind>_<name>.so promises both. Other names can only be loaded by exact path and
// promise nothing.
void check_file_name(const Manifest& manifest) {
  const std::string file = std::filesystem::path(manifest.path).filename().string();
  for (const PluginKind kind : kKinds) {
    const std::string prefix = fmt::format("{}_", kind_word(kind));
    if (file.rfind(prefix, 0) != 0) continue;
    if (kind != manifest.kind) {
      reject(fmt::format("is of the wrong kind: its manifest says {}, its file name says {}",
                         kind_word(manifest.kind), kind_word(kind)));
    }
    const std::string expected = fmt::format("{}{}.so", prefix, manifest.name);
    if (file != expected) {
      reject(
          fmt::format("its manifest names {} '{}', which does not fit the file name; rename "
                      "the file to {}",
                      kind_word(kind), manifest.name, expected));
    }
  }
}

}  // namespace

const char* kind_word(PluginKind kind) {
  constexpr const char* words[] = {"conduit", "memkind", "collective"};
  return words[static_cast<size_t>(kind)];
}

Manifest read_manifest(const std::string& path) {
  const std::string text = read_manifest_section(path);
  try {
    Manifest manifest = parse(text);
    manifest.path = path;
    check_file_name(manifest);
    return manifest;
  } catch (const Error& error) {
    throw Error(error.status(), path + ": " + error.text());
  } catch (const std::exception& error) {  // yaml-cpp's own
    throw Error(CWY_ERR_INVALID,
                path + ": its manifest is not valid YAML: " + one_line(error.what()));
  }
}

}  // namespace causeway
