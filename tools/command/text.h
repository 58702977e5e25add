// Output of the subcommands for people: tables, colour on a terminal only. For --json: json.h.
#pragma once

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "json.h"

namespace causeway::command {

inline std::string bold(const std::string& text) {
  const char* terminal = std::getenv("TERM");
  const bool plain = isatty(STDOUT_FILENO) == 0 || std::getenv("NO_COLOR") != nullptr ||
                     (terminal != nullptr && std::string_view(terminal) == "dumb");
  return plain ? text : "\033[1m" + text + "\033[0m";
}

// Sizes, and ranges of them, in the units in which the configuration has them.
inline std::string size_text(uint64_t bytes) {
  if (bytes >= (1u << 20) && bytes % (1u << 20) == 0) return fmt::format("{} MiB", bytes >> 20);
  if (bytes >= 1024 && bytes % 1024 == 0) return fmt::format("{} KiB", bytes >> 10);
  return fmt::format("{} B", bytes);
}

inline std::string range_text(uint64_t from, uint64_t to) {
  if (from <= 1) return to == UINT64_MAX ? "any" : "to " + size_text(to);
  return to == UINT64_MAX ? "from " + size_text(from) : size_text(from) + " to " + size_text(to);
}

// Columns as wide as their widest cell; the last one is not padded.
inline void print_columns(const std::vector<std::vector<std::string>>& rows,
                          const char* indent = "  ") {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows) {
    std::string line = indent;
    for (size_t i = 0; i < row.size(); ++i) {
      line += i + 1 == row.size() ? row[i] : fmt::format("{:<{}}  ", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    fmt::print("{}\n", line);
  }
}

}  // namespace causeway::command
