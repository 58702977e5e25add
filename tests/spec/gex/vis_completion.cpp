// Completion of vector, indexed and strided operations: leaves, groups, regions, many at once,
// GEX_FLAG_IMMEDIATE, several threads.
#include <atomic>
#include <thread>

#include "vis_model.h"

using spec::job;

namespace {

constexpr size_t kRow = 40, kPitch = 56;

// A column of rows that fills most of `bytes`.
struct Columns {
  explicit Columns(size_t bytes) : rows(std::max<size_t>(bytes / kPitch, 1)) {}
  size_t rows;
  ptrdiff_t near = kRow, far = kPitch;
  size_t packed() const { return rows * kRow; }

  gex_Event_t put_nb(std::byte* to, void* from, gex_Flags_t flags = 0) const {
    return gex_VIS_StridedPutNB(job().tm, job().peer(), to, &far, from, &near, kRow, &rows, 1,
                                flags);
  }
  int put_nbi(std::byte* to, void* from, gex_Flags_t flags = 0) const {
    return gex_VIS_StridedPutNBI(job().tm, job().peer(), to, &far, from, &near, kRow, &rows, 1,
                                 flags);
  }
  gex_Event_t get_nb(void* to, std::byte* from, gex_Flags_t flags = 0) const {
    return gex_VIS_StridedGetNB(job().tm, to, &near, job().peer(), from, &far, kRow, &rows, 1,
                                flags);
  }
  int get_nbi(void* to, std::byte* from, gex_Flags_t flags = 0) const {
    return gex_VIS_StridedGetNBI(job().tm, to, &near, job().peer(), from, &far, kRow, &rows, 1,
                                 flags);
  }
};

size_t part_bytes(unsigned parts) {
  return vis::arena_bytes() / parts & ~size_t{7};
}
std::byte* part(unsigned i, unsigned parts) {
  return vis::arena(job().peer()) + i * part_bytes(parts);
}

void check_part(const Columns& c, std::byte* from, uint64_t seed) {
  std::vector<char> got(c.packed());
  gex_Event_Wait(c.get_nb(got.data(), from));
  CHECK_PATTERN(got.data(), got.size(), seed);
}

}  // namespace

// After the leaf the source is free, however much of it is still on its way.
SPEC_CASE(vis_completion, leaf) {
  constexpr unsigned kParts = 8;
  const Columns c(part_bytes(kParts));
  std::vector<std::vector<char>> sources(kParts, std::vector<char>(c.packed()));
  std::vector<gex_Event_t> roots;
  for (unsigned i = 0; i < kParts; ++i) {
    spec::fill(sources[i].data(), c.packed(), 100 + i);
    roots.push_back(c.put_nb(part(i, kParts), sources[i].data(), GEX_FLAG_ENABLE_LEAF_LC));
  }
  for (unsigned i = 0; i < kParts; ++i) {
    gex_Event_t leaf = gex_Event_QueryLeaf(roots[i], GEX_EC_LC);
    if (i % 2 == 0)
      gex_Event_Wait(leaf);
    else
      while (gex_Event_Test(leaf) != 0) gasnet_AMPoll();
    std::memset(sources[i].data(), 0xEE, c.packed());
  }
  gex_Event_WaitAll(roots.data(), roots.size(), 0);
  for (unsigned i = 0; i < kParts; ++i) check_part(c, part(i, kParts), 100 + i);
  spec::barrier();
}

SPEC_CASE(vis_completion, group) {
  constexpr unsigned kParts = 8;
  const Columns c(part_bytes(kParts));
  std::vector<std::vector<char>> sources(kParts, std::vector<char>(c.packed()));
  for (const bool region : {false, true}) {
    if (region) gex_NBI_BeginAccessRegion(0);
    for (unsigned i = 0; i < kParts; ++i) {
      spec::fill(sources[i].data(), c.packed(), 200 + i + region);
      CHECK_EQ(c.put_nbi(part(i, kParts), sources[i].data(), GEX_FLAG_ENABLE_LEAF_LC), 0);
    }
    const gex_Event_t root = region ? gex_NBI_EndAccessRegion(0) : GEX_EVENT_INVALID;
    if (region)
      gex_Event_Wait(gex_Event_QueryLeaf(root, GEX_EC_LC));
    else
      gex_NBI_Wait(GEX_EC_LC, 0);
    for (auto& source : sources) std::memset(source.data(), 0xEE, source.size());
    if (region)
      gex_Event_Wait(root);
    else
      gex_NBI_Wait(GEX_EC_PUT, 0);
    for (unsigned i = 0; i < kParts; ++i) check_part(c, part(i, kParts), 200 + i + region);
  }
  spec::barrier();
}

// Gets count in their own category, so a wait for puts need not wait for them and the reverse.
SPEC_CASE(vis_completion, categories) {
  const Columns c(part_bytes(4));
  std::vector<char> source(c.packed()), got(c.packed());
  spec::fill(source.data(), source.size(), 5);
  CHECK_EQ(c.put_nbi(part(0, 4), source.data()), 0);
  gex_NBI_Wait(GEX_EC_PUT, 0);
  CHECK_EQ(c.get_nbi(got.data(), part(0, 4)), 0);
  CHECK_EQ(gex_NBI_Test(GEX_EC_PUT, 0), GASNET_OK);
  while (gex_NBI_Test(GEX_EC_GET, 0) != GASNET_OK) gasnet_AMPoll();
  CHECK(got == source);
  spec::barrier();
}

// Far more operations than any queue holds, begun before any is waited for, by all ranks at once.
// Would catch a pipeline that needs its own peer to wait, and operations that starve.
SPEC_CASE(vis_completion, many_at_once) {
  const unsigned kParts = spec::scaled(1500, 100);
  const Columns c(std::min<size_t>(part_bytes(kParts), 600));
  std::vector<char> source(c.packed() * kParts), got(source.size());
  spec::fill(source.data(), source.size(), 6 + job().rank);
  std::vector<gex_Event_t> events(kParts);
  for (unsigned i = 0; i < kParts; ++i)
    events[i] = c.put_nb(part(i, kParts), source.data() + i * c.packed());
  gex_Event_WaitAll(events.data(), events.size(), 0);
  for (unsigned i = 0; i < kParts; ++i)
    events[i] = c.get_nb(got.data() + i * c.packed(), part(i, kParts));
  for (unsigned left = kParts; left != 0;) {
    gex_Event_WaitSome(events.data(), events.size(), 0);
    left = 0;
    for (const gex_Event_t event : events) left += event != GEX_EVENT_INVALID;
  }
  CHECK(got == source);
  spec::barrier();
}

// Everybody puts to rank 0 and gets from it at the same time.
SPEC_CASE(vis_completion, all_to_one) {
  const Columns c(std::min<size_t>(vis::arena_bytes() / 2, 200000));
  std::vector<char> source(c.packed()), got(c.packed());
  std::byte* const place = vis::arena(0);
  for (unsigned round = 0; round < 5; ++round) {
    spec::fill(source.data(), source.size(), 9 + round + job().rank);
    CHECK_EQ(gex_VIS_StridedPutBlocking(job().tm, 0, place, &c.far, source.data(), &c.near, kRow,
                                        &c.rows, 1, 0),
             0);
    CHECK_EQ(gex_VIS_StridedGetBlocking(job().tm, got.data(), &c.near, 0, place, &c.far, kRow,
                                        &c.rows, 1, 0),
             0);
    CHECK(got == source);
  }
  spec::barrier();
}

// An immediate call happens as a whole or not at all.
SPEC_CASE(vis_completion, immediate) {
  constexpr unsigned kParts = 16;
  const Columns c(part_bytes(kParts));
  std::vector<std::vector<char>> sources(kParts, std::vector<char>(c.packed()));
  std::vector<gex_Event_t> events(kParts, GEX_EVENT_INVALID);
  std::vector<bool> begun(kParts, false);
  std::vector<char> before(c.packed());
  spec::fill(before.data(), before.size(), 1);
  for (unsigned i = 0; i < kParts; ++i) gex_Event_Wait(c.put_nb(part(i, kParts), before.data()));
  for (unsigned i = 0; i < kParts; ++i) {
    spec::fill(sources[i].data(), c.packed(), 300 + i);
    if (i % 2 == 0) {
      const gex_Event_t event = c.put_nb(part(i, kParts), sources[i].data(), GEX_FLAG_IMMEDIATE);
      begun[i] = event != GEX_EVENT_NO_OP;
      if (begun[i]) events[i] = event;
    } else {
      begun[i] = c.put_nbi(part(i, kParts), sources[i].data(), GEX_FLAG_IMMEDIATE) == 0;
    }
  }
  gex_Event_WaitAll(events.data(), events.size(), 0);
  gex_NBI_Wait(GEX_EC_ALL, 0);
  for (unsigned i = 0; i < kParts; ++i) check_part(c, part(i, kParts), begun[i] ? 300 + i : 1);
  std::vector<char> got(c.packed());
  unsigned tries = 0;
  while (gex_VIS_StridedGetBlocking(job().tm, got.data(), &c.near, job().peer(), part(0, kParts),
                                    &c.far, kRow, &c.rows, 1,
                                    ++tries < 1000 ? GEX_FLAG_IMMEDIATE : 0) != 0)
    gasnet_AMPoll();
  CHECK_PATTERN(got.data(), got.size(), begun[0] ? 300 : 1);
  spec::barrier();
}

#ifdef GASNET_PAR
// Answers of one thread's operations are handled by another one.
SPEC_CASE(vis_completion, threads) {
  constexpr unsigned kThreads = 3;
  std::atomic<unsigned> wrong{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < kThreads; ++t) {
    threads.emplace_back([t, &wrong] {
      const Columns c(std::min<size_t>(part_bytes(kThreads), 60000));
      std::vector<char> source(c.packed()), got(c.packed());
      for (unsigned round = 0; round < 20; ++round) {
        spec::fill(source.data(), source.size(), 50 * t + round + job().rank);
        if (round % 2 == 0) {
          gex_Event_Wait(c.put_nb(part(t, kThreads), source.data()));
          gex_Event_Wait(c.get_nb(got.data(), part(t, kThreads)));
        } else {
          c.put_nbi(part(t, kThreads), source.data());
          gex_NBI_Wait(GEX_EC_PUT, 0);
          c.get_nbi(got.data(), part(t, kThreads));
          gex_NBI_Wait(GEX_EC_GET, 0);
        }
        if (got != source) wrong.fetch_add(1, std::memory_order_relaxed);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_EQ(wrong.load(std::memory_order_relaxed), 0u);
  spec::barrier();
}
#endif
