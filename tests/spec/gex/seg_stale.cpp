// Memory of the peer's where a segment was that it once published, and has destroyed: what
// GEX_FLAG_PEER_SEG_SOME and GEX_FLAG_PEER_SEG_UNKNOWN may name is what lies there now.
#include <gasnet_vis.h>
#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <vector>

#include "../harness.h"

using spec::job;

namespace {

constexpr size_t kBytes = 64 << 10;
constexpr size_t kPieces[] = {8, 600, 20000};  // inline, one message, several

std::atomic<unsigned> longs{0};
void on_long(gex_Token_t, void*, size_t) {
  longs.fetch_add(1, std::memory_order_release);
}
constexpr gex_AM_Index_t kLong = GEX_AM_INDEX_BASE;

// Endpoints stay, so there is one for all rounds.
gex_EP_t make_endpoint() {
  gex_EP_t ep = GEX_EP_INVALID;
  CHECK_EQ(gex_EP_Create(&ep, job().client, GEX_EP_CAPABILITY_ALL, 0), GASNET_OK);
  gex_AM_Entry_t entry = {kLong,
                          reinterpret_cast<gex_AM_Fn_t>(&on_long),
                          GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST,
                          0,
                          nullptr,
                          "seg_stale.long"};
  CHECK_EQ(gex_EP_RegisterHandlers(ep, &entry, 1), GASNET_OK);
  return ep;
}

// The library allocates a segment for `ep`; every rank uses its peer's, and all destroy theirs.
// The peer's address.
std::byte* publish_and_destroy(gex_EP_t ep, gex_TM_t pair, std::byte*& mine) {
  gex_Segment_t segment = GEX_SEGMENT_INVALID;
  CHECK_EQ(gex_Segment_Create(&segment, job().client, nullptr, kBytes, GEX_MK_HOST, 0), GASNET_OK);
  CHECK_EQ(gex_EP_BindSegment(ep, segment, 0), GASNET_OK);
  CHECK_EQ(gex_EP_PublishBoundSegment(job().tm, &ep, 1, 0), GASNET_OK);
  void* there = nullptr;
  CHECK_EQ(gex_Segment_QueryBound(pair, job().peer(), &there, nullptr, nullptr), 0);
  gex_RMA_PutBlockingVal(pair, job().peer(), there, 1, 8, 0);
  mine = static_cast<std::byte*>(gex_Segment_QueryAddr(segment));
  spec::barrier();
  gex_Segment_Destroy(segment, 0);
  return static_cast<std::byte*>(there);
}

void put(gex_TM_t pair, std::byte* there, const std::byte* data, size_t bytes, gex_Flags_t flags) {
  gex_RMA_PutBlocking(pair, job().peer(), there, data, bytes, flags);
}
void put_pieces(gex_TM_t pair, std::byte* there, const std::byte* data, size_t bytes,
                gex_Flags_t flags) {
  const size_t half = bytes / 2;
  gex_Memvec_t far[] = {{there, half}, {there + half, bytes - half}};
  gex_Memvec_t near = {const_cast<std::byte*>(data), bytes};
  gex_VIS_VectorPutBlocking(pair, job().peer(), 2, far, 1, &near, flags);
}
void send_long(gex_TM_t pair, std::byte* there, const std::byte* data, size_t bytes,
               gex_Flags_t flags) {
  const unsigned before = longs.load(std::memory_order_acquire);
  spec::barrier();
  gex_AM_RequestLong0(pair, job().peer(), kLong, data, bytes, there, GEX_EVENT_NOW, flags);
  GASNET_BLOCKUNTIL(longs.load(std::memory_order_acquire) != before);
}
constexpr decltype(&put) kWays[] = {&put, &put_pieces, &send_long};

// Writes into the peer's memory in every way, looks at what was written here, and reads it.
void write_and_read(gex_TM_t pair, std::byte* there, const std::byte* mine, gex_Flags_t flags) {
  for (const size_t bytes : kPieces) {
    for (size_t way = 0; way < std::size(kWays); ++way) {
      const uint64_t seed = bytes * 100 + way * 10;
      std::vector<std::byte> data(bytes), got(bytes);
      spec::fill(data.data(), bytes, seed + job().rank);
      kWays[way](pair, there, data.data(), bytes, flags);
      spec::barrier();
      CHECK_PATTERN(mine, bytes, seed + job().behind());
      gex_RMA_GetBlocking(pair, got.data(), job().peer(), there, bytes, flags);
      CHECK_PATTERN(got.data(), bytes, seed + job().rank);
      spec::barrier();
    }
  }
}

}  // namespace

// Would catch transfers through what was mapped or registered for the segment before: bytes that
// nobody has any more are read and written, and the peer's memory is not.
SPEC_CASE(seg_stale, other_memory_at_the_place) {
  const gex_EP_t ep = make_endpoint();
  const gex_TM_t pair = gex_TM_Pair(job().ep, gex_EP_QueryIndex(ep));
  std::byte* mine = nullptr;
  std::byte* const there = publish_and_destroy(ep, pair, mine);
  void* const memory = ::mmap(mine, kBytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  CHECK_EQ(memory, static_cast<void*>(mine));
  if (memory != mine) gasnet_exit(1);
  spec::barrier();
  // In no segment, then in one that nobody was told of.
  write_and_read(pair, there, mine, GEX_FLAG_PEER_SEG_UNKNOWN);
  gex_Segment_t segment = GEX_SEGMENT_INVALID;
  CHECK_EQ(gex_Segment_Create(&segment, job().client, mine, kBytes, GEX_MK_HOST, 0), GASNET_OK);
  spec::barrier();
  write_and_read(pair, there, mine, GEX_FLAG_PEER_SEG_SOME);
  gex_Segment_Destroy(segment, 0);
  ::munmap(memory, kBytes);
  spec::barrier();
}
