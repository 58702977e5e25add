#include "config/rank_set.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/error.h"

namespace causeway {
namespace {

bool take_rank(std::string_view& text, uint32_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

[[noreturn]] void refuse(const std::string& text) {
  throw Error(CWY_ERR_INVALID, "expected ranks such as 0-3,7,12-, found '{}'", text);
}

}  // namespace

RankSet RankSet::parse(const std::string& text) {
  RankSet out;
  if (text.empty()) {
    out.ranges_.emplace_back(0, UINT32_MAX);
    return out;
  }
  std::string_view rest = text;
  while (true) {
    uint32_t first = 0, last = 0;
    if (!take_rank(rest, first)) refuse(text);
    last = first;
    if (!rest.empty() && rest.front() == '-') {
      rest.remove_prefix(1);
      if (rest.empty() || rest.front() == ',')
        last = UINT32_MAX;
      else if (!take_rank(rest, last))
        refuse(text);
    }
    if (last < first) {
      throw Error(CWY_ERR_INVALID, "the range {}-{} is backwards; write {}-{}", first, last, last,
                  first);
    }
    out.ranges_.emplace_back(first, last);
    if (rest.empty()) break;
    if (rest.front() != ',') refuse(text);
    rest.remove_prefix(1);
  }
  out.normalize();
  return out;
}

void RankSet::normalize() {
  std::ranges::sort(ranges_);
  std::vector<std::pair<uint32_t, uint32_t>> merged;
  for (const auto& range : ranges_) {
    const bool touches = !merged.empty() && (merged.back().second == UINT32_MAX ||
                                             range.first <= merged.back().second + 1);
    if (touches)
      merged.back().second = std::max(merged.back().second, range.second);
    else
      merged.push_back(range);
  }
  ranges_ = std::move(merged);
}

RankSet RankSet::of(const std::vector<uint32_t>& ranks) {
  RankSet out;
  for (const uint32_t rank : ranks) out.ranges_.emplace_back(rank, rank);
  out.normalize();
  return out;
}

bool RankSet::contains(uint32_t rank) const {
  return std::ranges::any_of(
      ranges_, [&](const auto& range) { return range.first <= rank && rank <= range.second; });
}

bool RankSet::covers(const RankSet& other) const {
  return std::ranges::all_of(other.ranges_, [&](const auto& wanted) {
    return std::ranges::any_of(ranges_, [&](const auto& range) {
      return range.first <= wanted.first && wanted.second <= range.second;
    });
  });
}

bool RankSet::intersects(const RankSet& other) const {
  return std::ranges::any_of(other.ranges_, [&](const auto& theirs) {
    return std::ranges::any_of(ranges_, [&](const auto& ours) {
      return ours.first <= theirs.second && theirs.first <= ours.second;
    });
  });
}

RankSet RankSet::union_of(const std::vector<const RankSet*>& sets) {
  RankSet out;
  for (const RankSet* set : sets)
    out.ranges_.insert(out.ranges_.end(), set->ranges_.begin(), set->ranges_.end());
  out.normalize();
  return out;
}

std::string RankSet::str() const {
  std::string out;
  for (const auto& [first, last] : ranges_) {
    if (!out.empty()) out += ',';
    out += std::to_string(first);
    if (last == UINT32_MAX && first != last)
      out += '-';
    else if (last != first)
      out += '-' + std::to_string(last);
  }
  return out;
}

}  // namespace causeway
