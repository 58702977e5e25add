// The cards of all ranks as one text, which a rank hands out to others.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"
#include "spawn/limits.h"

namespace causeway {

// Cards one after the other, each behind its length.
inline std::string pack_table(const std::vector<std::string>& cards) {
  std::string table;
  for (const std::string& card : cards) {
    const uint64_t length = card.size();
    table.append(reinterpret_cast<const char*>(&length), sizeof length);
    table += card;
  }
  return table;
}

inline std::vector<std::string> unpack_table(const std::string& table, size_t count) {
  std::vector<std::string> cards;
  size_t at = 0;
  while (cards.size() < count) {
    uint64_t length = 0;
    if (table.size() - at < sizeof length) break;
    std::memcpy(&length, table.data() + at, sizeof length);
    at += sizeof length;
    if (table.size() - at < length) break;
    cards.push_back(table.substr(at, length));
    at += length;
  }
  if (cards.size() != count || at != table.size())
    throw Error(CWY_ERR_INVALID, "the table of cards is damaged ({} of {} cards)", cards.size(),
                count);
  return cards;
}

// False, and nothing is left of it: it does not fit, or a container does not show the directory.
// A pipe or link that stands under that name is neither waited for nor followed.
inline bool keep_table(const std::string& file, const std::string& table) {
  if (!file_may_have(table.size())) return false;
  constexpr int kHow = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  const UniqueFd fd(::open(file.c_str(), kHow, 0600));
  if (!fd) return false;
  const bool whole = ::write(fd.get(), table.data(), table.size()) == std::ssize(table);
  if (!whole) ::unlink(file.c_str());
  return whole;
}

}  // namespace causeway
