// Text: the words of one rank's slice of a file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace wordfreq {

// The whole file, mapped. An empty file has no bytes and no mapping.
class File {
 public:
  // On failure error() says why and text() is empty.
  explicit File(const char* path);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  std::string_view text() const { return text_; }
  const std::string& error() const { return error_; }

 private:
  std::string_view text_;
  std::string error_;
};

// A word is a longest run of ASCII letters. Lower case, as it is counted.
inline bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
inline char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}

// The part of `text` that `rank` of `ranks` counts: the words that begin in its share of the
// bytes. Every word belongs to exactly one rank, also when it spans several shares.
std::string_view slice(std::string_view text, uint32_t rank, uint32_t ranks);

// Takes the next word off the front of `text`, in lower case; false at the end.
bool next_word(std::string_view& text, std::string& word);

using Counts = std::unordered_map<std::string, uint64_t>;

}  // namespace wordfreq
