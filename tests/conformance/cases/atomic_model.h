// The scalar model that atomics are compared with: one word, one operation, in plain C++.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace causeway::conformance {

// Bit numbers of GEX_DT_* and GEX_OP_*: what cwyc_atomic and attr.atomic_ops speak.
enum DataType : uint32_t { kI32, kU32, kI64, kU64, kFlt, kDbl, kDataTypes };
enum Operation : uint32_t {
  kMin,
  kSub,
  kMult,
  kAdd,
  kMax,
  kInc,
  kDec,
  kAnd,
  kOr,
  kXor,
  kFetching,  // ten, in the same order
  kSet = 20,
  kCas,
  kSwap,
  kGetOp,
  kFcas,
  kOperations
};

inline constexpr bool fetches(uint32_t op) {
  return (op >= kFetching && op < kSet) || op == kSwap || op == kGetOp || op == kFcas;
}

inline constexpr size_t width(uint32_t dt) {
  return dt == kI32 || dt == kU32 || dt == kFlt ? 4 : 8;
}

template <typename T>
T model(uint32_t op, T old, T a, T b) {
  const uint32_t base = op >= kFetching && op < kSet ? op - kFetching : op;
  // Integers wrap, signed ones too: computed without sign.
  const auto wrapping = [](auto compute, T x, T y) {
    if constexpr (std::is_integral_v<T>) {
      using U = std::make_unsigned_t<T>;
      return static_cast<T>(compute(static_cast<U>(x), static_cast<U>(y)));
    } else {
      return compute(x, y);
    }
  };
  const auto add = [](auto x, auto y) { return x + y; };
  const auto subtract = [](auto x, auto y) { return x - y; };
  const auto multiply = [](auto x, auto y) { return x * y; };
  switch (base) {
    case kAdd:
      return wrapping(add, old, a);
    case kSub:
      return wrapping(subtract, old, a);
    case kMult:
      return wrapping(multiply, old, a);
    case kMin:
      return old < a ? old : a;
    case kMax:
      return old > a ? old : a;
    case kInc:
      return wrapping(add, old, T{1});
    case kDec:
      return wrapping(subtract, old, T{1});
    case kSet:
    case kSwap:
      return a;
    case kCas:
    case kFcas:
      return old == a ? b : old;
    case kGetOp:
      return old;
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    if (base == kAnd) return old & a;
    if (base == kOr) return old | a;
    if (base == kXor) return old ^ a;
  }
  return old;
}

template <typename T>
uint64_t model_bits(uint32_t op, uint64_t old, uint64_t a, uint64_t b) {
  T x, y, z;
  std::memcpy(&x, &old, sizeof(T));
  std::memcpy(&y, &a, sizeof(T));
  std::memcpy(&z, &b, sizeof(T));
  const T result = model<T>(op, x, y, z);
  uint64_t bits = 0;
  std::memcpy(&bits, &result, sizeof(T));
  return bits;
}

inline uint64_t model_bits(uint32_t dt, uint32_t op, uint64_t old, uint64_t a, uint64_t b) {
  switch (dt) {
    case kI32:
      return model_bits<int32_t>(op, old, a, b);
    case kU32:
      return model_bits<uint32_t>(op, old, a, b);
    case kI64:
      return model_bits<int64_t>(op, old, a, b);
    case kU64:
      return model_bits<uint64_t>(op, old, a, b);
    case kFlt:
      return model_bits<float>(op, old, a, b);
    default:
      return model_bits<double>(op, old, a, b);
  }
}

}  // namespace causeway::conformance
