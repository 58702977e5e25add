// Remote atomics, one at a time: what each operation computes and fetches, by every entry, and
// what a domain remembers.
#include "atomics.h"

#include <cmath>
#include <limits>
#include <vector>

using namespace atomics;
using spec::job;

namespace {

// Each rank works on words of its own in its neighbor's segment, 64 bytes apart.
template <typename T>
T* word_at(gex_Rank_t rank, size_t index = 0) {
  return reinterpret_cast<T*>(
      spec::segment_of(rank, spec::kScratchOffset + (job().rank * size_t{16} + index) * 64));
}

template <typename T>
void put(gex_Rank_t rank, T* word, T value) {
  gex_RMA_PutBlocking(job().tm, rank, word, &value, sizeof value, 0);
}
template <typename T>
T get(gex_Rank_t rank, T* word) {
  T value{};
  gex_RMA_GetBlocking(job().tm, &value, rank, word, sizeof value, 0);
  return value;
}

// Values where sign, width and wrap-around matter; sums and products of the floats are exact.
template <typename T>
std::vector<T> values() {
  if constexpr (std::is_floating_point_v<T>)
    return {T(0), T(-0.0), T(1.5), T(-2.25), T(1024)};
  else
    return {T(0),
            T(1),
            T(5),
            std::numeric_limits<T>::max(),
            std::numeric_limits<T>::min(),
            static_cast<T>(-3)};
}

std::string describe(gex_DT_t dt, gex_OP_t op, const char* what) {
  return "type " + std::to_string(dt) + ", operation " + std::to_string(op) + ": " + what;
}

template <typename T>
void expect_bits(T actual, T expected, gex_OP_t op, const char* what) {
  if (bits(actual) == bits(expected)) return;
  FAIL(describe(Traits<T>::dt, op, what) + " is " + spec::printed(actual) + ", expected " +
       spec::printed(expected));
}

// Which pairs of a word's value and an operand are tried.
enum class Pairs { all, one_each };

// `post(result, word, a, b)` performs `op` completely.
template <typename T, typename Post>
void check_operation(gex_OP_t op, gex_Rank_t rank, Pairs pairs, Post post) {
  struct {
    T before, result, after;
  } local;
  const std::vector<T> tried = values<T>();
  const T b = tried.back();
  T* const word = word_at<T>(rank);
  put(rank, word - 1, T(7));  // neighbors in memory that must stay as they are
  put(rank, word + 1, T(9));
  for (size_t i = 0; i < tried.size(); ++i) {
    for (size_t j = 0; j < tried.size(); ++j) {
      if (pairs == Pairs::one_each && j != (i + op) % tried.size()) continue;
      const T old = tried[i], a = tried[j];
      put(rank, word, old);
      local = {T(11), T(13), T(17)};
      post(&local.result, word, a, b);
      expect_bits(get(rank, word), model(op, old, a, b), op, "the target");
      expect_bits(local.result, fetches(op) ? old : T(13), op, "the result");
      CHECK_EQ(local.before, T(11));
      CHECK_EQ(local.after, T(17));
    }
  }
  CHECK_EQ(get(rank, word - 1), T(7));
  CHECK_EQ(get(rank, word + 1), T(9));
}

template <typename T>
void every_operation(gex_AD_t ad, gex_Rank_t rank) {
  for (unsigned bit = 0; bit < 25; ++bit) {
    const gex_OP_t op = gex_OP_t(1) << bit;
    if (!(op & all_ops<T>())) continue;
    check_operation<T>(op, rank, Pairs::all, [&](T* result, T* word, T a, T b) {
      gex_Event_Wait(Traits<T>::nb(ad, result, rank, word, op, a, b, gex_Flags_t(0)));
    });
    check_operation<T>(op, rank, Pairs::all, [&](T* result, T* word, T a, T b) {
      CHECK_EQ(Traits<T>::nbi(ad, result, rank, word, op, a, b, gex_Flags_t(0)), 0);
      gex_NBI_Wait(GEX_EC_ALL, 0);
    });
  }
}

// The same with opcodes the compiler knows: the client's own instructions where they exist.
template <typename T, gex_OP_t Op>
void constant_operation(gex_AD_t ad, gex_Rank_t rank, Pairs pairs) {
  if constexpr ((Op & all_ops<T>()) != 0) {
    check_operation<T>(Op, rank, pairs, [&](T* result, T* word, T a, T b) {
      gex_Event_Wait(Traits<T>::nb(ad, result, rank, static_cast<void*>(word), Op, a, b,
                                   gex_Flags_t(GEX_FLAG_AD_ACQ | GEX_FLAG_AD_REL)));
    });
    check_operation<T>(Op, rank, pairs, [&](T* result, T* word, T a, T b) {
      CHECK_EQ(Traits<T>::nbi(ad, result, rank, static_cast<void*>(word), Op, a, b, gex_Flags_t(0)),
               0);
      gex_NBI_Wait(GEX_EC_ALL, 0);
    });
  }
}
template <typename T, size_t... Bits>
void constant_operations(gex_AD_t ad, gex_Rank_t rank, Pairs pairs, std::index_sequence<Bits...>) {
  (constant_operation<T, gex_OP_t(1) << Bits>(ad, rank, pairs), ...);
}

template <typename Body>
void for_all_types(Body body) {
  std::apply([&](auto... zero) { (body(zero), ...); }, Types{});
}

}  // namespace

// Would catch opcodes that overlap, and conversion macros that name another operation.
SPEC_CASE(atomics, opcodes) {
  const std::pair<gex_OP_t, gex_OP_t> pairs[] = {
      {GEX_OP_ADD, GEX_OP_FADD}, {GEX_OP_SUB, GEX_OP_FSUB}, {GEX_OP_MULT, GEX_OP_FMULT},
      {GEX_OP_MIN, GEX_OP_FMIN}, {GEX_OP_MAX, GEX_OP_FMAX}, {GEX_OP_INC, GEX_OP_FINC},
      {GEX_OP_DEC, GEX_OP_FDEC}, {GEX_OP_AND, GEX_OP_FAND}, {GEX_OP_OR, GEX_OP_FOR},
      {GEX_OP_XOR, GEX_OP_FXOR}, {GEX_OP_SET, GEX_OP_SWAP}, {GEX_OP_CAS, GEX_OP_FCAS}};
  gex_OP_t seen = GEX_OP_GET | GEX_OP_USER | GEX_OP_USER_NC;
  for (const auto& [plain, fetching] : pairs) {
    CHECK_EQ(seen & (plain | fetching), 0u);
    seen |= plain | fetching;
    CHECK_EQ(GEX_OP_TO_FETCHING(plain), fetching);
    CHECK_EQ(GEX_OP_TO_NONFETCHING(fetching), plain);
  }
  CHECK_EQ(GEX_OP_CSWAP, GEX_OP_FCAS);
  CHECK_EQ(__builtin_popcount(seen), 27);
  CHECK_EQ(all_ops<int32_t>(), (1u << 25) - 1);
}

// Would catch wrong arithmetic, signed taken for unsigned, 64 bits written for 32, a fetched value
// that is the new one, a result written by an operation that fetches nothing; by the library.
SPEC_CASE(atomics, every_operation) {
  for_all_types([](auto zero) {
    using T = decltype(zero);
    const Domain ad(Traits<T>::dt, all_ops<T>());
    every_operation<T>(ad, job().peer());
    every_operation<T>(ad, job().rank);
  });
}

// The same in the inline half. The arithmetic of a peer is that of the case above.
SPEC_CASE(atomics, every_constant_operation) {
  for_all_types([](auto zero) {
    using T = decltype(zero);
    const Domain ad(Traits<T>::dt, all_ops<T>());
    constant_operations<T>(ad, job().peer(), Pairs::one_each, std::make_index_sequence<25>());
    constant_operations<T>(ad, job().rank, Pairs::all, std::make_index_sequence<25>());
  });
}

// The rules documented in gasnet_ratomic.h, where NaNs and negative zeros make the difference.
SPEC_CASE(atomics, floating_point_rules) {
  const Domain ad(GEX_DT_DBL, all_ops<double>());
  const double nan = std::nan("7"), other_nan = std::nan("9");
  const gex_Rank_t rank = job().peer();
  double* const word = word_at<double>(rank);
  const auto after = [&](gex_OP_t op, double old, double a, double b = 3) {
    put(rank, word, old);
    double fetched = 0;
    gex_Event_Wait(gex_AD_OpNB_DBL(ad, &fetched, rank, word, op, a, b, 0));
    if (fetches(op)) CHECK_EQ(bits(fetched), bits(old));  // also the bits of a NaN
    return get(rank, word);
  };
  for (const gex_OP_t cas : {GEX_OP_CAS, GEX_OP_FCAS}) {
    CHECK_EQ(after(cas, 0.0, -0.0), 3.0);
    CHECK_EQ(after(cas, -0.0, 0.0), 3.0);
    CHECK_EQ(bits(after(cas, nan, nan)), bits(nan));
    CHECK_EQ(bits(after(cas, nan, 1.0)), bits(nan));
    CHECK_EQ(after(cas, 1.0, nan), 1.0);
    CHECK_EQ(bits(after(cas, 1.0, 1.0, nan)), bits(nan));
  }
  for (const gex_OP_t op : {GEX_OP_MIN, GEX_OP_MAX, GEX_OP_FMIN, GEX_OP_FMAX}) {
    CHECK_EQ(bits(after(op, 1.0, nan)), bits(nan));
    CHECK_EQ(after(op, nan, 1.0), 1.0);
    CHECK_EQ(bits(after(op, nan, other_nan)), bits(other_nan));
    CHECK_EQ(bits(after(op, 0.0, -0.0)), bits(-0.0));
    CHECK_EQ(bits(after(op, -0.0, 0.0)), bits(0.0));
  }
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK_EQ(after(GEX_OP_FMAX, 1.0, infinity), infinity);
  CHECK(std::isnan(after(GEX_OP_FADD, infinity, -infinity)));
  CHECK_EQ(bits(after(GEX_OP_SWAP, nan, other_nan)), bits(other_nan));
}

SPEC_CASE(atomics, domain_remembers) {
  for (const gex_Flags_t flags : {gex_Flags_t(0), GEX_FLAG_AD_FAVOR_MY_RANK,
                                  GEX_FLAG_AD_FAVOR_MY_NBRHD, GEX_FLAG_AD_FAVOR_REMOTE}) {
    const gex_OP_t ops = GEX_OP_FADD | GEX_OP_GET;
    const Domain ad(GEX_DT_U32, ops, flags);
    CHECK(gex_AD_t(ad) != GEX_AD_INVALID);
    CHECK_EQ(gex_AD_QueryFlags(ad), flags);
    CHECK(gex_AD_QueryTM(ad) == job().tm);
    CHECK_EQ(gex_AD_QueryDT(ad), GEX_DT_U32);
    CHECK_EQ(gex_AD_QueryOps(ad), ops);
    CHECK(gex_AD_QueryCData(ad) == nullptr);
    int mark;
    gex_AD_SetCData(ad, &mark);
    CHECK(gex_AD_QueryCData(ad) == &mark);
    // A hint is a hint: every target works.
    for (gex_Rank_t distance = 0; distance < job().size; ++distance) {
      const gex_Rank_t rank = job().peer(distance);
      uint32_t* const word = word_at<uint32_t>(rank);
      put<uint32_t>(rank, word, 40);
      uint32_t fetched = 0;
      gex_Event_Wait(gex_AD_OpNB_U32(ad, &fetched, rank, word, GEX_OP_FADD, 2, 0, 0));
      CHECK_EQ(fetched, 40u);
      CHECK_EQ(get(rank, word), 42u);
    }
  }
}

// Several domains on one team, used and destroyed in another order than they were made.
SPEC_CASE(atomics, several_domains) {
  gex_AD_t ads[3];
  for (gex_AD_t& ad : ads) gex_AD_Create(&ad, job().tm, GEX_DT_I64, all_ops<int64_t>(), 0);
  CHECK(ads[0] != ads[1] && ads[1] != ads[2]);
  const gex_Rank_t rank = job().peer();
  for (size_t i = 0; i < 3; ++i) {
    put<int64_t>(rank, word_at<int64_t>(rank, i), 10);
    gex_AD_OpNBI_I64(ads[i], nullptr, rank, word_at<int64_t>(rank, i), GEX_OP_ADD,
                     static_cast<int64_t>(i), 0, 0);
  }
  gex_NBI_Wait(GEX_EC_RMW, 0);
  for (size_t i = 0; i < 3; ++i)
    CHECK_EQ(get(rank, word_at<int64_t>(rank, i)), static_cast<int64_t>(10 + i));
  spec::barrier();
  for (const size_t i : {1, 2, 0}) gex_AD_Destroy(ads[i]);
  const Domain again(GEX_DT_I64, GEX_OP_GET);
  CHECK_EQ(gex_AD_QueryOps(again), GEX_OP_GET);
}

// Offsets instead of addresses, on either side and on both.
SPEC_CASE(atomics, offsets) {
  const Domain ad(GEX_DT_I64, GEX_OP_FADD | GEX_OP_ADD);
  const gex_Rank_t rank = job().peer();
  int64_t* const word = word_at<int64_t>(rank);
  void* const target = spec::as_offset(rank, word);
  std::byte* const mine = spec::my_segment(spec::segment_bytes() - 64);
  auto* const own = reinterpret_cast<int64_t*>(mine);
  auto* const result = static_cast<int64_t*>(spec::as_offset(job().rank, mine));
  put<int64_t>(rank, word, 100);
  int64_t fetched = 0;
  gex_Event_Wait(
      gex_AD_OpNB_I64(ad, &fetched, rank, target, GEX_OP_FADD, 1, 0, GEX_FLAG_PEER_SEG_OFFSET));
  CHECK_EQ(fetched, 100);
  *own = 0;
  gex_Event_Wait(
      gex_AD_OpNB_I64(ad, result, rank, word, GEX_OP_FADD, 1, 0, GEX_FLAG_SELF_SEG_OFFSET));
  CHECK_EQ(*own, 101);
  gex_AD_OpNBI_I64(ad, result, rank, target, GEX_OP_FADD, 1, 0,
                   GEX_FLAG_PEER_SEG_OFFSET | GEX_FLAG_SELF_SEG_OFFSET);
  gex_NBI_Wait(GEX_EC_RMW, 0);
  CHECK_EQ(*own, 102);
  // Ignored when nothing is fetched: this is no offset.
  gex_Event_Wait(gex_AD_OpNB_I64(ad, nullptr, rank, target, GEX_OP_ADD, 1, 0,
                                 GEX_FLAG_PEER_SEG_OFFSET | GEX_FLAG_SELF_SEG_OFFSET));
  CHECK_EQ(get(rank, word), 104);
}

// Job ranks and true assertions about where the target is, one at a time and together.
SPEC_CASE(atomics, rank_flags) {
  const Domain ad(GEX_DT_U64, GEX_OP_FADD | GEX_OP_GET | GEX_OP_SET);
  for (gex_Rank_t rank = 0; rank < job().size; ++rank) {
    uint64_t* const word = word_at<uint64_t>(rank);
    put<uint64_t>(rank, word, rank);
    uint64_t fetched = 99;
    gex_Event_Wait(gex_AD_OpNB_U64(ad, &fetched, gex_TM_TranslateRankToJobrank(job().tm, rank),
                                   word, GEX_OP_FADD, 1000, 0, GEX_FLAG_RANK_IS_JOBRANK));
    CHECK_EQ(fetched, rank);
    CHECK_EQ(get(rank, word), rank + uint64_t{1000});
  }
  uint64_t* const own = word_at<uint64_t>(job().rank);
  gex_Rank_t neighbors = 0;
  gex_System_QueryNbrhdInfo(nullptr, &neighbors, nullptr);
  for (const gex_Flags_t flags :
       {GEX_FLAG_AD_MY_RANK, GEX_FLAG_AD_MY_NBRHD, GEX_FLAG_AD_MY_RANK | GEX_FLAG_AD_REL,
        GEX_FLAG_AD_MY_RANK | GEX_FLAG_RANK_IS_JOBRANK}) {
    uint64_t seen = 0;
    gex_Event_Wait(gex_AD_OpNB_U64(ad, nullptr, job().rank, own, GEX_OP_SET, flags, 0, flags));
    gex_Event_Wait(gex_AD_OpNB_U64(ad, &seen, job().rank, own, GEX_OP_GET, 0, 0, flags));
    CHECK_EQ(seen, flags);
  }
  if (neighbors == job().size) {
    uint64_t fetched = 0;
    put<uint64_t>(job().peer(), word_at<uint64_t>(job().peer()), 3);
    gex_Event_Wait(gex_AD_OpNB_U64(ad, &fetched, job().peer(), word_at<uint64_t>(job().peer()),
                                   GEX_OP_FADD, 1, 0, GEX_FLAG_AD_MY_NBRHD));
    CHECK_EQ(fetched, 3u);
  }
}

// Would catch an operation counted in a category it does not belong to: the wait for the right one
// would return before the result is there, or the wait for the wrong one would be needed.
SPEC_CASE(atomics, categories) {
  const Domain ad(GEX_DT_U32, all_ops<uint32_t>());
  const gex_Rank_t rank = job().peer();
  const unsigned rounds = spec::scaled(200, 20);
  for (unsigned i = 0; i < rounds; ++i) {
    uint32_t* const word = word_at<uint32_t>(rank, i % 8);
    CHECK_EQ(gex_AD_OpNBI_U32(ad, nullptr, rank, word, GEX_OP_SET, i, 0, 0), 0);
    gex_NBI_Wait(GEX_EC_PUT, 0);
    CHECK_EQ(gex_NBI_Test(GEX_EC_ALL, 0), GASNET_OK);  // it was nothing else
    uint32_t seen = ~0u;
    gex_AD_OpNBI_U32(ad, &seen, rank, word, GEX_OP_GET, 0, 0, 0);
    gex_NBI_Wait(GEX_EC_GET, 0);
    CHECK_EQ(seen, i);
    CHECK_EQ(gex_NBI_Test(GEX_EC_ALL, 0), GASNET_OK);
    gex_AD_OpNBI_U32(ad, &seen, rank, word, i % 2 ? GEX_OP_FADD : GEX_OP_SWAP, 7, 0, 0);
    gex_NBI_Wait(GEX_EC_RMW, 0);
    CHECK_EQ(seen, i);
    gex_AD_OpNBI_U32(ad, nullptr, rank, word, GEX_OP_INC, 0, 0, 0);
    gex_NBI_Wait(GEX_EC_RMW, 0);
    CHECK_EQ(gex_NBI_Test(GEX_EC_ALL, 0), GASNET_OK);
    CHECK_EQ(get(rank, word), (i % 2 ? i + 7 : 7) + 1);
  }
}

// Many at once, explicit and implicit, also in an access region; none is lost or done twice.
SPEC_CASE(atomics, many_outstanding) {
  const Domain ad(GEX_DT_I64, all_ops<int64_t>());
  const gex_Rank_t rank = job().peer();
  int64_t* const word = word_at<int64_t>(rank);
  const unsigned count = spec::scaled(1000, 100);
  put<int64_t>(rank, word, 0);
  std::vector<gex_Event_t> events(count);
  std::vector<int64_t> fetched(count, -1);
  for (unsigned i = 0; i < count; ++i)
    events[i] = gex_AD_OpNB_I64(ad, &fetched[i], rank, word, GEX_OP_FINC, 0, 0, 0);
  gex_Event_WaitAll(events.data(), count, 0);
  std::vector<bool> seen(count);
  for (const int64_t value : fetched) {
    if (!CHECK(value >= 0 && value < static_cast<int64_t>(count))) break;
    CHECK(!seen[static_cast<size_t>(value)]);
    seen[static_cast<size_t>(value)] = true;
  }
  for (unsigned i = 0; i < count; ++i)
    gex_AD_OpNBI_I64(ad, nullptr, rank, word, GEX_OP_ADD, 2, 0, 0);
  gex_NBI_BeginAccessRegion(0);
  for (unsigned i = 0; i < count; ++i)
    gex_AD_OpNBI_I64(ad, nullptr, rank, word, GEX_OP_SUB, 1, 0, 0);
  gex_Event_Wait(gex_NBI_EndAccessRegion(0));
  gex_NBI_Wait(GEX_EC_RMW, 0);
  CHECK_EQ(get(rank, word), static_cast<int64_t>(2 * count));
}

// The no-op answer may come, but nothing may have happened then.
SPEC_CASE(atomics, immediate) {
  const Domain ad(GEX_DT_U64, GEX_OP_INC | GEX_OP_FINC);
  const gex_Rank_t rank = job().peer();
  uint64_t* const word = word_at<uint64_t>(rank);
  put<uint64_t>(rank, word, 0);
  const unsigned tries = spec::scaled(5000, 200);
  uint64_t done = 0, fetched = 0;
  for (unsigned i = 0; i < tries; ++i) {
    if (gex_AD_OpNBI_U64(ad, nullptr, rank, word, GEX_OP_INC, 0, 0, GEX_FLAG_IMMEDIATE) == 0)
      ++done;
    const gex_Event_t event =
        gex_AD_OpNB_U64(ad, &fetched, rank, word, GEX_OP_FINC, 0, 0, GEX_FLAG_IMMEDIATE);
    if (event == GEX_EVENT_NO_OP) continue;
    ++done;
    gex_Event_Wait(event);
  }
  gex_NBI_Wait(GEX_EC_ALL, 0);
  CHECK_EQ(get(rank, word), done);
  CHECK(done > 0);
}
