// Kernels of the built-in reductions: out[i] = left[i] (op) right[i], one per data type and
// operation, compiled for several instruction sets; the best this processor has is chosen once.
//
// Semantics are those of the C expressions of the specification ("Data types for atomics and
// reductions"): MIN is (left < right) ? left : right and MAX is (left > right) ? left : right, so
// that a NaN on either side gives the right operand. Integer sums and products wrap. Every
// instruction set gives the same bits: nothing is contracted or reassociated.
#pragma once

#include <gasnet_fwd.h>

#include <cstddef>

namespace causeway {

// `out` may be `left` or `right`; no other overlap. All three are aligned for the type.
using ReduceKernel = void (*)(const void* left, const void* right, void* out, size_t count);

// Indexed by the bit numbers of GEX_DT_* (6 of them) and GEX_OP_* (10); NULL where the pair is no
// reduction of the specification.
using KernelTable = ReduceKernel[6][10];

struct KernelSet {
  const char* name;
  const KernelTable* table;
};
// The sets that this processor can run, the plainest first. `count` receives how many.
const KernelSet* kernel_sets(size_t* count);

// The kernel of the best set, or NULL when the pair is not a built-in reduction.
ReduceKernel reduce_kernel(gex_DT_t dt, gex_OP_t op);

// Bytes of a built-in data type, 0 for others.
constexpr size_t built_in_size(gex_DT_t dt) {
  switch (dt) {
    case GEX_DT_I32:
    case GEX_DT_U32:
    case GEX_DT_FLT:
      return 4;
    case GEX_DT_I64:
    case GEX_DT_U64:
    case GEX_DT_DBL:
      return 8;
    default:
      return 0;
  }
}

}  // namespace causeway
