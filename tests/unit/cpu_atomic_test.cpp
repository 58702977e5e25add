// Atomics by the processor: the result of every operation on every type, against plain C++.
#include "atomics/cpu_atomic.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>
#include <vector>

namespace causeway {
namespace {

template <typename T>
constexpr gex_DT_t dt_of();
template <>
constexpr gex_DT_t dt_of<int32_t>() {
  return GEX_DT_I32;
}
template <>
constexpr gex_DT_t dt_of<uint32_t>() {
  return GEX_DT_U32;
}
template <>
constexpr gex_DT_t dt_of<int64_t>() {
  return GEX_DT_I64;
}
template <>
constexpr gex_DT_t dt_of<uint64_t>() {
  return GEX_DT_U64;
}
template <>
constexpr gex_DT_t dt_of<float>() {
  return GEX_DT_FLT;
}
template <>
constexpr gex_DT_t dt_of<double>() {
  return GEX_DT_DBL;
}

template <typename T>
class CpuAtomic : public testing::Test {
 public:
  // Applies and checks both the value left and the value fetched.
  static void expect(gex_OP_t op, T before, T a, T b, T after) {
    T target = before;
    const T old =
        from_operand<T>(cpu_atomic(dt_of<T>(), op, &target, to_operand(a), to_operand(b)));
    EXPECT_EQ(target, after) << "operation " << op;
    EXPECT_EQ(old, before) << "operation " << op;
  }
};
using Types = testing::Types<int32_t, uint32_t, int64_t, uint64_t, float, double>;
TYPED_TEST_SUITE(CpuAtomic, Types);

// Would catch: an operation that is missing, or mapped to its neighbour, in either form.
TYPED_TEST(CpuAtomic, ArithmeticAndAccess) {
  using T = TypeParam;
  struct Case {
    gex_OP_t op;
    T before, a, b, after;
  };
  const Case cases[] = {
      {GEX_OP_ADD, 7, 5, 0, 12}, {GEX_OP_SUB, 7, 5, 0, 2},  {GEX_OP_MULT, 7, 5, 0, 35},
      {GEX_OP_MIN, 7, 5, 0, 5},  {GEX_OP_MIN, 5, 7, 0, 5},  {GEX_OP_MAX, 7, 5, 0, 7},
      {GEX_OP_MAX, 5, 7, 0, 7},  {GEX_OP_INC, 7, 99, 0, 8}, {GEX_OP_DEC, 7, 99, 0, 6},
  };
  for (const Case& c : cases) {
    this->expect(c.op, c.before, c.a, c.b, c.after);
    this->expect(GEX_OP_TO_FETCHING(c.op), c.before, c.a, c.b, c.after);
  }
  for (const gex_OP_t op : {GEX_OP_SET, GEX_OP_SWAP}) this->expect(op, 7, 5, 0, 5);
  this->expect(GEX_OP_GET, 7, 5, 0, 7);
  for (const gex_OP_t op : {GEX_OP_CAS, GEX_OP_FCAS}) {
    this->expect(op, 7, 7, 9, 9);
    this->expect(op, 7, 8, 9, 7);
  }
}

// Would catch: bit operations on the wrong type or swapped with each other.
TYPED_TEST(CpuAtomic, BitsOfIntegers) {
  using T = TypeParam;
  if constexpr (std::is_integral_v<T>) {
    for (const bool fetch : {false, true}) {
      const auto form = [&](gex_OP_t op) { return fetch ? GEX_OP_TO_FETCHING(op) : op; };
      this->expect(form(GEX_OP_AND), 12, 10, 0, 8);
      this->expect(form(GEX_OP_OR), 12, 10, 0, 14);
      this->expect(form(GEX_OP_XOR), 12, 10, 0, 6);
    }
  } else {
    this->expect(GEX_OP_AND, 12, 10, 0, 12);  // not defined for floating point: no change
  }
}

// Would catch: overflow that is undefined behaviour (UBSan sees it) instead of wrapping.
TEST(CpuAtomicEdges, SignedOverflowWraps) {
  int32_t v = std::numeric_limits<int32_t>::max();
  cpu_atomic(GEX_DT_I32, GEX_OP_INC, &v, 0, 0);
  EXPECT_EQ(v, std::numeric_limits<int32_t>::min());
  int64_t w = std::numeric_limits<int64_t>::min();
  cpu_atomic(GEX_DT_I64, GEX_OP_SUB, &w, 1, 0);
  EXPECT_EQ(w, std::numeric_limits<int64_t>::max());
}

// Would catch: signed minimum computed on unsigned values.
TEST(CpuAtomicEdges, SignedMinimum) {
  int32_t v = 3;
  cpu_atomic(GEX_DT_I32, GEX_OP_MIN, &v, to_operand<int32_t>(-4), 0);
  EXPECT_EQ(v, -4);
}

// The documented rules: zeros compare equal, NaN equals nothing, and a minimum or maximum with a
// NaN on either side leaves the operand, as the specification's expression does.
TEST(CpuAtomicEdges, FloatingPointComparesValues) {
  double v = -0.0;
  cpu_atomic(GEX_DT_DBL, GEX_OP_CAS, &v, to_operand(0.0), to_operand(5.0));
  EXPECT_EQ(v, 5.0);
  v = std::nan("");
  cpu_atomic(GEX_DT_DBL, GEX_OP_CAS, &v, to_operand(std::nan("")), to_operand(5.0));
  EXPECT_TRUE(std::isnan(v));
  v = 2.0;
  cpu_atomic(GEX_DT_DBL, GEX_OP_MIN, &v, to_operand(std::nan("")), 0);
  EXPECT_TRUE(std::isnan(v));
  cpu_atomic(GEX_DT_DBL, GEX_OP_MAX, &v, to_operand(2.0), 0);
  EXPECT_EQ(v, 2.0);
  v = -0.0;
  cpu_atomic(GEX_DT_DBL, GEX_OP_MAX, &v, to_operand(0.0), 0);
  EXPECT_FALSE(std::signbit(v));
}

// Would catch: a lost update under contention.
TEST(CpuAtomicEdges, ThreadsLoseNothing) {
  constexpr int kThreads = 4, kEach = 20000;
  double sum = 0;
  uint64_t count = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kEach; ++i) {
        cpu_atomic(GEX_DT_DBL, GEX_OP_ADD, &sum, to_operand(0.5), 0);
        cpu_atomic(GEX_DT_U64, GEX_OP_FINC, &count, 0, 0);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(sum, kThreads * kEach * 0.5);
  EXPECT_EQ(count, static_cast<uint64_t>(kThreads) * kEach);
}

}  // namespace
}  // namespace causeway
