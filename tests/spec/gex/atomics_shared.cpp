// Remote atomics on one word by everybody at once: ranks, and in PAR threads; and the orders that
// GEX_FLAG_AD_ACQ and GEX_FLAG_AD_REL promise.
#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "atomics.h"

using namespace atomics;
using spec::job;

namespace {

#ifdef GASNET_PAR
constexpr unsigned kThreads = 3;
#else
constexpr unsigned kThreads = 1;
#endif
// What the tests' adapter does not do.
constexpr gex_OP_t kMultiply = GEX_OP_MULT | GEX_OP_FMULT;

// Words in rank 0's segment that everybody uses, one to a cache line.
template <typename T>
T* shared_word(size_t index) {
  return reinterpret_cast<T*>(spec::segment_of(0, (size_t{2} << 20) + index * 64));
}

void clear_shared_words() {
  if (job().rank == 0) std::memset(spec::my_segment(size_t{2} << 20), 0, 4096);
  spec::barrier();
}

template <typename Body>
void on_threads(Body body) {
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < kThreads; ++i) threads.emplace_back([&body, i] { body(i); });
  body(0);
  for (std::thread& thread : threads) thread.join();
  spec::barrier();
}

template <typename T>
T load(size_t index) {
  T value{};
  gex_RMA_GetBlocking(job().tm, &value, 0, shared_word<T>(index), sizeof value, 0);
  return value;
}

template <typename T>
T wait_for(gex_AD_t ad, size_t index, gex_OP_t op, T a = 0, T b = 0, gex_Flags_t flags = 0) {
  T fetched{};
  gex_Event_Wait(
      Traits<T>::nb(ad, &fetched, gex_Rank_t(0), shared_word<T>(index), op, a, b, flags));
  return fetched;
}

unsigned everybody() {
  return job().size * kThreads;
}

}  // namespace

// Would catch a lost update: between threads, between ranks, between the inline instruction and
// the library, between operations with an instruction and those that are loops.
SPEC_CASE(atomics_shared, nothing_is_lost) {
  clear_shared_words();
  const unsigned each = spec::scaled(600, 60);
  {
    const Domain ints(GEX_DT_I64, all_ops<int64_t>() & ~kMultiply);
    const Domain doubles(GEX_DT_DBL, all_ops<double>() & ~kMultiply);
    const Domain words(GEX_DT_U32, all_ops<uint32_t>() & ~kMultiply);
    on_threads([&](unsigned) {
      volatile gex_OP_t unknown_add = GEX_OP_ADD;  // no constant: by the library
      for (unsigned i = 0; i < each; ++i) {
        gex_AD_OpNBI_I64(ints, nullptr, 0, shared_word<int64_t>(0), GEX_OP_ADD, 3, 0, 0);
        gex_AD_OpNBI_I64(ints, nullptr, 0, shared_word<int64_t>(0), unknown_add, -2, 0, 0);
        gex_AD_OpNBI_DBL(doubles, nullptr, 0, shared_word<double>(1), GEX_OP_ADD, 0.5, 0, 0);
        gex_AD_OpNBI_U32(words, nullptr, 0, shared_word<uint32_t>(2), GEX_OP_XOR, 1u << (i % 32), 0,
                         0);
        // A loop in the library beside instructions on the same word.
        int64_t seen = wait_for<int64_t>(ints, 3, GEX_OP_GET), found;
        while ((found = wait_for<int64_t>(ints, 3, GEX_OP_FCAS, seen, seen + 1)) != seen)
          seen = found;
        wait_for<int64_t>(ints, 3, GEX_OP_FMAX, -1);
        wait_for<int64_t>(ints, 3, GEX_OP_FINC);
        wait_for<int64_t>(ints, 3, GEX_OP_FDEC);
      }
      gex_NBI_Wait(GEX_EC_ALL, 0);
    });
    CHECK_EQ(load<int64_t>(0), static_cast<int64_t>(everybody() * each));
    CHECK_EQ(load<double>(1), 0.5 * everybody() * each);
    uint32_t parity = 0;
    if (everybody() % 2 == 1)
      for (unsigned i = 0; i < each; ++i) parity ^= 1u << (i % 32);
    CHECK_EQ(load<uint32_t>(2), parity);
    CHECK_EQ(load<int64_t>(3), static_cast<int64_t>(everybody() * each));
  }
}

// The hints ask for different mechanisms where there are several; each alone must lose nothing, on
// the caller's own memory too, whose peers go another way.
SPEC_CASE(adapter, every_hint_is_one_mechanism) {
  const unsigned each = spec::scaled(200, 20);
  for (const gex_Flags_t hint : {gex_Flags_t(0), GEX_FLAG_AD_FAVOR_MY_RANK,
                                 GEX_FLAG_AD_FAVOR_MY_NBRHD, GEX_FLAG_AD_FAVOR_REMOTE}) {
    clear_shared_words();
    const Domain ad(GEX_DT_I32, all_ops<int32_t>() & ~kMultiply, hint);
    volatile gex_OP_t unknown_add = GEX_OP_ADD;
    on_threads([&](unsigned thread) {
      for (unsigned i = 0; i < each; ++i) {
        wait_for<int32_t>(ad, 0, GEX_OP_FADD, 1);
        gex_AD_OpNBI_I32(ad, nullptr, 0, shared_word<int32_t>(0), unknown_add, 1, 0,
                         job().rank == 0 && thread == 0 ? GEX_FLAG_AD_MY_RANK : 0);
      }
      gex_NBI_Wait(GEX_EC_RMW, 0);
    });
    CHECK_EQ(load<int32_t>(0), static_cast<int32_t>(2 * each * everybody()));
  }
}

// Operations that the adapter lacks: with `atomics.mechanism: nic` this would end the job, so the
// case is for the other configurations, where processors take the whole domain.
SPEC_CASE(adapter_lacks, one_operation_moves_the_domain) {
  clear_shared_words();
  const unsigned each = spec::scaled(100, 10);
  const Domain ad(GEX_DT_U64, GEX_OP_FADD | GEX_OP_MULT, GEX_FLAG_AD_FAVOR_REMOTE);
  on_threads([&](unsigned) {
    for (unsigned i = 0; i < each; ++i) {
      wait_for<uint64_t>(ad, 0, GEX_OP_FADD, 1);
      gex_AD_OpNBI_U64(ad, nullptr, 0, shared_word<uint64_t>(0), GEX_OP_MULT, 1, 0, 0);
    }
    gex_NBI_Wait(GEX_EC_RMW, 0);
  });
  CHECK_EQ(load<uint64_t>(0), uint64_t{each} * everybody());
}

// Would catch two that fetch the same ticket, and a ticket that nobody gets.
SPEC_CASE(atomics_shared, tickets_are_unique) {
  clear_shared_words();
  const unsigned each = spec::scaled(400, 40);
  const Domain ad(GEX_DT_U32, GEX_OP_FINC | GEX_OP_FADD);
  const size_t taken = size_t{3} << 20;  // a byte per ticket in rank 0's segment
  if (job().rank == 0) std::memset(spec::my_segment(taken), 0, size_t{each} * everybody());
  spec::barrier();
  on_threads([&](unsigned thread) {
    for (unsigned i = 0; i < each; ++i) {
      const uint32_t ticket = thread % 2 ? wait_for<uint32_t>(ad, 0, GEX_OP_FADD, 1)
                                         : wait_for<uint32_t>(ad, 0, GEX_OP_FINC);
      if (!CHECK(ticket < each * everybody())) return;
      std::byte* const byte = spec::segment_of(0, taken + ticket);
      CHECK_EQ(gex_RMA_GetBlockingVal(job().tm, 0, byte, 1, 0), 0u);
      gex_RMA_PutBlockingVal(job().tm, 0, byte, 1, 1, 0);
    }
  });
  if (job().rank == 0) {
    const std::byte* const begin = spec::my_segment(taken);
    CHECK_EQ(std::count(begin, begin + size_t{each} * everybody(), std::byte{1}),
             each * everybody());
  }
}

// Would catch MIN or MAX that lets a worse value win a race.
SPEC_CASE(atomics_shared, extremes) {
  clear_shared_words();
  const Domain ad(GEX_DT_FLT, GEX_OP_MIN | GEX_OP_MAX | GEX_OP_FMAX);
  const unsigned each = spec::scaled(300, 30);
  on_threads([&](unsigned thread) {
    const float base = static_cast<float>((job().rank * kThreads + thread) * each);
    for (unsigned i = 0; i < each; ++i) {
      const float value = base + static_cast<float>((i * 7) % each);
      gex_AD_OpNBI_FLT(ad, nullptr, 0, shared_word<float>(0), GEX_OP_MAX, value, 0, 0);
      gex_AD_OpNBI_FLT(ad, nullptr, 0, shared_word<float>(1), GEX_OP_MIN, -value, 0, 0);
    }
    gex_NBI_Wait(GEX_EC_RMW, 0);
  });
  const float largest = static_cast<float>(everybody() * each - 1);
  CHECK_EQ(load<float>(0), largest);
  CHECK_EQ(load<float>(1), -largest);
}

// A lock made of atomics around plain puts and gets: would catch an acquire or a release that does
// not order them.
SPEC_CASE(atomics_shared, lock_orders_rma) {
  clear_shared_words();
  const Domain ad(GEX_DT_U64, GEX_OP_FCAS | GEX_OP_SET);
  const unsigned each = spec::scaled(60, 10);
  auto* const counters = reinterpret_cast<uint64_t*>(spec::segment_of(0, (size_t{2} << 20) + 1024));
  on_threads([&](unsigned) {
    for (unsigned i = 0; i < each; ++i) {
      while (wait_for<uint64_t>(ad, 0, GEX_OP_FCAS, 0, 1, GEX_FLAG_AD_ACQ) != 0)
        std::this_thread::yield(), gasnet_AMPoll();
      uint64_t values[4];
      gex_RMA_GetBlocking(job().tm, values, 0, counters, sizeof values, 0);
      CHECK(values[1] == values[0] && values[2] == values[0] && values[3] == values[0]);
      for (uint64_t& value : values) ++value;
      gex_RMA_PutBlocking(job().tm, 0, counters, values, sizeof values, 0);
      wait_for<uint64_t>(ad, 0, GEX_OP_SET, 0, 0, GEX_FLAG_AD_REL);
    }
  });
  CHECK_EQ(gex_RMA_GetBlockingVal(job().tm, 0, counters, 8, 0), uint64_t{each} * everybody());
}

// Plain stores before a release are seen after an acquire that saw the flag: data in the writer's
// own segment, the flag at its neighbor.
SPEC_CASE(atomics_shared, release_publishes_stores) {
  const Domain ad(GEX_DT_U32, GEX_OP_SET | GEX_OP_GET);
  const auto flag = [](gex_Rank_t rank) {
    return reinterpret_cast<uint32_t*>(spec::segment_of(rank, spec::kScratchOffset));
  };
  const size_t data = size_t{1} << 20;
  std::memset(spec::my_segment(spec::kScratchOffset), 0, 64);
  spec::barrier();
  for (uint32_t round = 1; round <= spec::scaled(100, 10); ++round) {
    spec::fill(spec::my_segment(data), 256, round * 1000 + job().rank);
    gex_Event_Wait(gex_AD_OpNB_U32(ad, nullptr, job().peer(), flag(job().peer()), GEX_OP_SET, round,
                                   0, GEX_FLAG_AD_REL));
    uint32_t seen = 0;
    while (seen != round) {
      gex_Event_Wait(gex_AD_OpNB_U32(ad, &seen, job().rank, flag(job().rank), GEX_OP_GET, 0, 0,
                                     GEX_FLAG_AD_ACQ));
      if (seen != round) std::this_thread::yield(), gasnet_AMPoll();
    }
    char got[256];
    gex_RMA_GetBlocking(job().tm, got, job().behind(), spec::segment_of(job().behind(), data),
                        sizeof got, 0);
    CHECK_PATTERN(got, sizeof got, round * 1000 + job().behind());
    spec::barrier();
  }
}
