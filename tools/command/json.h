// Pieces of JSON for the --json output of the subcommands and the benchmark.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <vector>

namespace causeway::command {

inline std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
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
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : ",") + part;
  return "[" + out + "]";
}

}  // namespace causeway::command
