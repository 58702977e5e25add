#include "options.h"

#include <array>

namespace storm {
namespace {

constexpr std::array<std::string_view, kFamilies> kNames = {
    "coll",   "rma",     "am",   "vis",     "notice", "team",   "segment",
    "device", "threads", "ends", "atomics", "gaspi",  "legacy", "clients"};

}  // namespace

std::string_view name_of(Family family) {
  return kNames[static_cast<unsigned>(family)];
}

bool parse_ops(std::string_view text, uint32_t& ops, std::string& bad) {
  ops = 0;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    text = comma == std::string_view::npos ? "" : text.substr(comma + 1);
    unsigned i = 0;
    while (i < kFamilies && kNames[i] != word) ++i;
    if (i == kFamilies) {
      bad = word;
      return false;
    }
    ops |= 1u << i;
  }
  return true;
}

std::string print_ops(uint32_t ops) {
  std::string text;
  for (unsigned i = 0; i < kFamilies; ++i) {
    if ((ops >> i & 1) == 0) continue;
    if (!text.empty()) text += ',';
    text += kNames[i];
  }
  return text;
}

}  // namespace storm
