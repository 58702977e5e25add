// The results of the built-in operations of reductions, in plain C++.
#pragma once

#include <gasnetex.h>

#include <type_traits>

namespace reduction {

template <class T>
T apply(gex_OP_t op, T left, T right) {
  switch (op) {
    case GEX_OP_ADD:
      return static_cast<T>(left + right);
    case GEX_OP_MULT:
      return static_cast<T>(left * right);
    case GEX_OP_MIN:
      return left < right ? left : right;
    case GEX_OP_MAX:
      return left > right ? left : right;
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    if (op == GEX_OP_AND) return left & right;
    if (op == GEX_OP_OR) return left | right;
    return left ^ right;
  }
  return right;
}

}  // namespace reduction
