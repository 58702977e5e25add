// Text that a plugin, a file or the dynamic linker wrote, made fit for one line of a message.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace causeway {

// At most `most` bytes, no control characters, no blank at either end.
inline std::string one_line(std::string_view text, size_t most = 400) {
  std::string line(text.substr(0, std::min(text.size(), most)));
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  const size_t first = line.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  line = line.substr(first, line.find_last_not_of(' ') - first + 1);
  if (text.size() > most) line += "...";
  return line;
}

}  // namespace causeway
