// Text that may be anything, for a message.
#pragma once

#include <algorithm>
#include <string>

namespace causeway {

// Neither for terminals nor for XML.
constexpr bool is_control(char c) {
  return static_cast<unsigned char>(c) < ' ' || c == 0x7f;
}

// Cut, and without what a terminal would obey.
inline std::string shown(const std::string& text) {
  constexpr size_t most = 60;
  std::string out = text.substr(0, most);
  std::ranges::replace_if(out, is_control, '?');
  return text.size() > most ? out + "..." : out;
}

}  // namespace causeway
