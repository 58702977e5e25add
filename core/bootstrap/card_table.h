// CardTable: the cards of all ranks as one text, which a rank hands out to others. Where it is a
// file, the ranks of a host map it and share its pages.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace causeway {

class CardTable {
 public:
  CardTable() = default;
  explicit CardTable(const std::vector<std::string>& cards);
  // `text`: text() of another process. Throws Error: it is no table of `count` cards.
  CardTable(std::string text, size_t count);
  // Nothing where there is no such file. Throws Error as above. A file that is cut short later ends
  // the processes that read it; the directory of a session is its user's alone.
  static std::optional<CardTable> map(const std::string& file, size_t count);
  // False, and nothing is left of it: it does not fit, or a container does not show the directory.
  // A pipe or link that stands under that name is neither waited for nor followed.
  bool keep(const std::string& file) const;

  // Valid as long as a copy of this object is.
  std::string_view operator[](size_t rank) const;
  std::string_view text() const { return {bytes_.get(), size_}; }
  // The bytes that this process alone has.
  size_t own_bytes() const { return shared_ ? 0 : size_; }

 private:
  CardTable(const std::shared_ptr<const std::string>& text, size_t count);
  CardTable(std::shared_ptr<const char> bytes, size_t size, size_t count, bool shared);
  size_t offset(size_t index) const;

  // The offset of each card and of the end, uint64_t; then the cards.
  std::shared_ptr<const char> bytes_;
  size_t size_ = 0;
  bool shared_ = false;
};

}  // namespace causeway
