// Atomics by the processor: the mechanism behind mapped memory and emulated atomics, and the
// meaning of every (data type, operation) pair. Operations are sequentially consistent. Every value
// is that of the C expression in the specification ("Operation codes"), except that signed integers
// wrap: floating-point CAS compares values (-0.0 matches 0.0; NaN matches nothing), and MIN and MAX
// take the operand unless the target is smaller or larger, so also when either is a NaN.
#pragma once

#include <gasnet_fwd.h>

#include <atomic>
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
      return old < a ? old : a;
    case GEX_OP_MAX:
    case GEX_OP_FMAX:
      return old > a ? old : a;
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
T wrapping(gex_OP_t op, T old, T a, T b) {
  constexpr bool wraps = std::is_signed_v<T> && std::is_integral_v<T>;
  using U = typename std::conditional_t<wraps, std::make_unsigned<T>, std::type_identity<T>>::type;
  if (op & (GEX_OP_MIN | GEX_OP_MAX | GEX_OP_FMIN | GEX_OP_FMAX)) return combine<T>(op, old, a, b);
  return static_cast<T>(combine<U>(op, static_cast<U>(old), static_cast<U>(a), static_cast<U>(b)));
}

// Operations without an instruction: a compare-and-swap that starts again when another got in
// between. The values are computed from what was really there; what a failing CAS stores is what it
// found, and is not stored.
template <typename T>
T by_exchange(gex_OP_t op, std::atomic_ref<T> target, T a, T b) {
  T old = target.load(std::memory_order_seq_cst);
  for (;;) {
    const bool no_match = (op & (GEX_OP_CAS | GEX_OP_FCAS)) && !(old == a);
    const T fresh = no_match ? old : wrapping<T>(op, old, a, b);
    if (target.compare_exchange_weak(old, fresh, std::memory_order_seq_cst)) return old;
  }
}

template <typename T>
uint64_t apply(gex_OP_t op, void* addr, uint64_t operand1, uint64_t operand2) {
  std::atomic_ref<T> target(*static_cast<T*>(addr));
  const T a = from_operand<T>(operand1), b = from_operand<T>(operand2);
  if (op == GEX_OP_GET) return to_operand(target.load(std::memory_order_seq_cst));
  if (op & (GEX_OP_SET | GEX_OP_SWAP))
    return to_operand(target.exchange(a, std::memory_order_seq_cst));
  if constexpr (std::is_integral_v<T>) {
    constexpr auto order = std::memory_order_seq_cst;
    if (op & (GEX_OP_ADD | GEX_OP_FADD)) return to_operand(target.fetch_add(a, order));
    if (op & (GEX_OP_SUB | GEX_OP_FSUB)) return to_operand(target.fetch_sub(a, order));
    if (op & (GEX_OP_INC | GEX_OP_FINC)) return to_operand(target.fetch_add(1, order));
    if (op & (GEX_OP_DEC | GEX_OP_FDEC)) return to_operand(target.fetch_sub(1, order));
    if (op & (GEX_OP_AND | GEX_OP_FAND)) return to_operand(target.fetch_and(a, order));
    if (op & (GEX_OP_OR | GEX_OP_FOR)) return to_operand(target.fetch_or(a, order));
    if (op & (GEX_OP_XOR | GEX_OP_FXOR)) return to_operand(target.fetch_xor(a, order));
    if (op & (GEX_OP_CAS | GEX_OP_FCAS)) {
      T old = a;
      target.compare_exchange_strong(old, b, order);
      return to_operand(old);
    }
  }
  return to_operand(by_exchange<T>(op, target, a, b));
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
