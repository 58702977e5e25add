#include "config/problem.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

namespace causeway {

std::string Origin::str() const {
  if (line == 0) return source;
  return fmt::format("{}:{}:{}", source, line, column);
}

std::string Problem::str() const {
  return where.str() + ": " + message;
}

void Problems::sort(const std::vector<std::string>& source_order) {
  const auto rank = [&](const Problem& p) {
    const auto at = std::ranges::find(source_order, p.where.source);
    return std::tuple(at - source_order.begin(), p.where.line, p.where.column);
  };
  std::ranges::stable_sort(list_,
                           [&](const Problem& a, const Problem& b) { return rank(a) < rank(b); });
  // A file may be included twice.
  const auto same = [](const Problem& a, const Problem& b) { return a.str() == b.str(); };
  list_.erase(std::unique(list_.begin(), list_.end(), same), list_.end());
}

std::string Problems::text(size_t most) const {
  std::string out;
  for (size_t i = 0; i < list_.size() && i < most; ++i) {
    if (i != 0) out += '\n';
    out += list_[i].str();
  }
  if (list_.size() > most) out += fmt::format("\n... and {} more", list_.size() - most);
  return out;
}

}  // namespace causeway
