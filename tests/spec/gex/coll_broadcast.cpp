// Broadcast: every size and root, in place and not, in segments and outside, several at once.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <utility>
#include <vector>

#include "coll_testing.h"

using coll::Guarded;
using coll::wait;
using spec::job;

// Catches wrong trees for sizes that are no power of two, lost or doubled pieces, writes beyond the
// end, and a root that is not 0.
SPEC_CASE(coll_broadcast, sizes_and_roots) {
  for (const size_t bytes : {1ul, 8ul, 63ul, 4096ul, 16384ul, 16385ul, 65536ul, 200001ul}) {
    for (gex_Rank_t root = 0; root < job().size; ++root) {
      Guarded<uint8_t> dst(bytes), src(bytes);
      spec::fill(src.data(), bytes, job().rank == root ? root + bytes : 99);
      const void* from = job().rank == root ? src.data() : nullptr;  // ignored elsewhere
      wait(gex_Coll_BroadcastNB(job().tm, root, dst.data(), from, bytes, 0));
      CHECK_PATTERN(dst.data(), bytes, root + bytes);
      CHECK(dst.intact());
      CHECK_PATTERN(src.data(), bytes, job().rank == root ? root + bytes : 99);
    }
  }
}

// From 1 MiB on the root of a neighborhood helps.
SPEC_CASE(coll_broadcast, many_mebibytes) {
  for (const size_t bytes : {(1ul << 20) - 1, 1ul << 20, (1ul << 20) + 1, (5ul << 20) + 123}) {
    const gex_Rank_t root = bytes % 5 % job().size;
    Guarded<uint8_t> dst(bytes), src(bytes);
    if (job().rank == root) spec::fill(src.data(), bytes, bytes);
    wait(gex_Coll_BroadcastNB(job().tm, root, dst.data(), src.data(), bytes, 0));
    CHECK_PATTERN(dst.data(), bytes, bytes);
    CHECK(dst.intact());
  }
}

// Catches: a broadcast that fails where the kernel refuses to read or write another process'
// memory, as it does for secret memory.
SPEC_CASE(coll_broadcast, memory_out_of_reach_of_others) {
  constexpr size_t kBytes = (3u << 20) + 5;
#ifdef GASNET_SEGMENT_EVERYTHING
  return spec::skip_case("memory of a segment is what other processes may read and write");
#endif
#ifdef SYS_memfd_secret
  const int file = static_cast<int>(::syscall(SYS_memfd_secret, 0));
#else
  const int file = -1;
#endif
  const bool secret = file >= 0 && ::ftruncate(file, kBytes) == 0;
  void* const memory =
      ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
             secret ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, secret ? file : -1, 0);
  if (!CHECK(memory != MAP_FAILED)) return;
  auto* const dst = static_cast<uint8_t*>(memory);
  std::vector<uint8_t> usual(kBytes);
  for (unsigned round = 0; round < 4; ++round) {
    // The secret is where the bytes go, and where they come from.
    uint8_t* const src = round % 2 == 0 ? usual.data() : dst;
    uint8_t* const to = round % 2 == 0 ? dst : usual.data();
    if (job().rank == 0) spec::fill(src, kBytes, round);
    wait(gex_Coll_BroadcastNB(job().tm, 0, to, src, kBytes, 0));
    CHECK_PATTERN(to, kBytes, round);
  }
  ::munmap(memory, kBytes);
  if (file >= 0) ::close(file);
  if (!secret) spec::skip_case("the kernel has no memfd_secret()");
}

SPEC_CASE(coll_broadcast, in_place_at_the_root) {
  for (const size_t bytes : {8ul, 70000ul, 3000000ul}) {
    Guarded<uint8_t> data(bytes);
    spec::fill(data.data(), bytes, job().rank);
    wait(gex_Coll_BroadcastNB(job().tm, 0, data.data(), data.data(), bytes, 0));
    CHECK_PATTERN(data.data(), bytes, 0);
  }
}

SPEC_CASE(coll_broadcast, nothing_at_all) {
  wait(gex_Coll_BroadcastNB(job().tm, 0, nullptr, nullptr, 0, 0));
  uint8_t byte = 7;
  wait(gex_Coll_BroadcastNB(job().tm, 0, &byte, &byte, 0, 0));
  CHECK_EQ(byte, 7);
}

// Buffers in the segments, where neighbours may look.
SPEC_CASE(coll_broadcast, within_segments) {
  const size_t room = spec::segment_bytes() / 4;
  for (const size_t bytes : {size_t{64}, room / 2, room}) {
    std::byte* const data = spec::my_segment(2 * spec::kScratchOffset);
    const gex_Rank_t root = job().size - 1;
    spec::fill(data, bytes, job().rank + bytes);
    wait(gex_Coll_BroadcastNB(job().tm, root, data, data, bytes, 0));
    CHECK_PATTERN(data, bytes, root + bytes);
    spec::barrier();
  }
}

// What flags say of a member's own buffers, another thing on each of them: that they lie in its
// segment, or are offsets into it. Catches an offset that is taken for an address, and the ignored
// source of a member that is no root.
SPEC_CASE(coll_broadcast, where_buffers_lie) {
  std::byte* const data = spec::my_segment(2 * spec::kScratchOffset);
  const gex_Flags_t flags[] = {GEX_FLAG_SELF_SEG_OFFSET, GEX_FLAG_SELF_SEG_BOUND,
                               GEX_FLAG_SELF_SEG_SOME, GEX_FLAG_SELF_SEG_UNKNOWN, 0};
  for (unsigned turn = 0; turn < std::size(flags); ++turn)
    for (const size_t bytes : {size_t{64}, size_t{20000}}) {
      const gex_Flags_t own = flags[(job().rank + turn) % std::size(flags)];
      const gex_Rank_t root = turn % job().size;
      const auto named = [&](std::byte* at) -> void* {
        return own == GEX_FLAG_SELF_SEG_OFFSET ? spec::as_offset(job().rank, at) : at;
      };
      std::byte* const src = data + 32768;
      spec::fill(data, bytes, 99);
      spec::fill(src, bytes, job().rank == root ? turn + bytes : 98);
      void* const from = job().rank == root ? named(src) : nullptr;
      wait(gex_Coll_BroadcastNB(job().tm, root, named(data), from, bytes, own));
      CHECK_PATTERN(data, bytes, turn + bytes);
      spec::barrier();
    }
}

// Many under way at once, with sizes that end in another order than they began. Catches pieces of
// one run that land in another, and runs that wait for a frame for ever.
SPEC_CASE(coll_broadcast, many_outstanding) {
  constexpr unsigned kCount = 24;
  std::vector<Guarded<uint8_t>> data;
  std::vector<gex_Event_t> events;
  const auto bytes_of = [](unsigned i) { return i % 3 == 0 ? 90000ul : 8ul + i; };
  for (unsigned i = 0; i < kCount; ++i) data.emplace_back(bytes_of(i));
  for (unsigned i = 0; i < kCount; ++i) {
    const gex_Rank_t root = i % job().size;
    if (job().rank == root) spec::fill(data[i].data(), bytes_of(i), i);
    events.push_back(
        gex_Coll_BroadcastNB(job().tm, root, data[i].data(), data[i].data(), bytes_of(i), 0));
  }
  if (job().rank % 2 != 0) {
    for (unsigned i = kCount; i-- > 0;) wait(events[i]);
  } else {
    gex_Event_WaitAll(events.data(), kCount, 0);
  }
  for (unsigned i = 0; i < kCount; ++i) {
    CHECK_PATTERN(data[i].data(), bytes_of(i), i);
    CHECK(data[i].intact());
  }
}

// A root that runs ahead of everybody by many operations.
SPEC_CASE(coll_broadcast, root_runs_ahead) {
  const unsigned rounds = spec::scaled(200, 20);
  for (unsigned i = 0; i < rounds; ++i) {
    uint64_t value = job().rank == 0 ? i * 3 + 1 : 0;
    wait(gex_Coll_BroadcastNB(job().tm, 0, &value, &value, sizeof value, 0));
    if (!CHECK_EQ(value, i * 3 + 1)) break;
  }
}

// Memory in no segment, one rank that comes late and then computes, and a root that meanwhile goes
// on with operations that it can end alone and one in which the others show it theirs. Catches a
// root whose memory is used again while the late rank still has to read it.
SPEC_CASE(coll_broadcast, late_reader, 3) {
  constexpr size_t kBytes = 8192;
  const gex_Rank_t late = job().size - 1;
  const bool is_late = job().rank == late;
  std::vector<uint8_t> data(kBytes);
  for (uint64_t round = 0; round < 4; ++round) {
    spec::fill(data.data(), kBytes, job().rank == 0 ? round + 17 : 99);
    uint64_t small[3] = {}, mine[8], all[8];
    for (uint64_t& m : mine) m = job().rank + round;
    spec::barrier();
    if (is_late) usleep(10000);  // what the root says first has come
    gex_Event_t events[5] = {
        gex_Coll_BroadcastNB(job().tm, 0, data.data(), data.data(), kBytes, 0)};
    if (is_late) usleep(30000);  // calls nothing
    if (!is_late) wait(std::exchange(events[0], GEX_EVENT_INVALID));
    for (uint64_t i = 0; i < 3; ++i) {
      if (job().rank == 0) small[i] = 100 * round + i;
      events[1 + i] = gex_Coll_BroadcastNB(job().tm, 0, &small[i], &small[i], 8, 0);
      if (!is_late) wait(std::exchange(events[1 + i], GEX_EVENT_INVALID));
    }
    events[4] = gex_Coll_ReduceToAllNB(job().tm, all, mine, GEX_DT_U64, 8, 8, GEX_OP_ADD, nullptr,
                                       nullptr, 0);
    gex_Event_WaitAll(events, 5, 0);
    CHECK_PATTERN(data.data(), kBytes, round + 17);
    for (uint64_t i = 0; i < 3; ++i) CHECK_EQ(small[i], 100 * round + i);
    for (const uint64_t sum : all)
      CHECK_EQ(sum, job().size * (job().size - 1) / 2 + job().size * round);
  }
}
