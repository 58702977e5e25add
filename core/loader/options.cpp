// Options of one plugin instance, and the opt_* services that hand them to plugins.
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "loader/check_options.h"
#include "loader/loader.h"
#include "loader/one_line.h"
#include "loader/option_value.h"

namespace causeway {

class OptionValues {
 public:
  struct Entry {
    std::string type;
    OptionValue value;
  };
  // Transparent comparison: looking a key up allocates nothing.
  std::map<std::string, Entry, std::less<>> entries;
};

namespace {

Origin origin_of(const std::string& key, const std::map<std::string, Origin>& origins) {
  const auto found = origins.find(key);
  return found == origins.end() ? Origin{"options", 0, 0} : found->second;
}

const OptionSchema* find_schema(const Manifest& manifest, const std::string& key) {
  const auto found = std::ranges::find(manifest.options, key, &OptionSchema::key);
  return found == manifest.options.end() ? nullptr : &*found;
}

std::string unknown_line(const Manifest& manifest, const std::string& key) {
  std::vector<std::string> keys;
  for (const OptionSchema& schema : manifest.options) keys.push_back(schema.key);
  const std::optional<std::string> near = did_you_mean(key, keys);
  const std::string hint = near           ? fmt::format("did you mean '{}'?", *near)
                           : keys.empty() ? "it has none"
                                          : fmt::format("it has {}", fmt::join(keys, ", "));
  return fmt::format("{} '{}' has no option '{}'; {}", kind_word(manifest.kind), manifest.name,
                     one_line(key, 80), hint);
}

// The entry of a key that has one of the given types; NULL otherwise.
const OptionValue* find(const cwy_options* opts, const char* key, std::string_view type) noexcept {
  if (opts == nullptr || key == nullptr) return nullptr;
  const auto& entries = reinterpret_cast<const OptionValues*>(opts)->entries;
  const auto found = entries.find(std::string_view(key));
  if (found == entries.end()) return nullptr;
  if (!type.empty() && found->second.type != type) return nullptr;
  return &found->second.value;
}

template <typename T>
cwy_status give(const OptionValue* value, T OptionValue::*member, auto* out) {
  if (value == nullptr || out == nullptr) return CWY_ERR_INVALID;
  if constexpr (std::is_same_v<T, std::string>)
    *out = (value->*member).c_str();
  else
    *out = value->*member;
  return CWY_OK;
}

}  // namespace

std::shared_ptr<const OptionValues> make_options(const Manifest& manifest,
                                                 const std::map<std::string, std::string>& values,
                                                 const std::map<std::string, Origin>& origins) {
  auto options = std::make_shared<OptionValues>();
  for (const OptionSchema& schema : manifest.options)
    options->entries[schema.key] = {schema.type, parse_option_value(schema, schema.default_text)};
  Problems problems;
  check_options(manifest, values, origins, problems);
  if (!problems.empty()) throw Error(CWY_ERR_INVALID, "{}", problems.text(kMostProblemsSaid));
  for (const auto& [key, text] : values)
    options->entries[key].value = parse_option_value(*find_schema(manifest, key), text);
  return options;
}

void check_options(const Manifest& manifest, const std::map<std::string, std::string>& values,
                   const std::map<std::string, Origin>& origins, Problems& problems) {
  for (const auto& [key, text] : values) {
    const Origin where = origin_of(key, origins);
    const OptionSchema* schema = find_schema(manifest, key);
    if (schema == nullptr) {
      problems.add(where, unknown_line(manifest, key));
      continue;
    }
    try {
      parse_option_value(*schema, text);
    } catch (const Error& error) {
      problems.add(where, fmt::format("option '{}' of {} '{}': {}", key, kind_word(manifest.kind),
                                      manifest.name, error.text()));
    }
  }
}

const cwy_options* as_c(const OptionValues* options) {
  return reinterpret_cast<const cwy_options*>(options);
}

void fill_option_services(cwy_services& services) {
  services.opt_string = [](const cwy_options* opts, const char* key, const char** out) {
    return give(find(opts, key, ""), &OptionValue::text, out);
  };
  services.opt_int = [](const cwy_options* opts, const char* key, int64_t* out) {
    return give(find(opts, key, "int"), &OptionValue::integer, out);
  };
  services.opt_bool = [](const cwy_options* opts, const char* key, int32_t* out) {
    return give(find(opts, key, "bool"), &OptionValue::flag, out);
  };
  services.opt_size = [](const cwy_options* opts, const char* key, uint64_t* out) {
    return give(find(opts, key, "size"), &OptionValue::number, out);
  };
  services.opt_time = [](const cwy_options* opts, const char* key, uint64_t* out) {
    return give(find(opts, key, "time"), &OptionValue::number, out);
  };
}

}  // namespace causeway
