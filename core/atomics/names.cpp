#include "atomics/names.h"

#include <fmt/core.h>

#include <array>
#include <string_view>

namespace causeway {
namespace {

constexpr std::array<const char*, 6> kTypes = {"I32", "U32", "I64", "U64", "FLT", "DBL"};
constexpr std::array<const char*, 25> kOps = {
    "MIN", "SUB",  "MULT", "ADD",   "MAX",  "INC",  "DEC",  "AND",  "OR",
    "XOR", "FMIN", "FSUB", "FMULT", "FADD", "FMAX", "FINC", "FDEC", "FAND",
    "FOR", "FXOR", "SET",  "CAS",   "SWAP", "GET",  "FCAS"};

// Does the operation have that name? Asserted below wherever the order of the names could be wrong.
constexpr bool named(gex_OP_t op, const char* name) {
  const char* const known = kOps[static_cast<size_t>(std::countr_zero(op))];
  return std::string_view(known) == name;
}
static_assert(named(GEX_OP_MIN, "MIN") && named(GEX_OP_ADD, "ADD") && named(GEX_OP_FMIN, "FMIN") &&
              named(GEX_OP_FADD, "FADD") && named(GEX_OP_XOR, "XOR") &&
              named(GEX_OP_FXOR, "FXOR") && named(GEX_OP_SET, "SET") &&
              named(GEX_OP_FCAS, "FCAS") && GEX_OP_FCAS << 1 == GEX_OP_USER);

}  // namespace

std::string dt_word(gex_DT_t dt) {
  if (!one_bit_of(dt, kAtomicTypes)) return fmt::format("{:#x}", dt);
  return fmt::format("GEX_DT_{}", kTypes[static_cast<size_t>(std::countr_zero(dt))]);
}

std::string op_word(gex_OP_t ops) {
  if (ops == 0 || (ops & ~kAtomicOps) != 0) return fmt::format("{:#x}", ops);
  std::string out;
  for (size_t i = 0; i < kOps.size(); ++i)
    if (ops >> i & 1) out += fmt::format("{}GEX_OP_{}", out.empty() ? "" : "|", kOps[i]);
  return out;
}

}  // namespace causeway
