#include "atomics/names.h"

#include <fmt/core.h>

#include <array>

namespace causeway {
namespace {

constexpr std::array<const char*, 6> kTypes = {"I32", "U32", "I64", "U64", "FLT", "DBL"};
constexpr std::array<const char*, 25> kOps = {
    "ADD", "SUB",  "MULT", "MIN",   "MAX",  "INC",  "DEC",  "AND",  "OR",
    "XOR", "FADD", "FSUB", "FMULT", "FMIN", "FMAX", "FINC", "FDEC", "FAND",
    "FOR", "FXOR", "SET",  "CAS",   "SWAP", "GET",  "FCAS"};

}  // namespace

std::string dt_word(gex_DT_t dt) {
  if (!one_bit_of(dt, kAtomicTypes)) return fmt::format("{:#x}", dt);
  return fmt::format("GEX_DT_{}", kTypes[static_cast<size_t>(std::countr_zero(dt))]);
}

std::string op_word(gex_OP_t ops) {
  if (ops == 0 || (ops & ~kAtomicOps) != 0) return fmt::format("{:#x}", ops);
  std::string out;
  for (size_t i = 0; i < kOps.size(); ++i) {
    if (ops >> i & 1) out += fmt::format("{}GEX_OP_{}", out.empty() ? "" : "|", kOps[i]);
  }
  return out;
}

}  // namespace causeway
