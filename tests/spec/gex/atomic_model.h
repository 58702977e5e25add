// The types of remote atomics, a model of every operation in plain C++, and the typed calls under
// one name.
#pragma once

#include <gasnet_ratomic.h>

#include <cstring>
#include <tuple>
#include <type_traits>

namespace atomics {

using Types = std::tuple<int32_t, uint32_t, int64_t, uint64_t, float, double>;

template <typename T>
struct Traits;
#define ATOMICS_TRAITS(type, suffix)                                         \
  template <>                                                                \
  struct Traits<type> {                                                      \
    static constexpr gex_DT_t dt = GEX_DT_##suffix;                          \
    /* always_inline, so that an opcode the caller knows stays a constant */ \
    template <typename... Args>                                              \
    [[gnu::always_inline]] static inline gex_Event_t nb(Args... args) {      \
      return gex_AD_OpNB_##suffix(args...);                                  \
    }                                                                        \
    template <typename... Args>                                              \
    [[gnu::always_inline]] static inline int nbi(Args... args) {             \
      return gex_AD_OpNBI_##suffix(args...);                                 \
    }                                                                        \
  }
ATOMICS_TRAITS(int32_t, I32);
ATOMICS_TRAITS(uint32_t, U32);
ATOMICS_TRAITS(int64_t, I64);
ATOMICS_TRAITS(uint64_t, U64);
ATOMICS_TRAITS(float, FLT);
ATOMICS_TRAITS(double, DBL);
#undef ATOMICS_TRAITS

constexpr gex_OP_t kArithmetic =
    GEX_OP_ADD | GEX_OP_SUB | GEX_OP_MULT | GEX_OP_MIN | GEX_OP_MAX | GEX_OP_INC | GEX_OP_DEC;
constexpr gex_OP_t kBitwise = GEX_OP_AND | GEX_OP_OR | GEX_OP_XOR;
constexpr gex_OP_t kAccess = GEX_OP_SET | GEX_OP_CAS | GEX_OP_SWAP | GEX_OP_GET | GEX_OP_FCAS;

template <typename T>
constexpr gex_OP_t all_ops() {
  const gex_OP_t basic = kArithmetic | (std::is_integral_v<T> ? kBitwise : 0u);
  return basic | (basic << 10) | kAccess;  // the layout is checked by the case `opcodes`
}

inline bool fetches(gex_OP_t op) {
  return op == GEX_OP_SWAP || op == GEX_OP_GET || op == GEX_OP_FCAS ||
         (op >= GEX_OP_FMIN && op <= GEX_OP_FXOR);
}

// The value after the operation, by the expressions of the specification.
template <typename T>
T model(gex_OP_t op, T op0, T op1, T op2) {
  if constexpr (std::is_signed_v<T> && std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    const gex_OP_t ordered = GEX_OP_MIN | GEX_OP_MAX | GEX_OP_FMIN | GEX_OP_FMAX;
    if (!(op & ordered))
      return static_cast<T>(
          model<U>(op, static_cast<U>(op0), static_cast<U>(op1), static_cast<U>(op2)));
  }
  switch (op) {
    case GEX_OP_ADD:
    case GEX_OP_FADD:
      return static_cast<T>(op0 + op1);
    case GEX_OP_SUB:
    case GEX_OP_FSUB:
      return static_cast<T>(op0 - op1);
    case GEX_OP_MULT:
    case GEX_OP_FMULT:
      return static_cast<T>(op0 * op1);
    case GEX_OP_MIN:
    case GEX_OP_FMIN:
      return op0 < op1 ? op0 : op1;
    case GEX_OP_MAX:
    case GEX_OP_FMAX:
      return op0 > op1 ? op0 : op1;
    case GEX_OP_INC:
    case GEX_OP_FINC:
      return static_cast<T>(op0 + 1);
    case GEX_OP_DEC:
    case GEX_OP_FDEC:
      return static_cast<T>(op0 - 1);
    case GEX_OP_SET:
    case GEX_OP_SWAP:
      return op1;
    case GEX_OP_CAS:
    case GEX_OP_FCAS:
      return op0 == op1 ? op2 : op0;
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    switch (op) {
      case GEX_OP_AND:
      case GEX_OP_FAND:
        return static_cast<T>(op0 & op1);
      case GEX_OP_OR:
      case GEX_OP_FOR:
        return static_cast<T>(op0 | op1);
      case GEX_OP_XOR:
      case GEX_OP_FXOR:
        return static_cast<T>(op0 ^ op1);
      default:
        break;
    }
  }
  return op0;
}

// Bits, so that NaNs and negative zeros compare.
template <typename T>
uint64_t bits(T value) {
  uint64_t out = 0;
  std::memcpy(&out, &value, sizeof value);
  return out;
}

}  // namespace atomics
