// The kernels themselves: included once per instruction set, in a namespace of its own, by files
// that are compiled with the options of that set. Nothing here may be shared between those files,
// so everything has internal linkage and no other header's templates are used.
//
// The includer defines CAUSEWAY_KERNELS, the name of the table.
#include <stddef.h>
#include <stdint.h>

namespace causeway {
namespace {

// `out` may be an operand, so the pointers may be equal; that is no dependence between different
// elements, which is what the vectoriser must be told.
#if defined(__clang__)
#define CAUSEWAY_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define CAUSEWAY_INDEPENDENT _Pragma("GCC ivdep")
#endif

template <class T, auto Combine>
void run(const void* left, const void* right, void* out, size_t count) {
  const T* const a = static_cast<const T*>(left);
  const T* const b = static_cast<const T*>(right);
  T* const o = static_cast<T*>(out);
  CAUSEWAY_INDEPENDENT
  for (size_t i = 0; i < count; ++i) o[i] = Combine(a[i], b[i]);
}

// Signed sums and products wrap: these files are compiled with -fwrapv.
constexpr auto kSum = [](auto a, auto b) { return a + b; };
constexpr auto kProduct = [](auto a, auto b) { return a * b; };
constexpr auto kLeast = [](auto a, auto b) { return a < b ? a : b; };
constexpr auto kGreatest = [](auto a, auto b) { return a > b ? a : b; };
constexpr auto kAnd = [](auto a, auto b) { return a & b; };
constexpr auto kOr = [](auto a, auto b) { return a | b; };
constexpr auto kXor = [](auto a, auto b) { return a ^ b; };

// In the order of GEX_OP_*, which kernels.cpp asserts: MIN SUB MULT ADD MAX INC DEC AND OR XOR.
#define CAUSEWAY_ARITHMETIC(T) \
  run<T, kLeast>, nullptr, run<T, kProduct>, run<T, kSum>, run<T, kGreatest>, nullptr, nullptr
#define CAUSEWAY_INTEGER(T) \
  { CAUSEWAY_ARITHMETIC(T), run<T, kAnd>, run<T, kOr>, run<T, kXor> }
#define CAUSEWAY_FLOATING(T) \
  { CAUSEWAY_ARITHMETIC(T), nullptr, nullptr, nullptr }

}  // namespace

// In the order of GEX_DT_*: I32 U32 I64 U64 FLT DBL.
extern const ReduceKernel CAUSEWAY_KERNELS[6][10] = {
    CAUSEWAY_INTEGER(int32_t),  CAUSEWAY_INTEGER(uint32_t), CAUSEWAY_INTEGER(int64_t),
    CAUSEWAY_INTEGER(uint64_t), CAUSEWAY_FLOATING(float),   CAUSEWAY_FLOATING(double),
};

}  // namespace causeway
