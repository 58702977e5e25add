// Where a program is that a command would start by its name.
#pragma once

#include <fmt/core.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace causeway::launch {

// The first such program in the PATH; nullopt: none.
inline std::optional<std::string> find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/usr/bin:/bin";
  while (!rest.empty()) {
    const size_t colon = rest.find(':');
    const std::string found = fmt::format("{}/{}", rest.substr(0, colon), name);
    if (::access(found.c_str(), X_OK) == 0) return found;
    rest = colon == std::string_view::npos ? "" : rest.substr(colon + 1);
  }
  return std::nullopt;
}

}  // namespace causeway::launch
