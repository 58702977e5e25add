// Puts and gets of every form, size class and alignment, to the rank itself and to others.
#include <sys/mman.h>

#include <cstring>
#include <vector>

#include "../harness.h"

using spec::job;

namespace {

constexpr size_t kMine = size_t{1} << 20;  // where the caller's part of a peer's segment begins

// Bytes of a peer's segment that belong to this rank in these cases.
size_t share() {
  return (spec::segment_bytes() - kMine) / job().size & ~size_t{63};
}
std::byte* place(gex_Rank_t rank, size_t offset = 0) {
  return spec::segment_of(rank, kMine + share() * job().rank + offset);
}

std::vector<size_t> sizes() {
  std::vector<size_t> all;
  for (size_t n = 0; n <= 33; ++n) all.push_back(n);
  const size_t most = std::min(share() - 4096, (size_t{4} << 20) + 1);
  for (size_t power = 64; power <= most; power *= 2)
    for (size_t n : {power - 1, power, power + 1})
      if (n <= most) all.push_back(n);
  // Around what one medium and one long message carry, where emulation begins to fragment.
  for (size_t limit : {gex_AM_LUBRequestMedium(), gex_AM_LUBReplyMedium(), gex_AM_LUBRequestLong(),
                       gex_AM_LUBReplyLong()})
    for (size_t n : {limit - 1, limit, limit + 1, 3 * limit + 5})
      if (n <= most) all.push_back(n);
  return all;
}

enum class Form { blocking, nb, nbi };
constexpr Form kForms[] = {Form::blocking, Form::nb, Form::nbi};

void put(Form form, gex_Rank_t rank, void* dest, const void* src, size_t bytes,
         gex_Flags_t flags = 0) {
  switch (form) {
    case Form::blocking:
      CHECK_EQ(gex_RMA_PutBlocking(job().tm, rank, dest, src, bytes, flags), 0);
      break;
    case Form::nb: {
      const gex_Event_t event =
          gex_RMA_PutNB(job().tm, rank, dest, src, bytes, GEX_EVENT_DEFER, flags);
      CHECK(event != GEX_EVENT_NO_OP);
      gex_Event_Wait(event);
      break;
    }
    case Form::nbi:
      CHECK_EQ(gex_RMA_PutNBI(job().tm, rank, dest, src, bytes, GEX_EVENT_DEFER, flags), 0);
      gex_NBI_Wait(GEX_EC_PUT, 0);
      break;
  }
}

void get(Form form, void* dest, gex_Rank_t rank, void* src, size_t bytes, gex_Flags_t flags = 0) {
  switch (form) {
    case Form::blocking:
      CHECK_EQ(gex_RMA_GetBlocking(job().tm, dest, rank, src, bytes, flags), 0);
      break;
    case Form::nb: {
      const gex_Event_t event = gex_RMA_GetNB(job().tm, dest, rank, src, bytes, flags);
      CHECK(event != GEX_EVENT_NO_OP);
      gex_Event_Wait(event);
      break;
    }
    case Form::nbi:
      CHECK_EQ(gex_RMA_GetNBI(job().tm, dest, rank, src, bytes, flags), 0);
      gex_NBI_Wait(GEX_EC_GET, 0);
      break;
  }
}

std::vector<gex_Rank_t> targets() {
  std::vector<gex_Rank_t> all = {job().rank};
  if (job().size > 1) all.push_back(job().peer());
  if (job().size > 2) all.push_back(job().behind());
  return all;
}

void all_sizes(Form form) {
  std::vector<char> source, got;
  uint64_t seed = job().rank;
  for (gex_Rank_t rank : targets())
    for (size_t bytes : sizes()) {
      // Guards on both sides must survive the put, and so must those around what is got.
      constexpr size_t kGuard = 32;
      const size_t area = bytes + 2 * kGuard;
      source.resize(area);
      got.assign(area, '\x5A');
      spec::fill(source.data(), area, ++seed);
      put(Form::blocking, rank, place(rank), source.data(), area);
      spec::fill(source.data() + kGuard, bytes, ++seed);
      put(form, rank, place(rank, kGuard), source.data() + kGuard, bytes);
      get(form, got.data() + kGuard, rank, place(rank, kGuard), bytes);
      CHECK_PATTERN(got.data() + kGuard, bytes, seed);
      CHECK(std::string_view(got.data(), kGuard) == std::string(kGuard, '\x5A'));
      CHECK(std::string_view(got.data() + kGuard + bytes, kGuard) == std::string(kGuard, '\x5A'));
      get(form, got.data(), rank, place(rank), area);
      if (!CHECK(got == source)) return;
    }
  spec::barrier();
}

}  // namespace

// Each would catch a size at which bytes are lost, or written outside the destination.
SPEC_CASE(rma, sizes_blocking) {
  all_sizes(Form::blocking);
}
SPEC_CASE(rma, sizes_nb) {
  all_sizes(Form::nb);
}
SPEC_CASE(rma, sizes_nbi) {
  all_sizes(Form::nbi);
}

// Would catch alignment assumptions on either side.
SPEC_CASE(rma, alignments) {
  std::vector<char> source(256), got(256);
  for (gex_Rank_t rank : targets())
    for (Form form : kForms)
      for (size_t local = 0; local < 9; ++local)
        for (size_t remote = 0; remote < 9; ++remote)
          for (size_t bytes : {1, 3, 8, 17, 64, 101}) {
            const uint64_t seed = local * 1000 + remote * 100 + bytes;
            spec::fill(source.data() + local, bytes, seed);
            put(form, rank, place(rank, remote), source.data() + local, bytes);
            get(form, got.data() + remote, rank, place(rank, remote), bytes);
            CHECK_PATTERN(got.data() + remote, bytes, seed);
          }
  spec::barrier();
}

// The owner reads with plain loads what was put before a barrier, and others get what it stored.
SPEC_CASE(rma, seen_by_the_owner) {
  constexpr size_t kBytes = 10000;
  std::vector<char> data(kBytes);
  const auto part = [](gex_Rank_t rank, gex_Rank_t writer) {
    return spec::segment_of(rank, kMine + share() * writer);
  };
  for (Form form : kForms) {
    spec::fill(data.data(), kBytes, job().rank * 3 + static_cast<unsigned>(form));
    for (gex_Rank_t rank = 0; rank < job().size; ++rank)
      put(form, rank, part(rank, job().rank), data.data(), kBytes);
    spec::barrier();
    for (gex_Rank_t writer = 0; writer < job().size; ++writer)
      CHECK_PATTERN(part(job().rank, writer), kBytes, writer * 3 + static_cast<unsigned>(form));
    spec::barrier();
    spec::fill(part(job().rank, job().rank), kBytes, job().rank * 5 + 1000);
    spec::barrier();
    for (gex_Rank_t rank = 0; rank < job().size; ++rank) {
      std::memset(data.data(), 0, kBytes);
      get(form, data.data(), rank, part(rank, rank), kBytes);
      CHECK_PATTERN(data.data(), kBytes, rank * 5 + 1000);
    }
    spec::barrier();
  }
}

// Local buffers may lie in the caller's own segment too.
SPEC_CASE(rma, segment_to_segment) {
  constexpr size_t kBytes = 3000;
  const gex_Rank_t rank = job().peer();
  std::byte* const from = place(job().rank, 0);
  std::byte* const to = place(rank, 8192);
  std::byte* const back = place(job().rank, 16384);
  for (Form form : kForms) {
    spec::fill(from, kBytes, job().rank + 17);
    put(form, rank, to, from, kBytes);
    get(form, back, rank, to, kBytes);
    CHECK_PATTERN(back, kBytes, job().rank + 17);
  }
  spec::barrier();
}

// Would catch values stored from the wrong end, and high bytes that are not zeroed.
SPEC_CASE(rma, values) {
  constexpr gex_RMA_Value_t kValue = 0xF1E2D3C4B5A69788;
  for (gex_Rank_t rank : targets())
    for (size_t bytes = 1; bytes <= sizeof kValue; ++bytes) {
      const gex_RMA_Value_t mask =
          bytes == 8 ? ~gex_RMA_Value_t{0} : (gex_RMA_Value_t{1} << (8 * bytes)) - 1;
      for (size_t offset : {size_t{16}, size_t{19}})
        for (Form form : kForms) {
          const gex_RMA_Value_t value = kValue + static_cast<unsigned>(form) + rank;
          char area[64], got[64];
          std::memset(area, 0x5A, sizeof area);
          put(Form::blocking, rank, place(rank), area, sizeof area);
          switch (form) {
            case Form::blocking:
              CHECK_EQ(gex_RMA_PutBlockingVal(job().tm, rank, place(rank, offset), value, bytes, 0),
                       0);
              break;
            case Form::nb:
              gex_Event_Wait(
                  gex_RMA_PutNBVal(job().tm, rank, place(rank, offset), value, bytes, 0));
              break;
            case Form::nbi:
              CHECK_EQ(gex_RMA_PutNBIVal(job().tm, rank, place(rank, offset), value, bytes, 0), 0);
              gex_NBI_Wait(GEX_EC_PUT, 0);
              break;
          }
          CHECK_EQ(gex_RMA_GetBlockingVal(job().tm, rank, place(rank, offset), bytes, 0),
                   value & mask);
          get(Form::blocking, got, rank, place(rank), sizeof got);
          // What an integral type of that size would look like in memory.
          if (bytes == 4) {
            const auto narrow = static_cast<uint32_t>(value);
            CHECK(std::memcmp(got + offset, &narrow, 4) == 0);
          }
          std::memset(got + offset, 0x5A, bytes);
          CHECK(std::memcmp(got, area, sizeof area) == 0);
        }
    }
  spec::barrier();
}

// Many operations of mixed forms and sizes in flight together to several peers.
SPEC_CASE(rma, overlapping) {
  constexpr unsigned kCount = 64;
  const size_t each = std::min(share() / kCount, size_t{40000});
  std::vector<std::vector<char>> sources(kCount), got(kCount);
  std::vector<gex_Event_t> events;
  for (unsigned i = 0; i < kCount; ++i) {
    const size_t bytes = 1 + i * 977 % each;
    sources[i].resize(bytes);
    got[i].assign(bytes, 0);
    spec::fill(sources[i].data(), bytes, i + job().rank);
    const gex_Rank_t rank = (job().rank + i) % job().size;
    std::byte* const to = place(rank, i * each);
    if (i % 2 == 0)
      events.push_back(
          gex_RMA_PutNB(job().tm, rank, to, sources[i].data(), bytes, GEX_EVENT_DEFER, 0));
    else
      gex_RMA_PutNBI(job().tm, rank, to, sources[i].data(), bytes, GEX_EVENT_DEFER, 0);
  }
  gex_NBI_Wait(GEX_EC_PUT, 0);
  gex_Event_WaitAll(events.data(), events.size(), 0);
  for (const gex_Event_t event : events) CHECK(event == GEX_EVENT_INVALID);
  events.clear();
  for (unsigned i = 0; i < kCount; ++i) {
    const gex_Rank_t rank = (job().rank + i) % job().size;
    if (i % 3 == 0)
      events.push_back(
          gex_RMA_GetNB(job().tm, got[i].data(), rank, place(rank, i * each), got[i].size(), 0));
    else
      gex_RMA_GetNBI(job().tm, got[i].data(), rank, place(rank, i * each), got[i].size(), 0);
  }
  gex_Event_WaitAll(events.data(), events.size(), 0);
  gex_NBI_Wait(GEX_EC_GET, 0);
  for (unsigned i = 0; i < kCount; ++i) CHECK_PATTERN(got[i].data(), got[i].size(), i + job().rank);
  spec::barrier();
}

// A promise about the peer changes nothing about the result.
SPEC_CASE(rma, peer_never_self, 2) {
  char data[100], got[100];
  const gex_Rank_t rank = job().peer();
  for (Form form : kForms) {
    spec::fill(data, sizeof data, 9 + static_cast<unsigned>(form));
    put(form, rank, place(rank), data, sizeof data, GEX_FLAG_PEER_NEVER_SELF);
    get(form, got, rank, place(rank), sizeof got, GEX_FLAG_PEER_NEVER_SELF);
    CHECK_PATTERN(got, sizeof got, 9 + static_cast<unsigned>(form));
  }
  spec::barrier();
}

namespace {

// Puts `buffer` to the peer, and gets it back into the same memory after that was overwritten.
void there_and_back(char* buffer, size_t bytes, unsigned seed) {
  const gex_Rank_t rank = job().peer();
  spec::fill(buffer, bytes, seed);
  put(Form::blocking, rank, place(rank), buffer, bytes);
  std::vector<char> copy(bytes);
  get(Form::nb, copy.data(), rank, place(rank), bytes);
  CHECK_PATTERN(copy.data(), bytes, seed);
  std::memset(buffer, 0, bytes);
  get(Form::nbi, buffer, rank, place(rank), bytes);
  CHECK_PATTERN(buffer, bytes, seed);
}

char* map(void* at, size_t bytes) {
  const int fixed = at != nullptr ? MAP_FIXED : 0;
  void* const got =
      mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0);
  CHECK(got != MAP_FAILED);
  return static_cast<char*>(got);
}

}  // namespace

// Local memory that is unmapped, given back or moved, and other memory at its address afterwards:
// would catch registrations that outlive what they stand for.
SPEC_CASE(rma, buffers_come_and_go, 2) {
  constexpr size_t kBytes = 256 << 10;
  unsigned seed = 20;
  char* const first = map(nullptr, 2 * kBytes);
  mprotect(first + kBytes, kBytes, PROT_NONE);  // no room to grow in place
  for (int round = 0; round < 3; ++round) {
    there_and_back(first, kBytes, ++seed);
    there_and_back(first, kBytes, ++seed);  // the same memory again
    munmap(first, kBytes);
    CHECK(map(first, kBytes) == first);
    there_and_back(first, kBytes, ++seed);
    map(first, kBytes);  // over it, without unmapping
    there_and_back(first, kBytes, ++seed);
    madvise(first, kBytes, MADV_DONTNEED);
    there_and_back(first, kBytes, ++seed);
    // Growing moves it: the flag MREMAP_FIXED is lost where a library of a network interposes.
    void* const moved = mremap(first, kBytes, 2 * kBytes, MREMAP_MAYMOVE);
    CHECK(moved != MAP_FAILED && moved != first);
    CHECK(map(first, kBytes) == first);
    there_and_back(first, kBytes, ++seed);
    if (moved == MAP_FAILED) continue;
    there_and_back(static_cast<char*>(moved), kBytes, ++seed);
    munmap(moved, 2 * kBytes);
  }
  munmap(first, 2 * kBytes);
  spec::barrier();
}
