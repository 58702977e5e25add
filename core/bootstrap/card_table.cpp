#include "bootstrap/card_table.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <numeric>

#include "base/error.h"
#include "base/unique_fd.h"
#include "spawn/limits.h"

namespace causeway {
namespace {

std::string pack(const std::vector<std::string>& cards) {
  uint64_t at = (cards.size() + 1) * sizeof at;
  std::string table;
  const auto add_offset = [&] { table.append(reinterpret_cast<const char*>(&at), sizeof at); };
  table.reserve(std::accumulate(cards.begin(), cards.end(), at,
                                [](uint64_t sum, const auto& card) { return sum + card.size(); }));
  add_offset();
  for (const std::string& card : cards) {
    at += card.size();
    add_offset();
  }
  for (const std::string& card : cards) table += card;
  return table;
}

}  // namespace

CardTable::CardTable(std::shared_ptr<const char> bytes, size_t size, size_t count, bool shared)
    : bytes_(std::move(bytes)), size_(size), shared_(shared) {
  const size_t begin = (count + 1) * sizeof(uint64_t);
  bool whole = size_ >= begin && offset(0) == begin && offset(count) == size_;
  for (size_t i = 0; whole && i < count; ++i) whole = offset(i) <= offset(i + 1);
  if (!whole)
    throw Error(CWY_ERR_INVALID, "the table of {} cards is damaged ({} bytes)", count, size_);
}
CardTable::CardTable(const std::shared_ptr<const std::string>& text, size_t count)
    : CardTable({text, text->data()}, text->size(), count, false) {}
CardTable::CardTable(std::string text, size_t count)
    : CardTable(std::make_shared<const std::string>(std::move(text)), count) {}
CardTable::CardTable(const std::vector<std::string>& cards)
    : CardTable(pack(cards), cards.size()) {}

std::optional<CardTable> CardTable::map(const std::string& file, size_t count) {
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  struct stat about {};
  if (!fd || ::fstat(fd.get(), &about) != 0 || !S_ISREG(about.st_mode)) return std::nullopt;
  const auto size = static_cast<size_t>(about.st_size);
  void* const at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (at == MAP_FAILED) return std::nullopt;
  const auto unmap = [size](const char* bytes) { ::munmap(const_cast<char*>(bytes), size); };
  return CardTable({static_cast<const char*>(at), unmap}, size, count, true);
}

bool CardTable::keep(const std::string& file) const {
  if (!file_may_have(size_)) return false;
  constexpr int kHow = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  const UniqueFd fd(::open(file.c_str(), kHow, 0600));
  if (!fd) return false;
  const bool whole = ::write(fd.get(), bytes_.get(), size_) == std::ssize(text());
  if (!whole) ::unlink(file.c_str());
  return whole;
}

size_t CardTable::offset(size_t index) const {
  uint64_t at;
  std::memcpy(&at, bytes_.get() + index * sizeof at, sizeof at);
  return at;
}

std::string_view CardTable::operator[](size_t rank) const {
  return text().substr(offset(rank), offset(rank + 1) - offset(rank));
}

}  // namespace causeway
