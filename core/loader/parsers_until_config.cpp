// Stand-ins for the config room's parsers, weak: dropped when that room is merged.
#include <charconv>
#include "config/config.h"
#include "diag/error.h"
namespace causeway {
__attribute__((weak)) uint64_t parse_size(const std::string& text) {
  uint64_t v = 0;
  auto r = std::from_chars(text.data(), text.data() + text.size(), v);
  std::string u(r.ptr, text.data() + text.size() - r.ptr);
  if (r.ec != std::errc{}) throw Error(CWY_ERR_INVALID, "bad size");
  if (u.empty()) return v;
  if (u == "k" || u == "K" || u == "KiB") return v << 10;
  if (u == "M" || u == "MiB") return v << 20;
  throw Error(CWY_ERR_INVALID, "bad size");
}
__attribute__((weak)) uint64_t parse_time_ns(const std::string& text) {
  uint64_t v = 0;
  auto r = std::from_chars(text.data(), text.data() + text.size(), v);
  std::string u(r.ptr, text.data() + text.size() - r.ptr);
  if (r.ec != std::errc{}) throw Error(CWY_ERR_INVALID, "bad time");
  if (u == "s") return v * 1000000000;
  if (u == "ms") return v * 1000000;
  if (u == "us") return v * 1000;
  if (u == "ns") return v;
  throw Error(CWY_ERR_INVALID, "bad time");
}
__attribute__((weak)) bool parse_bool(const std::string& text) {
  if (text == "true") return true;
  if (text == "false") return false;
  throw Error(CWY_ERR_INVALID, "bad bool");
}
__attribute__((weak)) std::optional<std::string> did_you_mean(
    const std::string& word, const std::vector<std::string>& words) {
  for (const auto& w : words) {
    if (w.substr(0, 3) == word.substr(0, 3)) return w;
  }
  return std::nullopt;
}
__attribute__((weak)) std::string Origin::str() const {
  return line == 0 ? source : fmt::format("{}:{}:{}", source, line, column);
}
}  // namespace causeway
