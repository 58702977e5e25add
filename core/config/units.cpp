#include "config/units.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "config/config.h"

namespace causeway {
namespace {

using Unit = std::pair<std::string_view, uint64_t>;

constexpr uint64_t kKi = 1024, kK = 1000;
// Lower case: sizes are read blind to case.
constexpr std::array<Unit, 14> kSizeUnits{{{"", 1},
                                           {"b", 1},
                                           {"k", kKi},
                                           {"kib", kKi},
                                           {"kb", kK},
                                           {"m", kKi* kKi},
                                           {"mib", kKi* kKi},
                                           {"mb", kK* kK},
                                           {"g", kKi* kKi* kKi},
                                           {"gib", kKi* kKi* kKi},
                                           {"gb", kK* kK* kK},
                                           {"t", kKi* kKi* kKi* kKi},
                                           {"tib", kKi* kKi* kKi* kKi},
                                           {"tb", kK* kK* kK* kK}}};
// Case matters: ms is not Ms.
constexpr std::array<Unit, 6> kTimeUnits{{{"ns", 1},
                                          {"us", 1000},
                                          {"ms", 1000000},
                                          {"s", 1000000000},
                                          {"min", 60000000000},
                                          {"h", 3600000000000}}};

struct Quantity {
  uint64_t digits = 0;  // all digits, the point left out
  uint64_t scale = 1;   // 10^(digits behind the point)
  std::string_view unit;
};

bool multiply_add(uint64_t& value, uint64_t factor, uint64_t addend) {
  return !__builtin_mul_overflow(value, factor, &value) &&
         !__builtin_add_overflow(value, addend, &value);
}

// "<digits>[.<digits>][ ]<unit>"; false when it has another form or too many digits.
bool split_quantity(std::string_view text, Quantity& out) {
  size_t at = 0;
  size_t before = 0, behind = 0;
  bool point = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '.' && !point && before > 0) {
      point = true;
    } else if (c >= '0' && c <= '9') {
      if (!multiply_add(out.digits, 10, static_cast<uint64_t>(c - '0'))) return false;
      if (point && !multiply_add(out.scale, 10, 0)) return false;
      ++(point ? behind : before);
    } else {
      break;
    }
  }
  if (before == 0 || (point && behind == 0)) return false;
  if (at < text.size() && text[at] == ' ') ++at;
  out.unit = text.substr(at);
  return true;
}

// False where the unit is none of these, or the value no whole number of base units.
template <size_t N>
bool to_base(const Quantity& quantity, const std::array<Unit, N>& units, std::string_view word,
             uint64_t& out) {
  const auto unit = std::ranges::find(units, word, &Unit::first);
  if (unit == units.end()) return false;
  const auto product = static_cast<unsigned __int128>(quantity.digits) * unit->second;
  const unsigned __int128 value = product / quantity.scale;
  if (product % quantity.scale != 0 || value > UINT64_MAX) return false;
  out = static_cast<uint64_t>(value);
  return true;
}

// In the largest unit that needs no fraction.
template <size_t N>
std::string in_units(uint64_t value, const std::array<Unit, N>& largest_first) {
  const auto unit = std::ranges::find_if(
      largest_first, [value](const Unit& each) { return value % each.second == 0; });
  return fmt::format("{}{}", value / unit->second, unit->first);
}

}  // namespace

uint64_t parse_size(const std::string& text) {
  Quantity quantity;
  uint64_t out = 0;
  if (split_quantity(text, quantity)) {
    std::string unit(quantity.unit);
    for (char& c : unit) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (to_base(quantity, kSizeUnits, unit, out)) return out;
  }
  throw Error(CWY_ERR_INVALID, "expected a size such as 4096, 64KiB or 2M, found '{}'", text);
}

uint64_t parse_time_ns(const std::string& text) {
  Quantity quantity;
  uint64_t out = 0;
  if (split_quantity(text, quantity)) {
    if (quantity.unit.empty() && quantity.digits == 0) return 0;
    if (quantity.unit.empty())
      throw Error(CWY_ERR_INVALID, "a time needs a unit, as in {0}us, {0}ms or {0}s", text);
    if (to_base(quantity, kTimeUnits, quantity.unit, out)) return out;
  }
  throw Error(CWY_ERR_INVALID, "expected a time such as 50us, 1ms or 2s, found '{}'", text);
}

bool parse_bool(const std::string& text) {
  if (text == "true") return true;
  if (text == "false") return false;
  throw Error(CWY_ERR_INVALID, "expected true or false, found '{}'", text);
}

int64_t parse_integer(const std::string& text) {
  int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size())
    throw Error(CWY_ERR_INVALID, "expected a whole number, found '{}'", text);
  return out;
}

std::string format_size(uint64_t bytes) {
  constexpr std::array<Unit, 5> units{{{"TiB", kKi * kKi * kKi * kKi},
                                       {"GiB", kKi * kKi * kKi},
                                       {"MiB", kKi * kKi},
                                       {"KiB", kKi},
                                       {"", 1}}};
  return bytes == 0 ? "0" : in_units(bytes, units);
}

std::string format_time(uint64_t nanoseconds) {
  constexpr std::array<Unit, 4> units{
      {{"s", 1000000000}, {"ms", 1000000}, {"us", 1000}, {"ns", 1}}};
  return in_units(nanoseconds, units);
}

}  // namespace causeway
