// Numbers as people write them in environment variables.
#include <gasnet_tools.h>

#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "api/export.h"

namespace {

constexpr std::array<const char*, 5> kUnits = {"B", "KB", "MB", "GB", "TB"};

// The power of 1024 that a unit letter stands for; -1 for none.
int power_of_unit(const char* text) {
  while (*text == ' ' || *text == '\t') ++text;
  constexpr char kLetters[] = "BKMGT";
  const char letter = static_cast<char>(std::toupper(static_cast<unsigned char>(*text)));
  for (int i = 0; i < 5; ++i)
    if (kLetters[i] == letter) return i;
  return -1;
}

int64_t parse_plain(const char* text) {
  while (std::isspace(static_cast<unsigned char>(*text))) ++text;
  const char* digits = text + (*text == '-' || *text == '+');
  const bool hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
  const auto value = static_cast<int64_t>(std::strtoull(digits, nullptr, hex ? 16 : 10));
  return *text == '-' ? -value : value;
}

int64_t parse_size(const char* text, uint64_t multiplier) {
  char* end = nullptr;
  const long double number = std::strtold(text, &end);
  if (end == text) return 0;
  const int power = power_of_unit(end);
  const long double unit =
      power >= 0 ? std::ldexp(1.0L, 10 * power) : static_cast<long double>(multiplier);
  return static_cast<int64_t>(number * unit);
}

}  // namespace

CAUSEWAY_API int64_t gasnett_parse_int(const char* str, uint64_t mem_size_multiplier) {
  if (str == nullptr) return 0;
  return mem_size_multiplier == 0 ? parse_plain(str) : parse_size(str, mem_size_multiplier);
}

CAUSEWAY_API char* gasnett_format_number(int64_t val, char* buf, size_t sz, int is_mem_size) {
  if (!is_mem_size) {
    std::snprintf(buf, sz, "%lld", static_cast<long long>(val));
    return buf;
  }
  // The largest unit that divides exactly, or leaves at least 10.
  size_t unit = kUnits.size() - 1;
  for (; unit > 0; --unit) {
    const int64_t bytes = int64_t{1} << (10 * unit);
    const int64_t count = val / bytes;
    if (val != 0 && (val % bytes == 0 || count >= 10 || count <= -10)) break;
  }
  std::snprintf(buf, sz, "%lld %s", static_cast<long long>(val / (int64_t{1} << (10 * unit))),
                kUnits[unit]);
  return buf;
}
