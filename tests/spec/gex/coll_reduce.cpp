// Reductions to one and to all: every data type and operation, order, in place, sizes, NaNs.
#include "coll_testing.h"

#include <array>
#include <cmath>
#include <limits>

#include "reduction_model.h"

using coll::Affine;
using coll::affine_of;
using coll::composed;
using coll::Guarded;
using coll::wait;
using spec::job;

namespace {

template <class T>
constexpr gex_DT_t kType = GEX_DT_USER;
template <>
constexpr gex_DT_t kType<int32_t> = GEX_DT_I32;
template <>
constexpr gex_DT_t kType<uint32_t> = GEX_DT_U32;
template <>
constexpr gex_DT_t kType<int64_t> = GEX_DT_I64;
template <>
constexpr gex_DT_t kType<uint64_t> = GEX_DT_U64;
template <>
constexpr gex_DT_t kType<float> = GEX_DT_FLT;
template <>
constexpr gex_DT_t kType<double> = GEX_DT_DBL;

// Small integers: exact in every type, so that any grouping gives the same result.
template <class T>
T operand(gex_Rank_t rank, size_t i) {
  return static_cast<T>((rank * 5 + i * 3) % 4 + 1);
}

template <class T>
T expected(gex_OP_t op, size_t i) {
  T all = operand<T>(0, i);
  for (gex_Rank_t r = 1; r < job().size; ++r) all = reduction::apply(op, all, operand<T>(r, i));
  return all;
}

template <class T>
void one_kind(gex_OP_t op, size_t count) {
  Guarded<T> src(count), dst(count);
  for (size_t i = 0; i < count; ++i) src[i] = operand<T>(job().rank, i);
  wait(gex_Coll_ReduceToAllNB(job().tm, dst.data(), src.data(), kType<T>, sizeof(T), count, op,
                              nullptr, nullptr, 0));
  bool good = dst.intact();
  for (size_t i = 0; i < count; ++i) good = good && dst[i] == expected<T>(op, i);
  if (!good) FAIL("to all: type " + spec::printed(kType<T>) + ", op " + spec::printed(op));
  const gex_Rank_t root = job().size - 1;
  Guarded<T> one(count);
  for (size_t i = 0; i < count; ++i) one[i] = static_cast<T>(77);
  wait(gex_Coll_ReduceToOneNB(job().tm, root, job().rank == root ? one.data() : nullptr, src.data(),
                              kType<T>, sizeof(T), count, op, nullptr, nullptr, 0));
  good = one.intact();
  for (size_t i = 0; i < count; ++i) {
    good = good && one[i] == (job().rank == root ? expected<T>(op, i) : static_cast<T>(77));
    good = good && src[i] == operand<T>(job().rank, i);
  }
  if (!good) FAIL("to one: type " + spec::printed(kType<T>) + ", op " + spec::printed(op));
}

template <class T>
void all_operations() {
  for (const gex_OP_t op : {GEX_OP_ADD, GEX_OP_MULT, GEX_OP_MIN, GEX_OP_MAX}) {
    one_kind<T>(op, 1);
    one_kind<T>(op, 1001);
  }
  if constexpr (std::is_integral_v<T>) {
    for (const gex_OP_t op : {GEX_OP_AND, GEX_OP_OR, GEX_OP_XOR}) one_kind<T>(op, 513);
  }
}

void sum(const void* left, void* right, size_t count, const void* cdata) {
  *static_cast<unsigned*>(const_cast<void*>(cdata)) += 1;
  for (size_t i = 0; i < count; ++i)
    static_cast<uint64_t*>(right)[i] += static_cast<const uint64_t*>(left)[i];
}

}  // namespace

// Catches a kernel under the wrong type or operation, and tails that vector code forgets.
SPEC_CASE(coll_reduce, every_type_and_operation) {
  all_operations<int32_t>();
  all_operations<uint32_t>();
  all_operations<int64_t>();
  all_operations<uint64_t>();
  all_operations<float>();
  all_operations<double>();
}

// Catches pieces that are combined twice or not at all, at every border of pieces and scratch.
SPEC_CASE(coll_reduce, sizes) {
  for (const size_t count : coll::counts()) one_kind<int64_t>(GEX_OP_ADD, count);
}

SPEC_CASE(coll_reduce, many_mebibytes) {
  one_kind<double>(GEX_OP_ADD, (3u << 20) / 8 + 5);
}

SPEC_CASE(coll_reduce, in_place) {
  for (const size_t count : coll::counts()) {
    Guarded<uint32_t> data(count);
    for (size_t i = 0; i < count; ++i) data[i] = operand<uint32_t>(job().rank, i);
    wait(gex_Coll_ReduceToAllNB(job().tm, data.data(), data.data(), GEX_DT_U32, 4, count,
                                GEX_OP_ADD, nullptr, nullptr, 0));
    bool good = data.intact();
    for (size_t i = 0; i < count; ++i) good = good && data[i] == expected<uint32_t>(GEX_OP_ADD, i);
    if (!good) FAIL("to all in place, " + std::to_string(count) + " elements");
    for (gex_Rank_t root = 0; root < job().size; root += std::max(1u, job().size / 3)) {
      for (size_t i = 0; i < count; ++i) data[i] = operand<uint32_t>(job().rank, i);
      wait(gex_Coll_ReduceToOneNB(job().tm, root, data.data(), data.data(), GEX_DT_U32, 4, count,
                                  GEX_OP_ADD, nullptr, nullptr, 0));
      if (job().rank != root) continue;
      for (size_t i = 0; i < count; ++i)
        good = good && data[i] == expected<uint32_t>(GEX_OP_ADD, i);
      if (!good) FAIL("to one in place, " + std::to_string(count) + " elements");
    }
  }
}

// Buffers in the segments: neighbours may read and write them directly.
SPEC_CASE(coll_reduce, within_segments) {
  const size_t room = spec::segment_bytes() / 4;
  auto* const src = reinterpret_cast<uint64_t*>(spec::my_segment(2 * spec::kScratchOffset));
  auto* const dst = reinterpret_cast<uint64_t*>(spec::my_segment(2 * spec::kScratchOffset + room));
  for (const size_t count : {size_t{1}, size_t{1000}, room / 8}) {
    for (const bool in_place : {false, true}) {
      uint64_t* const from = in_place ? dst : src;
      for (size_t i = 0; i < count; ++i) from[i] = operand<uint64_t>(job().rank, i);
      wait(gex_Coll_ReduceToAllNB(job().tm, dst, from, GEX_DT_U64, 8, count, GEX_OP_ADD, nullptr,
                                  nullptr, 0));
      bool good = true;
      for (size_t i = 0; i < count; ++i) good = good && dst[i] == expected<uint64_t>(GEX_OP_ADD, i);
      if (!good) FAIL("in the segment, " + std::to_string(count) + " elements");
      spec::barrier();
    }
    // Half of the ranks elsewhere: members may see different things of their own buffers.
    std::vector<uint64_t> outside(count);
    uint64_t* const mixed = job().rank % 2 == 0 ? dst : outside.data();
    for (size_t i = 0; i < count; ++i) src[i] = operand<uint64_t>(job().rank, i);
    wait(gex_Coll_ReduceToAllNB(job().tm, mixed, src, GEX_DT_U64, 8, count, GEX_OP_ADD, nullptr,
                                nullptr, 0));
    bool good = true;
    for (size_t i = 0; i < count; ++i) good = good && mixed[i] == expected<uint64_t>(GEX_OP_ADD, i);
    if (!good) FAIL("partly in segments, " + std::to_string(count) + " elements");
    spec::barrier();
  }
}

// As in a broadcast: every member's flags are about its own buffers.
SPEC_CASE(coll_reduce, where_buffers_lie) {
  auto* const src = reinterpret_cast<uint64_t*>(spec::my_segment(2 * spec::kScratchOffset));
  const gex_Flags_t flags[] = {GEX_FLAG_SELF_SEG_BOUND, GEX_FLAG_SELF_SEG_OFFSET,
                               GEX_FLAG_SELF_SEG_SOME, 0};
  for (unsigned turn = 0; turn < std::size(flags); ++turn)
    for (const size_t count : {size_t{1}, size_t{1500}}) {
      const gex_Flags_t own = flags[(job().rank + turn) % std::size(flags)];
      const gex_Rank_t root = turn % job().size;
      const auto named = [&](uint64_t* at) -> void* {
        return own == GEX_FLAG_SELF_SEG_OFFSET ? spec::as_offset(job().rank, at) : at;
      };
      uint64_t *const one = src + count, *const all = one + count;
      for (size_t i = 0; i < count; ++i) src[i] = operand<uint64_t>(job().rank, i), one[i] = 77;
      wait(gex_Coll_ReduceToAllNB(job().tm, named(all), named(src), GEX_DT_U64, 8, count,
                                  GEX_OP_ADD, nullptr, nullptr, own));
      wait(gex_Coll_ReduceToOneNB(job().tm, root, job().rank == root ? named(one) : nullptr,
                                  named(src), GEX_DT_U64, 8, count, GEX_OP_ADD, nullptr, nullptr,
                                  own));
      bool good = true;
      for (size_t i = 0; i < count; ++i) {
        const auto sum = expected<uint64_t>(GEX_OP_ADD, i);
        good = good && all[i] == sum && one[i] == (job().rank == root ? sum : 77);
      }
      if (!good) FAIL("turn " + std::to_string(turn) + ", " + std::to_string(count) + " elements");
      spec::barrier();
    }
}

// Catches any algorithm that combines in another order than that of the ranks.
SPEC_CASE(coll_reduce, order_is_kept) {
  for (const size_t count : coll::counts()) {
    Guarded<Affine> src(count), dst(count);
    for (size_t i = 0; i < count; ++i) src[i] = affine_of(job().rank, i);
    wait(gex_Coll_ReduceToAllNB(job().tm, dst.data(), src.data(), GEX_DT_USER, sizeof(Affine),
                                count, GEX_OP_USER_NC, coll::compose_all, nullptr, 0));
    bool good = dst.intact();
    for (size_t i = 0; i < count; ++i) good = good && dst[i] == composed(i);
    if (!good) FAIL("to all, " + std::to_string(count) + " elements");
    for (gex_Rank_t root = 0; root < job().size; ++root) {
      if (count > 5000 && root % 3 != 1) continue;
      Guarded<Affine> one(count);
      wait(gex_Coll_ReduceToOneNB(job().tm, root, one.data(), src.data(), GEX_DT_USER,
                                  sizeof(Affine), count, GEX_OP_USER_NC, coll::compose_all, nullptr,
                                  0));
      for (size_t i = 0; i < count && job().rank == root; ++i) good = good && one[i] == composed(i);
      if (!good) FAIL("to " + std::to_string(root) + ", " + std::to_string(count) + " elements");
    }
    for (size_t i = 0; i < count; ++i) good = good && src[i] == affine_of(job().rank, i);
    CHECK(good);
  }
}

// In place, and with a built-in type under an operator of the client's that does not commute.
SPEC_CASE(coll_reduce, order_in_place_and_on_built_in_types) {
  constexpr size_t kCount = 3001;
  std::vector<Affine> data(kCount);
  for (size_t i = 0; i < kCount; ++i) data[i] = affine_of(job().rank, i);
  wait(gex_Coll_ReduceToAllNB(job().tm, data.data(), data.data(), GEX_DT_USER, sizeof(Affine),
                              kCount, GEX_OP_USER_NC, coll::compose_all, nullptr, 0));
  bool good = true;
  for (size_t i = 0; i < kCount; ++i) good = good && data[i] == composed(i);
  CHECK(good);
  for (size_t i = 0; i < kCount; ++i) data[i] = affine_of(job().rank, i);
  wait(gex_Coll_ReduceToAllNB(job().tm, data.data(), data.data(), GEX_DT_U64, 8, kCount,
                              GEX_OP_USER_NC, coll::compose_all, nullptr, 0));
  for (size_t i = 0; i < kCount; ++i) good = good && data[i] == composed(i);
  CHECK(good);
}

// The client's operator, its data, and one on a built-in type.
SPEC_CASE(coll_reduce, operators_of_the_client) {
  unsigned calls = 0;
  std::vector<uint64_t> src(700), dst(700);
  for (size_t i = 0; i < src.size(); ++i) src[i] = job().rank + i;
  wait(gex_Coll_ReduceToAllNB(job().tm, dst.data(), src.data(), GEX_DT_U64, 8, src.size(),
                              GEX_OP_USER, sum, &calls, 0));
  const uint64_t ranks = job().size * (job().size - 1) / 2;
  for (size_t i = 0; i < src.size(); ++i)
    if (!CHECK_EQ(dst[i], ranks + job().size * i)) break;
  if (job().size > 1) {
    // Somebody has combined something; every rank counts its own calls.
    uint64_t mine = calls, total = 0;
    wait(gex_Coll_ReduceToAllNB(job().tm, &total, &mine, GEX_DT_U64, 8, 1, GEX_OP_ADD, nullptr,
                                nullptr, 0));
    CHECK(total != 0);
  }
}

// Elements longer than the scratch cannot be cut: they must be put together before they are used.
SPEC_CASE(coll_reduce, elements_beyond_any_piece) {
  struct Long {
    Affine parts[16384];  // 128 KiB
  };
  const auto combine = [](const void* left, void* right, size_t count, const void*) {
    coll::compose_all(left, right, count * 16384, nullptr);
  };
  for (const size_t count : {1ul, 3ul}) {
    std::vector<Long> src(count), dst(count);
    const size_t n = count * 16384;
    for (size_t i = 0; i < n; ++i) src[i / 16384].parts[i % 16384] = affine_of(job().rank, i);
    wait(gex_Coll_ReduceToAllNB(job().tm, dst.data(), src.data(), GEX_DT_USER, sizeof(Long), count,
                                GEX_OP_USER_NC, combine, nullptr, 0));
    bool good = true;
    for (size_t i = 0; i < n; ++i) good = good && dst[i / 16384].parts[i % 16384] == composed(i);
    CHECK(good);
    std::vector<Long> one(count);
    const gex_Rank_t root = job().size / 2;
    wait(gex_Coll_ReduceToOneNB(job().tm, root, one.data(), src.data(), GEX_DT_USER, sizeof(Long),
                                count, GEX_OP_USER_NC, combine, nullptr, 0));
    for (size_t i = 0; i < n && job().rank == root; ++i)
      good = good && one[i / 16384].parts[i % 16384] == composed(i);
    CHECK(good);
  }
}

// Elements around the borders of what one message and one piece take, which differ between
// configurations. Catches an algorithm that fits none of them into a piece and divides by that.
SPEC_CASE(coll_reduce, elements_longer_than_a_put) {
  for (const size_t length : {64ul, 75ul, 190ul, 375ul, 560ul, 1000ul, 2500ul}) {  // in maps
    size_t element = length;
    const auto combine = [](const void* left, void* right, size_t count, const void* maps) {
      coll::compose_all(left, right, count * *static_cast<const size_t*>(maps), nullptr);
    };
    for (const size_t count : {1ul, 3ul}) {
      const size_t n = count * length;
      std::vector<Affine> src(n), all(n), one(n);
      for (size_t i = 0; i < n; ++i) src[i] = affine_of(job().rank, i);
      wait(gex_Coll_ReduceToAllNB(job().tm, all.data(), src.data(), GEX_DT_USER,
                                  length * sizeof(Affine), count, GEX_OP_USER_NC, combine, &element,
                                  0));
      wait(gex_Coll_ReduceToOneNB(job().tm, 0, one.data(), src.data(), GEX_DT_USER,
                                  length * sizeof(Affine), count, GEX_OP_USER_NC, combine, &element,
                                  0));
      bool good = true;
      for (size_t i = 0; i < n; ++i) {
        good = good && all[i] == composed(i) && (job().rank != 0 || one[i] == composed(i));
      }
      CHECK(good);
    }
  }
}

// Elements of odd lengths do not fill pieces evenly.
SPEC_CASE(coll_reduce, elements_of_odd_length) {
  using Odd = std::array<uint8_t, 13>;
  const auto add = [](const void* left, void* right, size_t count, const void*) {
    for (size_t i = 0; i < count * 13; ++i)
      static_cast<uint8_t*>(right)[i] = static_cast<uint8_t>(static_cast<uint8_t*>(right)[i] +
                                                             static_cast<const uint8_t*>(left)[i]);
  };
  for (const size_t count : {1ul, 1261ul, 20011ul}) {
    Guarded<Odd> src(count), dst(count);
    for (size_t i = 0; i < count; ++i)
      for (size_t k = 0; k < 13; ++k) src[i][k] = static_cast<uint8_t>(job().rank + i + k);
    wait(gex_Coll_ReduceToAllNB(job().tm, dst.data(), src.data(), GEX_DT_USER, 13, count,
                                GEX_OP_USER, add, nullptr, 0));
    bool good = dst.intact();
    const unsigned ranks = job().size * (job().size - 1) / 2;
    for (size_t i = 0; i < count; ++i)
      for (size_t k = 0; k < 13; ++k)
        good = good && dst[i][k] == static_cast<uint8_t>(ranks + job().size * (i + k));
    CHECK(good);
  }
}

// Sums whose value depends on the grouping: the same call gives the same bits, on every rank, each
// time, whatever the timing was.
SPEC_CASE(coll_reduce, same_bits_again) {
  for (const size_t count : {1ul, 3000ul, 100003ul}) {
    std::vector<double> src(count), first(count), again(count);
    uint64_t state = job().rank * 977 + 12345;
    for (double& x : src) {
      state = state * 6364136223846793005ull + 1442695040888963407ull;
      x = std::ldexp(static_cast<double>(state >> 12), static_cast<int>(state % 40) - 60);
    }
    for (unsigned round = 0; round < 3; ++round) {
      std::vector<double>& to = round == 0 ? first : again;
      wait(gex_Coll_ReduceToAllNB(job().tm, to.data(), src.data(), GEX_DT_DBL, 8, count, GEX_OP_ADD,
                                  nullptr, nullptr, 0));
      if (round != 0) CHECK_EQ(std::memcmp(first.data(), again.data(), count * 8), 0);
    }
    std::vector<double> of_root = first;
    wait(gex_Coll_BroadcastNB(job().tm, 0, of_root.data(), of_root.data(), count * 8, 0));
    CHECK_EQ(std::memcmp(first.data(), of_root.data(), count * 8), 0);
  }
}

// Whatever the C expressions make of a NaN, all ranks have the same, and elements without one are
// not touched by their neighbours'.
SPEC_CASE(coll_reduce, not_a_number) {
  constexpr size_t kCount = 37;
  std::vector<double> src(kCount), dst(kCount);
  for (size_t i = 0; i < kCount; ++i) {
    src[i] = i % 3 == 0 && job().rank == job().size - 1 ? std::numeric_limits<double>::quiet_NaN()
                                                        : static_cast<double>(job().rank + i);
  }
  wait(gex_Coll_ReduceToAllNB(job().tm, dst.data(), src.data(), GEX_DT_DBL, 8, kCount, GEX_OP_ADD,
                              nullptr, nullptr, 0));
  for (size_t i = 0; i < kCount; ++i) CHECK_EQ(std::isnan(dst[i]), i % 3 == 0);
  wait(gex_Coll_ReduceToAllNB(job().tm, dst.data(), src.data(), GEX_DT_DBL, 8, kCount, GEX_OP_MAX,
                              nullptr, nullptr, 0));
  for (size_t i = 0; i < kCount; ++i)
    if (i % 3 != 0) CHECK_EQ(dst[i], static_cast<double>(job().size - 1 + i));
}
