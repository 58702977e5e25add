// The reduction kernels of every instruction set against the C expressions of the specification,
// element by element: every type and operation, lengths around vector widths, results in place on
// either side, NaNs, infinities, signed zeros, and overflow.
#include "collective/kernels.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

namespace causeway {
namespace {

template <class T>
constexpr gex_DT_t type_of() {
  if (std::is_same_v<T, int32_t>) return GEX_DT_I32;
  if (std::is_same_v<T, uint32_t>) return GEX_DT_U32;
  if (std::is_same_v<T, int64_t>) return GEX_DT_I64;
  if (std::is_same_v<T, uint64_t>) return GEX_DT_U64;
  return std::is_same_v<T, float> ? GEX_DT_FLT : GEX_DT_DBL;
}

template <class T>
T expected(gex_OP_t op, T a, T b) {
  if (op == GEX_OP_MIN) return a < b ? a : b;
  if (op == GEX_OP_MAX) return a > b ? a : b;
  if constexpr (std::is_floating_point_v<T>) {
    volatile T result = op == GEX_OP_ADD ? a + b : a * b;  // one rounding, nothing contracted
    return result;
  } else {
    using U = std::make_unsigned_t<T>;
    const auto x = static_cast<U>(a), y = static_cast<U>(b);
    switch (op) {
      case GEX_OP_ADD:
        return static_cast<T>(x + y);
      case GEX_OP_MULT:
        return static_cast<T>(x * y);
      case GEX_OP_AND:
        return static_cast<T>(x & y);
      case GEX_OP_OR:
        return static_cast<T>(x | y);
      default:
        return static_cast<T>(x ^ y);
    }
  }
}

// Bits must agree; of a NaN that an operation made only that it is one: its payload is the
// processor's.
template <class T>
bool same(gex_OP_t op, T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if ((op == GEX_OP_ADD || op == GEX_OP_MULT) && a != a && b != b) return true;
  }
  return std::memcmp(&a, &b, sizeof a) == 0;
}

template <class T>
std::vector<T> operands(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> out(count);
  for (T& x : out) {
    if constexpr (std::is_floating_point_v<T>) {
      constexpr T kSpecial[] = {std::numeric_limits<T>::quiet_NaN(),
                                std::numeric_limits<T>::infinity(),
                                -std::numeric_limits<T>::infinity(),
                                T{0},
                                -T{0},
                                std::numeric_limits<T>::denorm_min(),
                                std::numeric_limits<T>::max()};
      const uint64_t pick = random();
      x = pick % 4 == 0 ? kSpecial[pick / 4 % 7]
                        : static_cast<T>(static_cast<int64_t>(random())) / T{1000003};
    } else {
      x = static_cast<T>(random());
    }
  }
  return out;
}

enum class Result { apart, left, right };

template <class T>
void check(const KernelSet& set, gex_OP_t op, uint64_t seed) {
  const ReduceKernel kernel = (*set.table)[std::countr_zero(type_of<T>())][std::countr_zero(op)];
  if (std::is_floating_point_v<T> && op >= GEX_OP_AND) {
    EXPECT_EQ(kernel, nullptr) << "bits of floating-point values";
    return;
  }
  ASSERT_NE(kernel, nullptr) << set.name << " type " << type_of<T>() << " op " << op;
  for (const size_t count : {0u, 1u, 3u, 7u, 8u, 15u, 16u, 17u, 31u, 64u, 65u, 1000u}) {
    for (const Result where : {Result::apart, Result::left, Result::right}) {
      for (const size_t shift : {0u, 1u}) {  // aligned for the type only
        std::vector<T> a = operands<T>(count + shift + 1, seed + count),
                       b = operands<T>(count + shift + 1, seed + count + 99),
                       c(count + shift + 1, T{42});
        const std::vector<T> left = a, right = b;
        std::vector<T>& out = where == Result::apart ? c : where == Result::left ? a : b;
        const T guard = out.back();
        kernel(a.data() + shift, b.data() + shift, out.data() + shift, count);
        for (size_t i = shift; i < count + shift; ++i) {
          ASSERT_TRUE(same(op, out[i], expected(op, left[i], right[i])))
              << set.name << " type " << type_of<T>() << " op " << op << " element " << i << " of "
              << count << ": " << left[i] << ", " << right[i] << " gave " << out[i];
        }
        ASSERT_EQ(std::memcmp(&guard, &out.back(), sizeof guard), 0) << "written beyond the end";
      }
    }
  }
}

// Catches vector code that differs from the scalar meaning in any case: NaN rules of MIN and MAX,
// the sign of zero, wrap-around, tails, and operands that are also results.
TEST(Kernels, EverySetMeansWhatTheExpressionsMean) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  size_t sets = 0;
  const KernelSet* set = kernel_sets(&sets);
  ASSERT_GE(sets, 1u);
  for (size_t s = 0; s < sets; ++s) {
    for (const gex_OP_t op :
         {GEX_OP_ADD, GEX_OP_MULT, GEX_OP_MIN, GEX_OP_MAX, GEX_OP_AND, GEX_OP_OR, GEX_OP_XOR}) {
      check<int32_t>(set[s], op, seed);
      check<uint32_t>(set[s], op, seed);
      check<int64_t>(set[s], op, seed);
      check<uint64_t>(set[s], op, seed);
      check<float>(set[s], op, seed);
      check<double>(set[s], op, seed);
    }
  }
}

TEST(Kernels, NaNOnEitherSideGivesTheRightOperandOfMinAndMax) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const gex_OP_t op : {GEX_OP_MIN, GEX_OP_MAX}) {
    const double left[] = {nan, 1.0}, right[] = {2.0, nan};
    double out[2];
    reduce_kernel(GEX_DT_DBL, op)(left, right, out, 2);
    EXPECT_EQ(out[0], 2.0);
    EXPECT_TRUE(out[1] != out[1]);
  }
}

// What is no reduction of the specification has no kernel, so that the front end can say so.
TEST(Kernels, OnlyReductionsHaveOne) {
  EXPECT_EQ(reduce_kernel(GEX_DT_I32, GEX_OP_SUB), nullptr);
  EXPECT_EQ(reduce_kernel(GEX_DT_I32, GEX_OP_FADD), nullptr);
  EXPECT_EQ(reduce_kernel(GEX_DT_I32, GEX_OP_SET), nullptr);
  EXPECT_EQ(reduce_kernel(GEX_DT_USER, GEX_OP_ADD), nullptr);
  EXPECT_EQ(reduce_kernel(GEX_DT_FLT, GEX_OP_XOR), nullptr);
  EXPECT_EQ(reduce_kernel(GEX_DT_I32 | GEX_DT_U32, GEX_OP_ADD), nullptr);
  EXPECT_EQ(reduce_kernel(0, 0), nullptr);
  EXPECT_NE(reduce_kernel(GEX_DT_U64, GEX_OP_XOR), nullptr);
}

}  // namespace
}  // namespace causeway
