#include "host_list.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <utility>

namespace causeway::command {
namespace {

// Numbers of at least so many digits.
std::string ranges(std::vector<uint64_t> n, size_t digits) {
  std::sort(n.begin(), n.end());
  n.erase(std::unique(n.begin(), n.end()), n.end());
  std::string out;
  for (size_t i = 0; i < n.size();) {
    size_t last = i;
    while (last + 1 < n.size() && n[last + 1] == n[last] + 1) ++last;
    out += fmt::format("{}{:0{}}", out.empty() ? "" : ",", n[i], digits);
    if (last != i) out += fmt::format("-{:0{}}", n[last], digits);
    i = last + 1;
  }
  return n.size() == 1 ? out : "[" + out + "]";
}

}  // namespace

std::string host_list(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());  // padded numbers come first
  constexpr size_t kMostDigits = 18;      // of a number that fits
  // The numbers of hosts, by the text before them and their digits; 0: the name has no number.
  std::map<std::pair<std::string, size_t>, std::vector<uint64_t>> groups;
  for (const std::string& name : names) {
    const size_t text = name.find_last_not_of("0123456789") + 1;
    const size_t length = name.size() - text;
    if (length == 0 || length > kMostDigits) {
      groups[{name, 0}];
      continue;
    }
    // "node7" and "node12" are one group; "node07" goes with "node12" too, but not with "node7".
    const bool padded = name[text] == '0' && length > 1;
    const std::string prefix = name.substr(0, text);
    const size_t digits = padded || groups.count({prefix, length}) != 0 ? length : 1;
    groups[{prefix, digits}].push_back(std::strtoull(name.c_str() + text, nullptr, 10));
  }
  std::string out;
  for (const auto& [name, numbers] : groups)
    out += (out.empty() ? "" : ", ") + name.first +
           (name.second == 0 ? "" : ranges(numbers, name.second));
  return out;
}

}  // namespace causeway::command
