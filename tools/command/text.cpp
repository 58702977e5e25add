#include "text.h"

#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/error.h"
#include "base/shown_text.h"

namespace causeway::command {
namespace {

constexpr size_t kColumns = 100;
constexpr size_t kFewest = 40;  // of a page
constexpr size_t kGap = 2;      // between two columns of a table
constexpr size_t kNarrow = 12;  // no column of a table is narrowed below

// The end of the first line: behind the last place up to `columns` where a line may end.
size_t first_line(std::string_view text, size_t columns) {
  if (text.size() <= columns) return text.size();
  if (const size_t space = text.rfind(' ', columns); space != text.npos && space > 0) return space;
  const size_t sign = text.find_last_of("/,", columns - 1);
  return sign != text.npos && sign > 0 ? sign + 1 : columns;
}

size_t longest_word(const std::string& text) {
  size_t longest = 0;
  for (size_t at = 0, end = 0; end != text.npos; at = end + 1) {
    end = text.find(' ', at);
    longest = std::max(longest, std::min(end, text.size()) - at);
  }
  return longest;
}

// The widths of the columns, narrowed to what the page has; below a word that is not to be broken
// when nothing else helps.
std::vector<size_t> widths_of(const std::vector<std::vector<std::string>>& rows, size_t page) {
  std::vector<size_t> widths, words;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    words.resize(widths.size(), kNarrow);
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
      words[i] = std::max(words[i], longest_word(row[i]));
    }
  }
  size_t all = 0;
  for (const size_t width : widths) all += width + kGap;
  while (all > page + kGap) {
    size_t widest = 0;  // of those that can be narrowed at spaces, else of all
    const auto place = [&](size_t i) { return std::pair(widths[i] > words[i], widths[i]); };
    for (size_t i = 1; i < widths.size(); ++i)
      if (place(i) > place(widest)) widest = i;
    if (widths[widest] <= kNarrow) break;
    --widths[widest];
    --all;
  }
  return widths;
}

}  // namespace

void write_file(const std::string& name, const std::string& text) {
  if (name.empty()) return;
  if (name == "-") return fmt::print("{}", text);
  std::ofstream out(name);
  if ((out << text).flush()) return;
  const int reason = errno;
  std::error_code none;
  // A part of a document is no document. What is no file stays.
  if (out.is_open() && std::filesystem::is_regular_file(name, none))
    std::filesystem::remove(name, none);
  throw Error(CWY_ERR_INVALID, "{} cannot be written: {}", name, std::strerror(reason));
}

size_t page_columns() {
  winsize size{};
  if (isatty(STDOUT_FILENO) != 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return std::max<size_t>(size.ws_col, kFewest);
  const char* const wanted = std::getenv("COLUMNS");
  const unsigned long columns = wanted == nullptr ? 0 : std::strtoul(wanted, nullptr, 10);
  return columns == 0 ? kColumns : std::max<size_t>(columns, kFewest);
}

std::vector<std::string> folded(std::string_view words, size_t columns) {
  std::vector<std::string> out;
  std::string safe(words);
  std::replace_if(safe.begin(), safe.end(), is_control, '?');
  std::string_view text = safe;
  do {
    const size_t end = first_line(text, columns);
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
    if (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  } while (!text.empty());
  return out;
}

std::string folded_help(const std::string& help) {
  std::istringstream lines(help);
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    size_t column = line.find_first_not_of(' ');
    const bool entry = column == 2;  // an option or a subcommand, with what is said of it behind
    if (const size_t gap = line.find("  ", 2); entry && gap != line.npos)
      column = line.find_first_not_of(' ', gap);
    if (column == line.npos) column = 0;
    std::string before = line.substr(0, column);
    line.erase(0, column);
    if (column > page_columns() / 2) {  // a narrow page: below the name
      before.erase(before.find_last_not_of(' ') + 1);
      if (!before.empty()) out += before + "\n";
      before.assign(column = 6, ' ');
    }
    for (const std::string& part : folded(line, page_columns() - column)) {
      out += before + part + "\n";
      before.assign(column, ' ');
    }
  }
  return out;
}

void print_folded(std::string_view text, const char* indent, size_t title) {
  const std::string first = indent;
  const std::string rest = first + "  ";
  const char* before = first.c_str();
  for (const std::string& line : folded(text, page_columns() - rest.size())) {
    const size_t part = std::min(title, line.size());
    fmt::print("{}{}{}\n", before, part == 0 ? "" : bold(line.substr(0, part)), line.substr(part));
    before = rest.c_str();
    title = 0;
  }
}

void print_columns(const std::vector<std::vector<std::string>>& rows, const char* indent) {
  const std::vector<size_t> widths =
      widths_of(rows, page_columns() - std::string_view(indent).size());
  for (const auto& row : rows) {
    std::vector<std::vector<std::string>> cells;
    size_t lines = 1;
    for (size_t i = 0; i < row.size(); ++i) {
      cells.push_back(folded(row[i], widths[i]));
      lines = std::max(lines, cells.back().size());
    }
    for (size_t at = 0; at < lines; ++at) {
      std::string line = indent;
      for (size_t i = 0; i < cells.size(); ++i)
        line += fmt::format("{:<{}}", at < cells[i].size() ? cells[i][at] : "", widths[i] + kGap);
      line.erase(line.find_last_not_of(' ') + 1);
      fmt::print("{}\n", line);
    }
  }
}

}  // namespace causeway::command
