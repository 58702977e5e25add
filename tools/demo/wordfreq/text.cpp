#include "text.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace wordfreq {

File::File(const char* path) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (fd < 0 || fstat(fd, &status) != 0) {
    error_ = strerror(errno);
  } else if (!S_ISREG(status.st_mode)) {
    error_ = "not a regular file";
  } else if (status.st_size > 0) {
    const auto bytes = static_cast<size_t>(status.st_size);
    void* memory = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (memory == MAP_FAILED)
      error_ = strerror(errno);
    else
      text_ = {static_cast<const char*>(memory), bytes};
  }
  if (fd >= 0) close(fd);
}

File::~File() {
  if (!text_.empty()) munmap(const_cast<char*>(text_.data()), text_.size());
}

namespace {

size_t share_begin(size_t bytes, uint32_t rank, uint32_t ranks) {
  return bytes / ranks * rank + bytes % ranks * rank / ranks;
}

// The first position at or after `at` that is not inside a word that began before it.
size_t word_border(std::string_view text, size_t at) {
  if (at == 0 || !is_letter(text[at - 1])) return at;
  while (at < text.size() && is_letter(text[at])) ++at;
  return at;
}

}  // namespace

std::string_view slice(std::string_view text, uint32_t rank, uint32_t ranks) {
  const size_t begin = word_border(text, share_begin(text.size(), rank, ranks));
  const size_t end = word_border(text, share_begin(text.size(), rank + 1, ranks));
  return text.substr(begin, end - begin);
}

bool next_word(std::string_view& text, std::string& word) {
  size_t begin = 0;
  while (begin < text.size() && !is_letter(text[begin])) ++begin;
  size_t end = begin;
  while (end < text.size() && is_letter(text[end])) ++end;
  word.assign(text.substr(begin, end - begin));
  for (char& c : word) c = lower(c);
  text.remove_prefix(end);
  return !word.empty();
}

}  // namespace wordfreq
