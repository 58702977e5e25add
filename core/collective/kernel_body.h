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

template <class T, T (*Combine)(T, T)>
void run(const void* left, const void* right, void* out, size_t count) {
  const T* const a = static_cast<const T*>(left);
  const T* const b = static_cast<const T*>(right);
  T* const o = static_cast<T*>(out);
  CAUSEWAY_INDEPENDENT
  for (size_t i = 0; i < count; ++i) o[i] = Combine(a[i], b[i]);
}

// Signed sums and products are formed unsigned: they wrap.
template <class T>
inline T add(T a, T b) {
  return a + b;
}
template <>
inline int32_t add(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}
template <>
inline int64_t add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
template <class T>
inline T multiply(T a, T b) {
  return a * b;
}
template <>
inline int32_t multiply(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b));
}
template <>
inline int64_t multiply(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
template <class T>
inline T least(T a, T b) {
  return a < b ? a : b;
}
template <class T>
inline T greatest(T a, T b) {
  return a > b ? a : b;
}
template <class T>
inline T bits_and(T a, T b) {
  return a & b;
}
template <class T>
inline T bits_or(T a, T b) {
  return a | b;
}
template <class T>
inline T bits_xor(T a, T b) {
  return a ^ b;
}

// In the order of GEX_OP_*, which kernels.cpp asserts: MIN SUB MULT ADD MAX INC DEC AND OR XOR.
#define CAUSEWAY_ARITHMETIC(T)                                                                  \
  run<T, least<T>>, nullptr, run<T, multiply<T>>, run<T, add<T>>, run<T, greatest<T>>, nullptr, \
      nullptr
#define CAUSEWAY_INTEGER(T) \
  { CAUSEWAY_ARITHMETIC(T), run<T, bits_and<T>>, run<T, bits_or<T>>, run<T, bits_xor<T>> }
#define CAUSEWAY_FLOATING(T) \
  { CAUSEWAY_ARITHMETIC(T), nullptr, nullptr, nullptr }

}  // namespace

// In the order of GEX_DT_*: I32 U32 I64 U64 FLT DBL.
extern const ReduceKernel CAUSEWAY_KERNELS[6][10] = {
    CAUSEWAY_INTEGER(int32_t),  CAUSEWAY_INTEGER(uint32_t), CAUSEWAY_INTEGER(int64_t),
    CAUSEWAY_INTEGER(uint64_t), CAUSEWAY_FLOATING(float),   CAUSEWAY_FLOATING(double),
};

}  // namespace causeway
