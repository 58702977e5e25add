// UTF-8, for documents that admit nothing else.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace causeway::command {

// The bytes of the character that begins the text; 0: they are not UTF-8.
constexpr size_t character_bytes(std::string_view text) {
  const auto byte = [text](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const unsigned first = byte(0), second = byte(1);
  if (first < 0x80) return 1;
  const size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  // Longer than need be, a surrogate, or beyond U+10FFFF.
  if (first < 0xc2 || first > 0xf4 || (first == 0xe0 && second < 0xa0) ||
      (first == 0xed && second > 0x9f) || (first == 0xf0 && second < 0x90) ||
      (first == 0xf4 && second > 0x8f))
    return 0;
  for (size_t i = 1; i < bytes; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  return bytes;
}

// The text, with '?' for each byte that is no part of one.
inline std::string in_characters(std::string text) {
  for (size_t i = 0; i < text.size();) {
    const size_t bytes = character_bytes(std::string_view(text).substr(i));
    if (bytes == 0) text[i] = '?';
    i += bytes == 0 ? 1 : bytes;
  }
  return text;
}

}  // namespace causeway::command
