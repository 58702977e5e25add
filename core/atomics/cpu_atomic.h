// Atomics by the processor: the one mechanism behind emulated atomics, and the meaning of every
// (data type, operation) pair. Operations are sequentially consistent. Floating-point values
// compare as such (CAS of -0.0 matches 0.0; NaN matches nothing); MIN and MAX keep the target
// when either operand is NaN.
#pragma once

#include <gasnet_fwd.h>

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace causeway {

template <typename T>
T from_operand(uint64_t operand) {
  T value;
  std::memcpy(&value, &operand, sizeof value);
  return value;
}
template <typename T>
uint64_t to_operand(T value) {
  uint64_t operand = 0;
  std::memcpy(&operand, &value, sizeof value);
  return operand;
}

// The value that replaces `old`.
template <typename T>
T combine(gex_OP_t op, T old, T a, T b) {
  switch (op) {
    case GEX_OP_ADD:
    case GEX_OP_FADD:
      return static_cast<T>(old + a);
    case GEX_OP_SUB:
    case GEX_OP_FSUB:
      return static_cast<T>(old - a);
    case GEX_OP_MULT:
    case GEX_OP_FMULT:
      return static_cast<T>(old * a);
    case GEX_OP_MIN:
    case GEX_OP_FMIN:
      return a < old ? a : old;
    case GEX_OP_MAX:
    case GEX_OP_FMAX:
      return a > old ? a : old;
    case GEX_OP_INC:
    case GEX_OP_FINC:
      return static_cast<T>(old + 1);
    case GEX_OP_DEC:
    case GEX_OP_FDEC:
      return static_cast<T>(old - 1);
    case GEX_OP_SET:
    case GEX_OP_SWAP:
      return a;
    case GEX_OP_CAS:
    case GEX_OP_FCAS:
      return old == a ? b : old;
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    if (op == GEX_OP_AND || op == GEX_OP_FAND) return static_cast<T>(old & a);
    if (op == GEX_OP_OR || op == GEX_OP_FOR) return static_cast<T>(old | a);
    if (op == GEX_OP_XOR || op == GEX_OP_FXOR) return static_cast<T>(old ^ a);
  }
  return old;  // GET
}

// Signed arithmetic wraps: it is done on the unsigned type of the same width.
template <typename T>
uint64_t apply(gex_OP_t op, void* addr, uint64_t operand1, uint64_t operand2) {
  constexpr bool wraps = std::is_signed_v<T> && std::is_integral_v<T>;
  using U = typename std::conditional_t<wraps, std::make_unsigned<T>, std::type_identity<T>>::type;
  std::atomic_ref<T> target(*static_cast<T*>(addr));
  T old = target.load(std::memory_order_seq_cst);
  const T a = from_operand<T>(operand1), b = from_operand<T>(operand2);
  const bool ordered = op & (GEX_OP_MIN | GEX_OP_MAX | GEX_OP_FMIN | GEX_OP_FMAX);
  for (;;) {
    const T fresh = ordered ? combine<T>(op, old, a, b)
                            : static_cast<T>(combine<U>(op, static_cast<U>(old), static_cast<U>(a),
                                                        static_cast<U>(b)));
    if (target.compare_exchange_weak(old, fresh, std::memory_order_seq_cst)) {
      return to_operand(old);
    }
  }
}

// Applies the operation and returns what was there before.
inline uint64_t cpu_atomic(gex_DT_t dt, gex_OP_t op, void* addr, uint64_t operand1,
                           uint64_t operand2) {
  switch (dt) {
    case GEX_DT_I32:
      return apply<int32_t>(op, addr, operand1, operand2);
    case GEX_DT_U32:
      return apply<uint32_t>(op, addr, operand1, operand2);
    case GEX_DT_I64:
      return apply<int64_t>(op, addr, operand1, operand2);
    case GEX_DT_U64:
      return apply<uint64_t>(op, addr, operand1, operand2);
    case GEX_DT_FLT:
      return apply<float>(op, addr, operand1, operand2);
    case GEX_DT_DBL:
      return apply<double>(op, addr, operand1, operand2);
    default:
      return 0;
  }
}

inline size_t dt_size(gex_DT_t dt) {
  return dt & (GEX_DT_I32 | GEX_DT_U32 | GEX_DT_FLT) ? 4 : 8;
}

}  // namespace causeway
