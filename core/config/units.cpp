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

Error too_large(std::string_view text) {
  return {CWY_ERR_INVALID, "'{}' is too large", text};
}

// "<digits>[.<digits>][ ]<unit>"; false when it has another form.
bool split_quantity(std::string_view text, Quantity& out) {
  size_t at = 0;
  size_t before = 0, behind = 0;
  bool point = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '.' && !point && before > 0) {
      point = true;
    } else if (c >= '0' && c <= '9') {
      if (!multiply_add(out.digits, 10, static_cast<uint64_t>(c - '0')) ||
          (point && !multiply_add(out.scale, 10, 0)))
        return point ? false : throw too_large(text);
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

// Bytes of a size's unit, in any case: k and KiB are 1024, KB is 1000. 0 where it is none.
uint64_t size_unit(std::string_view text) {
  std::string unit(text);
  for (char& c : unit) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (unit.empty() || unit == "b") return 1;
  const size_t power = std::string_view("kmgt").find(unit[0]);
  const std::string rest = unit.substr(1);
  if (power == std::string_view::npos || !(rest.empty() || rest == "b" || rest == "ib")) return 0;
  uint64_t bytes = 1;
  for (size_t i = 0; i <= power; ++i) bytes *= rest == "b" ? kK : kKi;
  return bytes;
}

uint64_t time_unit(std::string_view text) {
  const auto unit = std::ranges::find(kTimeUnits, text, &Unit::first);
  return unit == kTimeUnits.end() ? 0 : unit->second;
}

// False where there is no such unit, or the value is no whole number of base units.
bool to_base(const Quantity& quantity, uint64_t unit, const std::string& text, uint64_t& out) {
  const auto product = static_cast<unsigned __int128>(quantity.digits) * unit;
  if (product / quantity.scale > UINT64_MAX) throw too_large(text);
  out = static_cast<uint64_t>(product / quantity.scale);
  return unit != 0 && product % quantity.scale == 0;
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
  if (split_quantity(text, quantity) && to_base(quantity, size_unit(quantity.unit), text, out))
    return out;
  throw Error(CWY_ERR_INVALID, "expected a size such as 4096, 64KiB or 2M, found '{}'", text);
}

uint64_t parse_time_ns(const std::string& text) {
  Quantity quantity;
  uint64_t out = 0;
  if (split_quantity(text, quantity)) {
    if (quantity.unit.empty() && quantity.digits == 0) return 0;
    if (quantity.unit.empty())
      throw Error(CWY_ERR_INVALID, "a time needs a unit, as in {0}us, {0}ms or {0}s", text);
    if (to_base(quantity, time_unit(quantity.unit), text, out)) return out;
  }
  throw Error(CWY_ERR_INVALID, "expected a time such as 50us, 2s or 5min, found '{}'", text);
}

bool parse_bool(const std::string& text) {
  if (text == "true") return true;
  if (text == "false") return false;
  throw Error(CWY_ERR_INVALID, "expected true or false, found '{}'", text);
}

int64_t parse_integer(const std::string& text) {
  int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error == std::errc::result_out_of_range && text[0] != '-') throw too_large(text);
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
