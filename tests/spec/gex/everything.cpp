// GASNET_SEGMENT_EVERYTHING: the program whose "segment" is memory of its own that it never told
// the library of, so that every case that uses a segment runs over addresses that are merely there;
// and what such a program may rely on beyond that.
#include <gasnet_coll.h>
#include <gasnet_ratomic.h>
#include <gasnet_vis.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "../harness.h"

using spec::job;

#if !defined(GASNET_SEGMENT_EVERYTHING) || defined(GASNET_SEGMENT_FAST) || defined(GASNET_PSHM)
#error "this program is one for GASNET_SEGMENT_EVERYTHING"
#endif

namespace {

constexpr size_t kBytes = 70000;  // several messages where messages have to do it

// One address of every rank, by rank.
std::vector<std::byte*> trade(void* mine) {
  std::vector<std::byte*> all(job().size);
  for (gex_Rank_t root = 0; root < job().size; ++root)
    gex_Event_Wait(gex_Coll_BroadcastNB(job().tm, root, &all[root], &mine, sizeof mine, 0));
  return all;
}

alignas(64) std::byte global[kBytes + 64];

}  // namespace

namespace spec {

gex_Segment_t make_segment(std::vector<std::byte*>& owners, size_t& common_bytes) {
  constexpr size_t kLeast = size_t{24} << 20;
  gex_Segment_t segment = reinterpret_cast<gex_Segment_t>(&global);
  // No effect, whatever the size; and the answer says that there is no such object.
  if (!CHECK_EQ(gex_Segment_Attach(&segment, job().tm, 12345), GASNET_OK) ||
      !CHECK(segment == GEX_SEGMENT_INVALID)) {
    gasnet_exit(1);
  }
  common_bytes = kLeast;
  auto* const memory =
      static_cast<std::byte*>(std::calloc(1, kLeast + 4096));  // as long as the job
  // Cases want what every page boundary gives.
  owners = trade(memory + (4096 - reinterpret_cast<uintptr_t>(memory) % 4096));
  return segment;
}

}  // namespace spec

namespace {

// Every way to move bytes there and back.
void round_trip(gex_Rank_t rank, std::byte* there, uint64_t seed) {
  const gex_TM_t tm = job().tm;
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{8}, size_t{600}, kBytes}) {
    std::vector<char> data(bytes + 1), got(bytes + 1);
    for (unsigned form = 0; form < 3; ++form) {
      spec::fill(data.data(), bytes, ++seed);
      gex_Event_t leaf = GEX_EVENT_INVALID;
      if (form == 0) {
        gex_RMA_PutBlocking(tm, rank, there, data.data(), bytes, 0);
        gex_RMA_GetBlocking(tm, got.data(), rank, there, bytes, 0);
      } else if (form == 1) {
        gex_Event_Wait(gex_RMA_PutNB(tm, rank, there, data.data(), bytes, &leaf, 0));
        gex_Event_Wait(gex_RMA_GetNB(tm, got.data(), rank, there, bytes, 0));
      } else {
        gex_RMA_PutNBI(tm, rank, there, data.data(), bytes, GEX_EVENT_NOW, GEX_FLAG_PEER_SEG_BOUND);
        gex_NBI_Wait(GEX_EC_PUT, 0);
        gex_RMA_GetNBI(tm, got.data(), rank, there, bytes, GEX_FLAG_PEER_SEG_UNKNOWN);
        gex_NBI_Wait(GEX_EC_GET, 0);
      }
      CHECK_PATTERN(got.data(), bytes, seed);
    }
  }
  gex_RMA_PutBlockingVal(tm, rank, there + 3, seed, 8, 0);
  CHECK_EQ(gex_RMA_GetBlockingVal(tm, rank, there + 3, 8, 0), seed);
}

}  // namespace

// Would catch memory that is reached only because it lies in a segment of somebody's.
SPEC_CASE(everything, stack_heap_and_globals) {
  std::byte stack[kBytes + 64];
  std::vector<std::byte> heap(kBytes + 64);
  for (std::byte* place : {stack, heap.data(), global}) {
    const auto places = trade(place);
    round_trip(job().peer(), places[job().peer()], 1000 * (job().rank + 1));
    spec::barrier();
    if (job().size > 1)
      CHECK_EQ(gex_RMA_GetBlockingVal(job().tm, job().rank, place + 3, 8, 0) / 1000,
               job().behind() + 1);
    spec::barrier();
  }
}

// Would catch a segment that was allocated all the same, or answers of another configuration.
SPEC_CASE(everything, queries) {
  CHECK_EQ(gasnet_getMaxLocalSegmentSize(), UINTPTR_MAX);
  CHECK_EQ(gasnet_getMaxGlobalSegmentSize(), UINTPTR_MAX);
  CHECK(gex_EP_QuerySegment(job().ep) == GEX_SEGMENT_INVALID);
  for (gex_Rank_t r = 0; r < job().size; ++r) {
    void *owner = &owner, *local = &local;
    uintptr_t size = 0;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(job().tm, r, &owner, &local, &size, 0));
    CHECK(owner == nullptr);
    CHECK(local == nullptr);
    CHECK_EQ(size, UINTPTR_MAX);
  }
  gex_Rank_t neighbors = 0;  // nobody's memory is mapped
  gex_System_QueryNbrhdInfo(nullptr, &neighbors, nullptr);
  CHECK_EQ(neighbors, 1u);
  CHECK(std::strstr(GASNET_CONFIG_STRING, "SEGMENT=EVERYTHING") != nullptr);
}

// The primordial endpoint has all there is; others are bound, published and used as ever.
SPEC_CASE(everything, binding) {
  static std::byte memory[4096];
  gex_Segment_t segment = GEX_SEGMENT_INVALID;
  CHECK_EQ(gex_Segment_Create(&segment, job().client, memory, sizeof memory, GEX_MK_HOST, 0),
           GASNET_OK);
  gex_System_SetVerboseErrors(0);
  CHECK_EQ(gex_EP_BindSegment(job().ep, segment, 0), GASNET_ERR_BAD_ARG);
  gex_System_SetVerboseErrors(1);
  gex_EP_t ep = GEX_EP_INVALID;
  CHECK_EQ(gex_EP_Create(&ep, job().client, GEX_EP_CAPABILITY_ALL, 0), GASNET_OK);
  CHECK_EQ(gex_EP_BindSegment(ep, segment, 0), GASNET_OK);
  CHECK(gex_EP_QuerySegment(ep) == segment);
  CHECK_EQ(gex_EP_PublishBoundSegment(job().tm, &ep, 1, 0), GASNET_OK);
  const gex_TM_t pair = gex_TM_Pair(job().ep, gex_EP_QueryIndex(ep));
  void* there = nullptr;
  uintptr_t size = 0;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(pair, job().peer(), &there, nullptr, &size, 0));
  CHECK_EQ(size, sizeof memory);
  gex_RMA_PutBlockingVal(pair, job().peer(), there, 77 + job().rank, 8, 0);
  spec::barrier();
  uint64_t word = 0;
  std::memcpy(&word, memory, 8);
  CHECK_EQ(word, 77 + job().behind());
  spec::barrier();
}

// Offsets count from address 0; whatever lies here lies in the bound segment.
SPEC_CASE(everything, offsets_are_addresses) {
  uint64_t stack[2] = {0, 0};
  const auto places = trade(stack);
  const uint64_t value = 500 + job().rank;
  gex_RMA_PutBlocking(job().tm, job().peer(), places[job().peer()], &value, 8,
                      GEX_FLAG_PEER_SEG_OFFSET | GEX_FLAG_SELF_SEG_OFFSET);
  gex_RMA_PutBlocking(job().tm, job().peer(), places[job().peer()] + 8, &value, 8,
                      GEX_FLAG_PEER_SEG_SOME | GEX_FLAG_SELF_SEG_BOUND);
  spec::barrier();
  for (uint64_t& word : stack) {
    CHECK_EQ(gex_RMA_GetBlockingVal(job().tm, job().rank, &word, 8, 0), 500 + job().behind());
  }
  spec::barrier();
}

static std::atomic<unsigned> longs{0}, wrong_longs{0};
static void on_long(gex_Token_t, void* data, size_t length, gex_AM_Arg_t seed) {
  if (spec::first_difference(data, length, static_cast<uint64_t>(seed)) != length)
    wrong_longs.fetch_add(1, std::memory_order_relaxed);
  longs.fetch_add(1, std::memory_order_release);
}
static const spec::Handler long_handler(&on_long, GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST,
                                        "everything.long");
SPEC_CASE(everything, long_messages) {
  std::vector<std::byte> heap(kBytes);
  const auto places = trade(heap.data());
  longs = wrong_longs = 0;
  spec::barrier();
  unsigned sent = 0;
  for (const size_t bytes : {size_t{0}, size_t{16}, size_t{600}, kBytes}) {
    std::vector<char> data(bytes + 1);
    spec::fill(data.data(), bytes, ++sent);
    gex_AM_RequestLong1(job().tm, job().peer(), long_handler, data.data(), bytes,
                        places[job().peer()], GEX_EVENT_NOW, 0, static_cast<gex_AM_Arg_t>(sent));
    GASNET_BLOCKUNTIL(longs.load(std::memory_order_acquire) == sent);
    spec::barrier();
  }
  CHECK_EQ(wrong_longs.load(), 0u);
}

// Rank 0's stack is where everybody counts.
SPEC_CASE(everything, atomics_on_a_stack) {
  int64_t counter = 0;
  const auto places = trade(&counter);
  gex_AD_t ad = GEX_AD_INVALID;
  gex_AD_Create(&ad, job().tm, GEX_DT_I64, GEX_OP_FADD | GEX_OP_INC | GEX_OP_GET, 0);
  int64_t seen = -1, before = -1;
  for (int i = 0; i < 100; ++i) {
    gex_Event_Wait(gex_AD_OpNB_I64(ad, &seen, 0, places[0], GEX_OP_FADD, 2, 0, 0));
    CHECK(seen > before);
    before = seen;
    gex_AD_OpNBI_I64(ad, nullptr, 0, places[0], GEX_OP_INC, 0, 0, 0);
  }
  gex_NBI_Wait(GEX_EC_ALL, 0);
  spec::barrier();
  gex_Event_Wait(gex_AD_OpNB_I64(ad, &seen, 0, places[0], GEX_OP_GET, 0, 0, 0));
  CHECK_EQ(seen, 300 * static_cast<int64_t>(job().size));
  spec::barrier();
  gex_AD_Destroy(ad);
}

// Pieces of several kinds of memory in one list.
SPEC_CASE(everything, vis_mixes_memory) {
  std::byte stack[400];
  std::vector<std::byte> heap(400);
  const auto stacks = trade(stack), heaps = trade(heap.data()), globals = trade(global);
  const gex_Rank_t peer = job().peer();
  const gex_Memvec_t far[] = {
      {stacks[peer] + 1, 300}, {globals[peer] + 5, 200}, {heaps[peer], 100}};
  std::vector<char> data(600), got(600);
  spec::fill(data.data(), 600, job().rank);
  const gex_Memvec_t from = {data.data(), 600}, to = {got.data(), 600};
  gex_VIS_VectorPutBlocking(job().tm, peer, 3, far, 1, &from, 0);
  gex_Event_Wait(gex_VIS_VectorGetNB(job().tm, 1, &to, peer, 3, far, 0));
  CHECK_PATTERN(got.data(), 600, job().rank);
  spec::barrier();
  std::vector<char> whole(600);
  std::memcpy(whole.data(), stack + 1, 300);
  std::memcpy(whole.data() + 300, global + 5, 200);
  std::memcpy(whole.data() + 500, heap.data(), 100);
  CHECK_PATTERN(whole.data(), 600, job().behind());
  spec::barrier();
}

// Scratch may lie anywhere too.
SPEC_CASE(everything, scratch_on_the_heap) {
  gex_TM_t team = GEX_TM_INVALID;
  const size_t bytes = gex_TM_Split(&team, job().tm, 0, static_cast<int>(job().rank), nullptr, 0,
                                    GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED);
  std::vector<std::byte> scratch(bytes);
  gex_TM_Split(&team, job().tm, 0, static_cast<int>(job().rank), scratch.data(), bytes, 0);
  uint64_t sum = 0;
  const uint64_t mine = job().rank + 1;
  gex_Event_Wait(
      gex_Coll_ReduceToAllNB(team, &sum, &mine, GEX_DT_U64, 8, 1, GEX_OP_ADD, nullptr, nullptr, 0));
  CHECK_EQ(sum, uint64_t{job().size} * (job().size + 1) / 2);
  spec::barrier();
  gex_Memvec_t back{};
  CHECK(gex_TM_Destroy(team, &back, GEX_FLAG_GLOBALLY_QUIESCED) != 0);
  CHECK(back.gex_addr == scratch.data());
}

// More pieces than one system call takes, of several lengths, cut differently at both ends.
SPEC_CASE(everything, more_pieces_than_a_call_takes) {
  constexpr size_t kPieces = 1500, kPiece = 24;
  std::vector<std::byte> heap(2 * kPieces * kPiece);
  const auto heaps = trade(heap.data());
  const gex_Rank_t peer = job().peer();
  std::vector<void*> far, near;
  std::vector<char> data(kPieces * kPiece), got(kPieces * kPiece);
  for (size_t i = 0; i < kPieces; ++i) far.push_back(heaps[peer] + 2 * i * kPiece);
  for (size_t i = 0; i < kPieces * kPiece / 8; ++i) near.push_back(data.data() + 8 * i);
  spec::fill(data.data(), data.size(), 11 + job().rank);
  gex_VIS_IndexedPutBlocking(job().tm, peer, kPieces, far.data(), kPiece, near.size(), near.data(),
                             8, 0);
  void* const whole[] = {got.data()};
  gex_VIS_IndexedGetBlocking(job().tm, 1, whole, got.size(), peer, kPieces, far.data(), kPiece, 0);
  CHECK_PATTERN(got.data(), got.size(), 11 + job().rank);
  spec::barrier();
  for (size_t i = 0; i < kPieces; ++i) {
    CHECK_EQ(
        std::memcmp(&heap[2 * i * kPiece + kPiece], std::vector<std::byte>(kPiece).data(), kPiece),
        0);
  }
  spec::barrier();
}
