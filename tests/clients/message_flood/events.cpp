// Windows of puts and gets by events, regions that become one event, events of their parts, and
// remote updates by the hundred.
#include <gasnet_ratomic.h>
#include <gasnet_vis.h>

#include <cstring>
#include <vector>

#include "flood.hpp"

namespace flood {
namespace {

constexpr size_t kPiece = 64;
constexpr size_t kPieces = kBytes / kPiece;
gex_AD_t domain;

// A thread's own memory: what it puts, and where it gets to.
struct Buffers {
  std::vector<char> out = std::vector<char>(kBytes), in = std::vector<char>(kBytes);
  char* to(size_t piece) { return &in[piece * kPiece]; }
  const char* from(size_t piece) { return &out[piece * kPiece]; }
  void expect_equal(const char* what) const { require(out == in, what); }
};

}  // namespace

// A window of events: when some are done, their places are taken by the next.
void events_windows(int thread) {
  constexpr size_t kWindow = 16;
  Buffers buffers;
  for (gex_Rank_t step = 0; step < ranks; ++step) {
    const gex_Rank_t peer = (me + step) % ranks;
    char* const there = window(peer, me, thread);
    gex_Event_t events[kWindow];
    for (gex_Event_t& event : events) event = GEX_EVENT_INVALID;
    fill(buffers.out.data(), kBytes, peer + 1);
    for (size_t piece = 0; piece < kPieces;) {
      gex_Event_WaitSome(events, kWindow, 0);
      for (gex_Event_t& event : events) {
        if (event != GEX_EVENT_INVALID || piece == kPieces) continue;
        event = gex_RMA_PutNB(team, peer, there + piece * kPiece, buffers.from(piece), kPiece,
                              GEX_EVENT_DEFER, 0);
        ++piece;
      }
    }
    gex_Event_WaitAll(events, kWindow, 0);
    std::vector<gex_Event_t> gets;
    for (size_t piece = 0; piece < kPieces; ++piece)
      gets.push_back(
          gex_RMA_GetNB(team, buffers.to(piece), peer, there + piece * kPiece, kPiece, 0));
    while (gex_Event_TestAll(gets.data(), gets.size(), 0) != 0) gasnet_AMPoll();
    buffers.expect_equal("what a window put is not what it gets");
  }
}

// Regions of implicit operations; several of them are under way at once.
void events_regions(int thread) {
  constexpr size_t kRegions = 4;
  Buffers buffers;
  const gex_Rank_t peer = (me + 1) % ranks;
  char* const there = window(peer, me, thread);
  fill(buffers.out.data(), kBytes, 77);
  gex_Event_t regions[kRegions];
  for (size_t region = 0; region < kRegions; ++region) {
    gex_NBI_BeginAccessRegion(0);
    for (size_t piece = region; piece < kPieces; piece += kRegions)
      gex_RMA_PutNBI(team, peer, there + piece * kPiece, buffers.from(piece), kPiece,
                     GEX_EVENT_DEFER, 0);
    regions[region] = gex_NBI_EndAccessRegion(0);
  }
  gex_Event_WaitAll(regions, kRegions, 0);
  for (size_t piece = 0; piece < kPieces; ++piece)
    gex_RMA_GetNBI(team, buffers.to(piece), peer, there + piece * kPiece, kPiece, 0);
  while (gex_NBI_Test(GEX_EC_GET, 0) != 0) gasnet_AMPoll();
  buffers.expect_equal("what regions put is not what is got");
}

// Every other piece goes in four rows, whose local completion is a leaf of the operation's event.
namespace {
gex_Event_t put_rows(gex_Rank_t peer, char* there, char* source, gex_Event_t* local) {
  const ptrdiff_t stride = kPiece / 4;
  const size_t rows = 4;
  const gex_Event_t root = gex_VIS_StridedPutNB(team, peer, there, &stride, source, &stride,
                                                kPiece / 4, &rows, 1, GEX_FLAG_ENABLE_LEAF_LC);
  if (root != GEX_EVENT_INVALID) *local = gex_Event_QueryLeaf(root, GEX_EC_LC);
  return root;
}
}  // namespace

// Sources are changed as soon as the event of their local completion has come.
void events_leaves(int thread) {
  Buffers buffers;
  const gex_Rank_t peer = (me + ranks - 1) % ranks;
  char* const there = window(peer, me, thread);
  std::vector<gex_Event_t> roots;
  for (size_t piece = 0; piece < kPieces; ++piece) {
    char source[kPiece];
    char* const to = there + piece * kPiece;
    fill(source, kPiece, static_cast<unsigned>(piece));
    std::memcpy(&buffers.out[piece * kPiece], source, kPiece);
    gex_Event_t local = GEX_EVENT_INVALID;
    roots.push_back(piece % 2 != 0 ? put_rows(peer, to, source, &local)
                                   : gex_RMA_PutNB(team, peer, to, source, kPiece, &local, 0));
    gex_Event_Wait(local);
    std::memset(source, 0x55, sizeof source);
    if (piece % 5 == 0) gex_Event_TestSome(roots.data(), roots.size(), 0);
  }
  gex_Event_WaitAll(roots.data(), roots.size(), 0);
  gex_RMA_GetBlocking(team, buffers.in.data(), peer, there, kBytes, 0);
  buffers.expect_equal("a source was changed before it had left");
}

// Remote words are raised by everybody at once. The flag is none of gex_AD_Create()'s: clients pass
// it, because their operations have it.
void events_create() {
  gex_AD_Create(&domain, team, GEX_DT_U64, GEX_OP_ADD | GEX_OP_FADD | GEX_OP_GET | GEX_OP_SET,
                GEX_FLAG_PEER_SEG_OFFSET);
  std::memset(window(me, 0, 0), 0, kBytes);
  barrier();
}
namespace {
constexpr uint64_t kUpdates = 200, kWords = 32;
}
void events_updates(int) {
  uint64_t fetched[kUpdates];
  gex_Event_t events[kUpdates];
  for (uint64_t i = 0; i < kUpdates; ++i) {
    const auto rank = static_cast<gex_Rank_t>(i * 7 % ranks);
    auto* const word = reinterpret_cast<uint64_t*>(window(rank, 0, 0)) + i % kWords;
    if (i % 2 == 0) {
      gex_AD_OpNBI_U64(domain, nullptr, rank, word, GEX_OP_ADD, i, 0, 0);
      events[i] = GEX_EVENT_INVALID;
    } else {
      events[i] = gex_AD_OpNB_U64(domain, &fetched[i], rank, word, GEX_OP_FADD, i, 0, 0);
    }
  }
  gex_Event_WaitAll(events, kUpdates, 0);
  gex_NBI_Wait(GEX_EC_RMW, 0);
}
void events_finish() {
  barrier();
  uint64_t all = 0;
  for (gex_Rank_t rank = 0; rank < ranks; ++rank)
    for (uint64_t i = 0; i < kWords; ++i) {
      uint64_t value = 0;
      gex_Event_Wait(gex_AD_OpNB_U64(domain, &value, rank,
                                     reinterpret_cast<uint64_t*>(window(rank, 0, 0)) + i,
                                     GEX_OP_GET, 0, 0, 0));
      all += value;
    }
  require(all == uint64_t{ranks} * kThreads * (kUpdates * (kUpdates - 1) / 2), "updates were lost");
  barrier();
  gex_AD_Destroy(domain);
}

}  // namespace flood
