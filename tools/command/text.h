// Output of the subcommands for people: tables, colour on a terminal only. For --json: json.h.
#pragma once

#include <fmt/core.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "json.h"

namespace causeway::command {

// Does a terminal that knows escape sequences show the output?
inline bool has_terminal() {
  const char* const name = std::getenv("TERM");
  const std::string_view kind = name == nullptr ? "" : name;
  return isatty(STDOUT_FILENO) != 0 && !kind.empty() && kind != "dumb";
}

inline std::string bold(const std::string& text) {
  const bool plain = !has_terminal() || std::getenv("NO_COLOR") != nullptr;
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

// The same for programs: numbers, null where there is no limit.
inline std::string range_json(uint64_t from, uint64_t to) {
  return fmt::format(R"("from":{},"to":{})", from, to == UINT64_MAX ? "null" : std::to_string(to));
}

// Into a file, or to stdout where its name is "-"; nowhere where it has none. Throws Error.
void write_file(const std::string& name, const std::string& text);

// Words that others wrote, as any terminal and JSON take them.
inline std::string plain(std::string text) {
  for (char& c : text)
    if (c < ' ' || c > '~') c = '?';
  return text;
}

// Columns of a page: those of the terminal, or COLUMNS where there is none, or 100.
size_t page_columns();

// The same text in lines of at most so many columns: broken at spaces, else behind '/' or ',', else
// anywhere. '?' stands for control characters.
std::vector<std::string> folded(std::string_view text, size_t columns);

// A help text in lines that fit the page: what is said of an option stays in its column.
std::string folded_help(const std::string& help);

// Prints a line of prose, folded to the page; what follows its first line is indented by two more.
// The first `title` characters are bold.
void print_folded(std::string_view text, const char* indent = "  ", size_t title = 0);

// Columns as wide as their widest cell; the widest are narrowed, and their cells folded, until a
// row fits the page.
void print_columns(const std::vector<std::vector<std::string>>& rows, const char* indent = "  ");

}  // namespace causeway::command
