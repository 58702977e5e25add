// Atomics, fences and annotations: every entry does what its name says, in each threading mode.
#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "tools.h"

namespace {

const int kFlags[] = {0,
                      GASNETT_ATOMIC_RMB_PRE,
                      GASNETT_ATOMIC_WMB_PRE,
                      GASNETT_ATOMIC_MB_PRE,
                      GASNETT_ATOMIC_RMB_POST,
                      GASNETT_ATOMIC_WMB_POST,
                      GASNETT_ATOMIC_MB_POST,
                      GASNETT_ATOMIC_REL | GASNETT_ATOMIC_ACQ,
                      GASNETT_ATOMIC_ACQ_IF_TRUE,
                      GASNETT_ATOMIC_ACQ_IF_FALSE};

// One body for the six families; P and V are the macro's words of the interface's description.
#define ATOMIC_FAMILY(P, V)                                                          \
  P##_t P##_static = P##_init(7);                                                    \
  struct P##_member {                                                                \
    int before;                                                                      \
    P##_t value;                                                                     \
  } P##_in_struct = {1, P##_init(9)};                                                \
  TEST(Atomics, P) {                                                                 \
    EXPECT_EQ(P##_read(&P##_static, 0), 7u);                                         \
    EXPECT_EQ(P##_read(&P##_in_struct.value, 0), 9u);                                \
    const V top = static_cast<V>(~V{0});                                             \
    for (const int f : kFlags) {                                                     \
      P##_t a = P##_init(5);                                                         \
      P##_set(&a, 10, f);                                                            \
      EXPECT_EQ(P##_read(&a, f), 10u);                                               \
      P##_increment(&a, f);                                                          \
      EXPECT_EQ(P##_read(&a, f), 11u);                                               \
      P##_decrement(&a, f);                                                          \
      EXPECT_EQ(P##_add(&a, 5, f), 15u); /* the new value */                         \
      EXPECT_EQ(P##_subtract(&a, 13, f), 2u);                                        \
      EXPECT_EQ(P##_decrement_and_test(&a, f), 0);                                   \
      EXPECT_NE(P##_decrement_and_test(&a, f), 0);                                   \
      EXPECT_EQ(P##_swap(&a, 21, f), 0u); /* the old value */                        \
      EXPECT_EQ(P##_compare_and_swap(&a, 20, 1, f), 0);                              \
      EXPECT_EQ(P##_read(&a, f), 21u);                                               \
      EXPECT_NE(P##_compare_and_swap(&a, 21, top, f), 0);                            \
      EXPECT_EQ(P##_read(&a, f), top);                                               \
      EXPECT_EQ(P##_add(&a, 2, f), 1u); /* wraps */                                  \
      EXPECT_EQ(P##_subtract(&a, 3, f), static_cast<V>(top - 1));                    \
      P##_increment(&a, f);                                                          \
      P##_increment(&a, f);                                                          \
      EXPECT_EQ(P##_read(&a, f), 0u);                                                \
    }                                                                                \
  }                                                                                  \
  TEST(AtomicsContended, P) {                                                        \
    constexpr V kThreads = 4, kRounds = 5000;                                        \
    static P##_t sum = P##_init(0);                                                  \
    static P##_t by_cas = P##_init(0);                                               \
    P##_set(&sum, 0, 0);                                                             \
    P##_set(&by_cas, 0, 0);                                                          \
    std::vector<std::thread> threads;                                                \
    for (V t = 0; t < kThreads; ++t)                                                 \
      threads.emplace_back([] {                                                      \
        for (V i = 0; i < kRounds; ++i) {                                            \
          if (i % 2)                                                                 \
            P##_increment(&sum, 0);                                                  \
          else                                                                       \
            P##_add(&sum, 1, 0);                                                     \
          V seen;                                                                    \
          do seen = P##_read(&by_cas, 0);                                            \
          while (!P##_compare_and_swap(&by_cas, seen, static_cast<V>(seen + 1), 0)); \
        }                                                                            \
      });                                                                            \
    for (std::thread & thread : threads) thread.join();                              \
    EXPECT_EQ(P##_read(&sum, 0), kThreads* kRounds);                                 \
    EXPECT_EQ(P##_read(&by_cas, 0), kThreads* kRounds);                              \
  }
ATOMIC_FAMILY(gasnett_atomic, gasnett_atomic_val_t)
ATOMIC_FAMILY(gasnett_atomic32, uint32_t)
ATOMIC_FAMILY(gasnett_atomic64, uint64_t)
ATOMIC_FAMILY(gasnett_strongatomic, gasnett_atomic_val_t)
ATOMIC_FAMILY(gasnett_strongatomic32, uint32_t)
ATOMIC_FAMILY(gasnett_strongatomic64, uint64_t)

}  // namespace

TEST(Atomics, sizes_and_signs) {
  EXPECT_EQ(sizeof(gasnett_atomic32_t), 4u);
  EXPECT_EQ(sizeof(gasnett_atomic64_t), 8u);
  EXPECT_EQ(alignof(gasnett_atomic32_t), alignof(uint32_t));
  EXPECT_EQ(alignof(gasnett_atomic64_t), alignof(double));
  gasnett_atomic_t a = gasnett_atomic_init(0);
  gasnett_atomic_decrement(&a, 0);
  EXPECT_EQ(gasnett_atomic_signed(gasnett_atomic_read(&a, 0)), -1);
  EXPECT_LT(GASNETT_ATOMIC_SIGNED_MIN, 0);
  EXPECT_GT(GASNETT_ATOMIC_SIGNED_MAX, 0);
  EXPECT_EQ(GASNETT_ATOMIC_MAX, ~gasnett_atomic_val_t{0});
  double number = 1.5;  // storage of another type of that size
  const uint64_t bits = gasnett_atomic64_read(reinterpret_cast<gasnett_atomic64_t*>(&number), 0);
  EXPECT_EQ(std::memcmp(&bits, &number, 8), 0);
#if !GASNETT_HAVE_ATOMIC_CAS || !GASNETT_HAVE_ATOMIC_ADD_SUB || !GASNETT_HAVE_STRONGATOMIC_CAS || \
    !GASNETT_HAVE_STRONGATOMIC_ADD_SUB
#error "announced as missing"
#endif
}

// Dekker's pattern: with a full fence after the store at most one of two threads sees the other
// late. Would catch an mb that is only a release or an acquire.
TEST(Fences, full_barrier_orders_store_and_load) {
  static gasnett_atomic32_t x, y, turns;
  for (uint32_t round = 1; round <= 2000; ++round) {
    uint32_t seen_x = 0, seen_y = 0;
    gasnett_atomic32_set(&x, 0, GASNETT_ATOMIC_MB_POST);
    gasnett_atomic32_set(&y, 0, GASNETT_ATOMIC_MB_POST);
    gasnett_atomic32_set(&turns, 0, GASNETT_ATOMIC_MB_POST);
    std::thread other([&] {
      gasnett_atomic32_increment(&turns, 0);
      for (int i = 0; i < 100 && gasnett_atomic32_read(&turns, 0) < 2; ++i) gasnett_spinloop_hint();
      __atomic_store_n(&x.cwy_value, 1, __ATOMIC_RELAXED);
      gasnett_local_mb();
      seen_y = __atomic_load_n(&y.cwy_value, __ATOMIC_RELAXED);
    });
    gasnett_atomic32_increment(&turns, 0);
    for (int i = 0; i < 100 && gasnett_atomic32_read(&turns, 0) < 2; ++i) gasnett_spinloop_hint();
    __atomic_store_n(&y.cwy_value, 1, __ATOMIC_RELAXED);
    gasnett_local_mb();
    seen_x = __atomic_load_n(&x.cwy_value, __ATOMIC_RELAXED);
    other.join();
    ASSERT_TRUE(seen_x == 1 || seen_y == 1) << "round " << round;
  }
}

TEST(Fences, all_are_expressions) {
  int value = 1;
  value = (gasnett_local_wmb(), gasnett_local_rmb(), gasnett_local_mb(), value + 1);
  value = (gasnett_weak_wmb(), gasnett_weak_rmb(), gasnett_weak_mb(), value + 1);
  value = (gasnett_compiler_fence(), gasnett_spinloop_hint(), value + 1);
  EXPECT_EQ(value, 4);
}

// ---- annotations ----
GASNETT_IDENT(spec_tools_ident, "$SpecToolsIdent: kept $");
GASNETT_INLINE(inlined)
int inlined(int x) {
  return x + 1;
}
static GASNETT_NEVER_INLINE(not_inlined, int not_inlined(int x)) {
  return x + 2;
}
GASNETT_NORETURNP(leaves)
static void leaves() GASNETT_NORETURN;
static void leaves() {
  std::exit(0);
}
static GASNETT_FORMAT_PRINTF(formatted, 2, 3, int formatted(char* out, const char* fmt, ...));
static int formatted(char* out, const char* fmt, ...) {
  va_list args;
  va_start(args, fmt);
  const int n = std::vsnprintf(out, 32, fmt, args);
  va_end(args);
  return n;
}
GASNETT_MALLOC static void* fresh(size_t n) {
  return std::malloc(n);
}
static GASNETT_PURE int pure(int x) {
  return x;
}
static GASNETT_CONST int constant(int x) {
  return x;
}
static GASNETT_HOT int hot(int x) {
  return x;
}
static GASNETT_COLD int cold(int x) {
  return x;
}
GASNETT_USED static int kept_although_unused = 1;
static int add(const int* GASNETT_RESTRICT a, const int* GASNETT_RESTRICT b) {
  return *a + *b;
}
GASNETT_BEGIN_EXTERNC
int spec_tools_c_function(void);
GASNETT_END_EXTERNC
GASNETT_EXTERNC int spec_tools_c_function(void) {
  return 5;
}

TEST(Annotations, keep_their_meaning) {
  EXPECT_EQ(inlined(1), 2);
  EXPECT_EQ(not_inlined(1), 3);
  char text[32];
  EXPECT_EQ(formatted(text, "%d", 42), 2);
  void* memory = fresh(8);
  EXPECT_NE(memory, nullptr);
  std::free(memory);
  EXPECT_EQ(pure(1) + constant(2) + hot(3) + cold(4), 10);
  EXPECT_EQ(add(&kept_although_unused, &kept_although_unused), 2);
  EXPECT_EQ(spec_tools_c_function(), 5);
  int hits = 0;
  const char* pointer = text;
  if_pf(pointer == nullptr)++ hits;
  if_pt(pointer)++ hits;
  if (GASNETT_PREDICT_TRUE(pointer)) ++hits;
  if (GASNETT_PREDICT_FALSE(4)) ++hits;  // the truth of 4, not the value
  EXPECT_EQ(hits, 3);
  EXPECT_EQ(MIN(3, 4), 3);
  EXPECT_EQ(MAX(3, 4), 4);
  EXPECT_STREQ(_STRINGIFY(GASNETT_SPEC_VERSION_MAJOR), "1");
  EXPECT_EQ(_CONCAT(1, 2), 12);
  EXPECT_STREQ(spec_tools_ident, "$SpecToolsIdent: kept $");
  int order = 0, first = 0, second = 0;
  GASNETT_UNUSED_ARGS2(first = ++order, second = ++order);
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 2);
  GASNETT_UNUSED_ARGS8(1, 2, 3, 4, 5, 6, 7, order++);
  EXPECT_EQ(order, 3);
  switch (order) {
    case 3:
      ++order;
      GASNETT_FALLTHROUGH
    case 4:
      ++order;
  }
  EXPECT_EQ(order, 5);
  gasnett_assume(order == 5);
  EXPECT_TRUE(gasnett_constant_p(4) == 1 || gasnett_constant_p(4) == 0);
  EXPECT_EXIT(leaves(), testing::ExitedWithCode(0), "");
}
