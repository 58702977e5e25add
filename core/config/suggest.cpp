// did_you_mean: the optimal string alignment distance (insertions, deletions, substitutions and
// swaps of neighbors), blind to case and to `-` against `_`.
#include <algorithm>
#include <cctype>
#include <vector>

#include "config/config.h"

namespace causeway {
namespace {

std::string folded(const std::string& word) {
  std::string out;
  for (const char c : word)
    out += c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

size_t distance(const std::string& a, const std::string& b) {
  std::vector<size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substituted = last[j - 1] + (a[i - 1] != b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, substituted});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::optional<std::string> did_you_mean(const std::string& word,
                                        const std::vector<std::string>& words) {
  constexpr size_t longest = 64;  // nobody mistypes more, and the distance costs the product
  if (word.empty() || word.size() > longest) return std::nullopt;
  const std::string asked = folded(word);
  const std::string* best = nullptr;
  size_t best_distance = 0;
  for (const std::string& candidate : words) {
    const std::string known = folded(candidate);
    size_t d = distance(asked, known);
    const size_t allowed = std::max<size_t>(1, std::max(asked.size(), known.size()) / 3);
    // An abbreviation of at least three letters counts as near, though behind real misspellings.
    const bool abbreviated = asked.size() >= 3 && known.compare(0, asked.size(), asked) == 0;
    if (d > allowed && abbreviated) d = allowed;
    if (d > allowed || d >= known.size()) continue;
    if (best == nullptr || d < best_distance) {
      best = &candidate;
      best_distance = d;
    }
  }
  if (best == nullptr) return std::nullopt;
  return *best;
}

std::string meant_hint(const std::string& word, const std::vector<std::string>& words) {
  const auto near = did_you_mean(word, words);
  return near ? "; did you mean '" + *near + "'?" : "";
}

}  // namespace causeway
