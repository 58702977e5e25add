// Data types and operations of atomics: which go together, and what messages call them.
#pragma once

#include <gasnet_fwd.h>

#include <bit>
#include <string>

namespace causeway {

inline constexpr gex_DT_t kAtomicTypes =
    GEX_DT_I32 | GEX_DT_U32 | GEX_DT_I64 | GEX_DT_U64 | GEX_DT_FLT | GEX_DT_DBL;
inline constexpr gex_OP_t kBitwiseOps =
    GEX_OP_AND | GEX_OP_OR | GEX_OP_XOR | GEX_OP_FAND | GEX_OP_FOR | GEX_OP_FXOR;
// Every built-in operation: all below the user-defined ones.
inline constexpr gex_OP_t kAtomicOps = GEX_OP_USER - 1;
inline constexpr gex_OP_t kFetchingOps =
    GEX_OP_FADD | GEX_OP_FSUB | GEX_OP_FMULT | GEX_OP_FMIN | GEX_OP_FMAX | GEX_OP_FINC |
    GEX_OP_FDEC | GEX_OP_FAND | GEX_OP_FOR | GEX_OP_FXOR | GEX_OP_SWAP | GEX_OP_GET | GEX_OP_FCAS;

inline bool one_bit_of(uint32_t value, uint32_t set) {
  return std::has_single_bit(value) && (value & set) != 0;
}
// The operations that the type's values allow ("Operation codes", "Valid for").
inline gex_OP_t valid_ops(gex_DT_t dt) {
  return dt & (GEX_DT_FLT | GEX_DT_DBL) ? kAtomicOps & ~kBitwiseOps : kAtomicOps;
}

// "GEX_DT_I64", or the number when it is no type.
std::string dt_word(gex_DT_t dt);
// "GEX_OP_ADD|GEX_OP_GET", or the number when it holds what is no operation.
std::string op_word(gex_OP_t ops);

}  // namespace causeway
