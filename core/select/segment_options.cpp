#include "select/segment_options.h"

#include <algorithm>

namespace causeway {
namespace {

const OptionSchema* find_option(const Manifest& manifest, const std::string& key) {
  for (const OptionSchema& option : manifest.options) {
    if (option.key == key) return &option;
  }
  return nullptr;
}

bool takes(const OptionSchema& option, const std::string& value) {
  return option.type == "string" ||
         std::find(option.choices.begin(), option.choices.end(), value) != option.choices.end();
}

}  // namespace

std::map<std::string, std::string> options_with_segment(const Config& config,
                                                        const ConduitSpec& spec,
                                                        const Manifest& manifest) {
  std::map<std::string, std::string> options = spec.options;
  // The file's words have hyphens, the options' are identifiers.
  std::string numa = config.numa;
  std::replace(numa.begin(), numa.end(), '-', '_');
  const std::pair<std::string, std::string> wishes[] = {{"huge_pages", config.huge_pages},
                                                        {"numa", numa}};
  for (const auto& [key, value] : wishes) {
    const OptionSchema* option = find_option(manifest, key);
    if (option != nullptr && takes(*option, value)) options.emplace(key, value);
  }
  return options;
}

}  // namespace causeway
