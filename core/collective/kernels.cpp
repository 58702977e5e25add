#include "collective/kernels.h"

#include <bit>

namespace causeway {

extern const ReduceKernel kPlainKernels[6][10];
#if defined(__x86_64__)
extern const ReduceKernel kAvx2Kernels[6][10];
extern const ReduceKernel kAvx512Kernels[6][10];
#endif

namespace {

// The tables' order (kernel_body.h).
static_assert(GEX_OP_MIN == 1u << 0 && GEX_OP_MULT == 1u << 2 && GEX_OP_ADD == 1u << 3 &&
              GEX_OP_MAX == 1u << 4 && GEX_OP_AND == 1u << 7 && GEX_OP_OR == 1u << 8 &&
              GEX_OP_XOR == 1u << 9);
static_assert(GEX_DT_I32 == 1u << 0 && GEX_DT_U32 == 1u << 1 && GEX_DT_I64 == 1u << 2 &&
              GEX_DT_U64 == 1u << 3 && GEX_DT_FLT == 1u << 4 && GEX_DT_DBL == 1u << 5);

struct Sets {
  KernelSet sets[3];
  size_t count = 0;

  Sets() {
    sets[count++] = {"plain", &kPlainKernels};
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2")) sets[count++] = {"avx2", &kAvx2Kernels};
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
      sets[count++] = {"avx512", &kAvx512Kernels};
#endif
  }
};

const Sets& sets() {
  static const Sets instance;
  return instance;
}

}  // namespace

const KernelSet* kernel_sets(size_t* count) {
  *count = sets().count;
  return sets().sets;
}

ReduceKernel reduce_kernel(gex_DT_t dt, gex_OP_t op) {
  if (!std::has_single_bit(dt) || !std::has_single_bit(op)) return nullptr;
  const unsigned type = static_cast<unsigned>(std::countr_zero(dt));
  const unsigned operation = static_cast<unsigned>(std::countr_zero(op));
  if (type >= 6 || operation >= 10) return nullptr;
  const Sets& all = sets();
  return (*all.sets[all.count - 1].table)[type][operation];
}

}  // namespace causeway
