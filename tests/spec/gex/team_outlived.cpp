// Operations outlive the team that they were begun on: a team may be destroyed as soon as its
// collectives are over, which says nothing of puts, gets, VIS transfers and messages
// (gex_TM_Destroy, "locally quiesced").
//
// A program of its own, because it replaces the allocation of the process: what a team's creation
// allocates has pages of its own, which nobody may touch once they were given back.
#include <gasnet_vis.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include "../harness.h"

using spec::job;

// ---- allocation ----
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
namespace {
struct Guarded {  // the sanitizer finds more
  Guarded() {}
};
}  // namespace
#else
namespace {

constexpr size_t kPage = 4096, kPages = 65536;
std::atomic<bool> guarding{false};      // relaxed: one thread
std::atomic<size_t> used{0};            // pages; relaxed: a number for each who asks
std::atomic<uint32_t> lengths[kPages];  // of the block that begins in that page, in pages

char* zone() {
  static char* const base = static_cast<char*>(
      mmap(nullptr, kPages * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  return base;
}

// Ends where the page does, as near as the alignment allows. NULL: no pages are left.
void* on_own_pages(size_t bytes, size_t alignment) {
  const size_t pages = (bytes + kPage - 1) / kPage;
  const size_t first = used.fetch_add(pages, std::memory_order_relaxed);
  if (alignment > kPage || first + pages > kPages) return nullptr;
  char* const begin = zone() + first * kPage;
  mprotect(begin, pages * kPage, PROT_READ | PROT_WRITE);
  lengths[first].store(static_cast<uint32_t>(pages), std::memory_order_relaxed);
  return begin + (pages * kPage - bytes) / alignment * alignment;
}

void* allocate(size_t bytes, size_t alignment) {
  if (bytes == 0) bytes = 1;
  void* block = guarding.load(std::memory_order_relaxed) ? on_own_pages(bytes, alignment) : nullptr;
  if (block == nullptr)
    block = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (block == nullptr) std::abort();
  return block;
}

void give_back(void* block) {
  const size_t offset = reinterpret_cast<uintptr_t>(block) - reinterpret_cast<uintptr_t>(zone());
  if (offset >= kPages * kPage) return std::free(block);
  const size_t first = offset / kPage;
  mprotect(zone() + first * kPage, lengths[first].load(std::memory_order_relaxed) * kPage,
           PROT_NONE);
}

struct Guarded {
  Guarded() { guarding.store(true, std::memory_order_relaxed); }
  ~Guarded() { guarding.store(false, std::memory_order_relaxed); }
};

}  // namespace

void* operator new(size_t bytes) {
  return allocate(bytes, alignof(std::max_align_t));
}
void* operator new(size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<size_t>(alignment));
}
void operator delete(void* block) noexcept {
  give_back(block);
}
void operator delete(void* block, size_t) noexcept {
  give_back(block);
}
void operator delete(void* block, std::align_val_t) noexcept {
  give_back(block);
}
void operator delete(void* block, size_t, std::align_val_t) noexcept {
  give_back(block);
}
#endif

// ---- the cases ----
namespace {

// Bytes of a transfer: so many that a pipeline of operations is far from its end when the call
// returns.
constexpr size_t kBytes = 960000;

gex_TM_t brief_team() {
  gex_TM_t tm = GEX_TM_INVALID;
  {
    const Guarded guarded;
    gex_TM_Dup(&tm, job().tm, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
  }
  spec::barrier();  // so that nobody is inside the creation when somebody destroys
  return tm;
}
void end(gex_TM_t tm) {
  gex_TM_Destroy(tm, nullptr, GEX_FLAG_GLOBALLY_QUIESCED);
}

std::byte* landing(gex_Rank_t rank) {
  return spec::segment_of(rank, size_t{1} << 20);
}
uint64_t seed_of(gex_Rank_t rank) {
  return 100 + rank;
}

std::atomic<unsigned> noticed{0}, messages{0};
void on_notice(gex_Token_t, void*, size_t) {
  noticed.fetch_add(1, std::memory_order_release);
}
spec::Handler notice(&on_notice, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, "outlived notice");
void on_message(gex_Token_t, void* buffer, size_t bytes) {
  if (spec::first_difference(buffer, bytes, 7) == bytes)
    messages.fetch_add(1, std::memory_order_release);
}
spec::Handler message(&on_message, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST, "outlived message");

// A put of pieces with a notice behind it, then the get of what was put.
void put_and_get_pieces(size_t piece) {
  std::vector<char> data(kBytes), got(kBytes);
  spec::fill(data.data(), kBytes, seed_of(job().rank));
  const auto near = static_cast<ptrdiff_t>(piece), far = near + 32;
  const size_t count = kBytes / piece;
  noticed.store(0, std::memory_order_relaxed);
  gex_TM_t tm = brief_team();
  gex_VIS_SetPeerCompletionHandler(notice, nullptr, 0, 0);
  const gex_Event_t put = gex_VIS_StridedPutNB(tm, job().peer(), landing(job().peer()), &far,
                                               data.data(), &near, piece, &count, 1, 0);
  end(tm);
  gex_Event_Wait(put);
  GASNET_BLOCKUNTIL(noticed.load(std::memory_order_acquire) == 1);
  for (size_t i = 0; i < count; ++i)
    std::memcpy(&got[i * piece], landing(job().rank) + i * (piece + 32), piece);
  CHECK_PATTERN(got.data(), kBytes, seed_of(job().behind()));
  tm = brief_team();
  const gex_Event_t get = gex_VIS_StridedGetNB(tm, got.data(), &near, job().peer(),
                                               landing(job().peer()), &far, piece, &count, 1, 0);
  end(tm);
  gex_Event_Wait(get);
  CHECK(got == data);
  spec::barrier();
}

}  // namespace

// Pieces that are operations of their own, and pieces that travel together.
SPEC_CASE(team_outlived, vis_large, 2) {
  put_and_get_pieces(6000);
}
SPEC_CASE(team_outlived, vis_small, 2) {
  put_and_get_pieces(600);
}

// Puts of many messages, in a region that is open still and outside of one.
SPEC_CASE(team_outlived, rma, 2) {
  std::vector<char> data(kBytes), got(kBytes);
  spec::fill(data.data(), data.size(), seed_of(job().rank));
  gex_TM_t tm = brief_team();
  gex_NBI_BeginAccessRegion(0);
  gex_RMA_PutNBI(tm, job().peer(), landing(job().peer()), data.data(), data.size(), GEX_EVENT_DEFER,
                 0);
  end(tm);
  gex_Event_Wait(gex_NBI_EndAccessRegion(0));
  tm = brief_team();
  gex_RMA_GetNBI(tm, got.data(), job().peer(), landing(job().peer()), got.size(), 0);
  end(tm);
  gex_NBI_Wait(GEX_EC_GET, 0);
  CHECK(got == data);
  spec::barrier();
}

// Messages whose payload is the library's for a while.
SPEC_CASE(team_outlived, messages, 2) {
  std::vector<char> data(gex_AM_MaxRequestLong(job().tm, job().peer(), GEX_EVENT_NOW, 0, 0));
  data.resize(std::min(data.size(), kBytes));
  spec::fill(data.data(), data.size(), 7);
  messages.store(0, std::memory_order_relaxed);
  const gex_TM_t tm = brief_team();
  gex_Event_t read[2];
  gex_AM_RequestLong0(tm, job().peer(), message, data.data(), data.size(), landing(job().peer()),
                      &read[0], 0);
  gex_AM_RequestMedium0(tm, job().peer(), message, data.data(), 500, &read[1], 0);
  end(tm);
  gex_Event_WaitAll(read, 2, 0);
  GASNET_BLOCKUNTIL(messages.load(std::memory_order_acquire) == 2);
  spec::barrier();
}
