// Pieces of JSON for the --json output of the subcommands and the benchmark.
#pragma once

#include <fmt/ranges.h>

#include <string>
#include <string_view>
#include <vector>

#include "characters.h"

namespace causeway::command {

inline std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : in_characters(std::string(text))) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

// "[a,b]" out of parts that are JSON already.
inline std::string json_array(const std::vector<std::string>& parts) {
  return fmt::format("[{}]", fmt::join(parts, ","));
}

// The same of what `to_json` makes of each element.
template <typename Range, typename ToJson>
std::string json_each(const Range& range, ToJson&& to_json) {
  std::vector<std::string> parts;
  for (const auto& element : range) parts.push_back(to_json(element));
  return json_array(parts);
}
inline std::string json_texts(const std::vector<std::string>& texts) {
  return json_each(texts, json_text);
}

}  // namespace causeway::command
