// Segments and kinds that are destroyed as early as "Memory Kinds" 2025.8.0, gex_Segment_Destroy()
// 3.d.ii allows: while the library still has something to do for transfers with them.
#include <vector>

#include "devices.h"
#include "silence.h"

using spec::job;

namespace {

// A device's segment with all that belongs to it, bound to `ep` and published.
struct Passing {
  enum class Memory { librarys, clients };
  gex_MK_t kind = GEX_MK_INVALID;
  gex_Segment_t segment = GEX_SEGMENT_INVALID;
  void* memory = nullptr;  // the client's

  Passing(gex_EP_t ep, size_t bytes, Memory whose = Memory::librarys) {
    const gex_MK_Create_args_t args = mk::access().args(0);
    CHECK_EQ(gex_MK_Create(&kind, job().client, &args, 0), GASNET_OK);
    if (whose == Memory::clients) memory = mk::access().alloc(0, bytes);
    CHECK_EQ(gex_Segment_Create(&segment, job().client, memory, bytes, kind, 0), GASNET_OK);
    CHECK_EQ(gex_EP_BindSegment(ep, segment, 0), GASNET_OK);
    CHECK_EQ(gex_EP_PublishBoundSegment(job().tm, &ep, 1, 0), GASNET_OK);
  }
  void* base() const { return gex_Segment_QueryAddr(segment); }
  void destroy() const {
    gex_Segment_Destroy(segment, 0);
    free_memory();
    gex_MK_Destroy(kind, 0);
  }
  void free_memory() const {
    if (memory != nullptr) mk::access().free(0, memory);
  }
};

gex_EP_t make_endpoint() {
  gex_EP_t ep = GEX_EP_INVALID;
  CHECK_EQ(gex_EP_Create(&ep, job().client, GEX_EP_CAPABILITY_ALL, 0), GASNET_OK);
  return ep;
}

void poll_often() {
  for (int i = 0; i < 50; ++i) gasnet_AMPoll();
}

}  // namespace

// The getter knows that its get is complete before the owner's side is through with it. Catches
// what that side uses of a device that has gone.
SPEC_CASE(mk_lasting, owner_after_get, 2) {
  constexpr size_t kBytes = 256 << 10;
  const gex_EP_t ep = make_endpoint();
  const gex_TM_t pair = gex_TM_Pair(job().ep, gex_EP_QueryIndex(ep));
  std::vector<std::byte> in(kBytes), data(kBytes);
  for (unsigned round = 0; round < 20; ++round) {
    const Passing mine(ep, kBytes);
    spec::fill(data.data(), kBytes, round + job().rank);
    mk::access().copy(0, mine.base(), data.data(), kBytes);
    mk::clear_flags();
    if (job().rank == 1) {
      void* there = nullptr;
      CHECK_EQ(gex_Segment_QueryBound(pair, 0, &there, nullptr, nullptr), 0);
      CHECK_EQ(gex_RMA_GetBlocking(pair, in.data(), 0, there, kBytes, 0), 0);
      CHECK_PATTERN(in.data(), kBytes, round);
      mk::flag(0).store(1);
    } else if (job().rank == 0) {
      CHECK(mk::polling_until(0));
    }
    if (job().rank < 2) mine.destroy();
    poll_often();
    spec::barrier();
    if (job().rank >= 2) mine.destroy();
  }
}

// A put that is locally complete is done with its source, and not with the buffers that the bytes
// wait in. Its target takes nothing in before the source's kind is gone; where local completion
// needs that too, there is nothing to see.
SPEC_CASE(mk_lasting, source_after_local_completion, 2) {
  constexpr size_t kBytes = 768 << 10;  // more than a target that is silent takes in
  const gex_EP_t ep = make_endpoint();
  const Passing mine(ep, kBytes);
  std::vector<std::byte> data(kBytes);
  spec::fill(data.data(), kBytes, 100);
  mk::access().copy(0, mine.base(), data.data(), kBytes);
  mk::clear_flags();
  std::byte* const target = spec::segment_of(1, spec::kScratchOffset);
  if (job().rank == 0) {
    gex_Event_t local = GEX_EVENT_INVALID;
    const gex_Event_t whole =
        gex_RMA_PutNB(gex_TM_Pair(ep, 0), 1, target, mine.base(), kBytes, &local, 0);
    const double patience = spec::seconds_now() + 0.5;
    bool early = false;
    while (!early && spec::seconds_now() < patience) {
      gasnet_AMPoll();
      early = local == GEX_EVENT_INVALID || gex_Event_Test(local) == GASNET_OK;
    }
    if (early) mine.destroy();
    poll_often();
    mk::flag(0).store(1);
    gex_Event_Wait(whole);
    if (!early) mine.destroy();  // the whole took the leaf with it
  } else {
    if (job().rank == 1) CHECK(mk::silent_until(0));
    mine.destroy();
  }
  spec::barrier();
  if (job().rank == 1) CHECK_PATTERN(target, kBytes, 100);
  spec::barrier();
}

namespace {

constexpr size_t kSmall = 64 << 10;

// A put into the segment of `to` and a get from it: where handles are opened, one is open now.
void use(gex_TM_t pair, gex_Rank_t to, uint64_t seed) {
  void* there = nullptr;
  CHECK_EQ(gex_Segment_QueryBound(pair, to, &there, nullptr, nullptr), 0);
  std::vector<std::byte> out(kSmall), in(kSmall);
  spec::fill(out.data(), kSmall, seed);
  CHECK_EQ(gex_RMA_PutBlocking(pair, to, there, out.data(), kSmall, 0), 0);
  CHECK_EQ(gex_RMA_GetBlocking(pair, in.data(), to, there, kSmall, 0), 0);
  CHECK_PATTERN(in.data(), kSmall, seed);
}

}  // namespace

// Memory that peers have open is freed, by the library or by the client, as soon as the segment is
// destroyed: by one rank while the others wait, and then by these at once. Would catch a mapping
// that is open by then, which the stand-ins end the process for, a peer that lets go of more than
// it was asked for, and owners that wait for each other.
SPEC_CASE(mk_lasting, mapped_by_peers, 2) {
  const gex_EP_t ep = make_endpoint();
  const gex_TM_t pair = gex_TM_Pair(job().ep, gex_EP_QueryIndex(ep));
  for (unsigned round = 0; round < 4; ++round) {
    const auto whose = round % 2 == 0 ? Passing::Memory::librarys : Passing::Memory::clients;
    const Passing mine(ep, kSmall, whose);
    const gex_Rank_t first = round / 2 % job().size;
    // The ranks take turns, since all write the same bytes.
    for (gex_Rank_t r = 0; r < job().size; ++r) {
      for (gex_Rank_t to = 0; r == job().rank && to < job().size; ++to) use(pair, to, 10 * r + to);
      spec::barrier();
    }
    if (job().rank == first) mine.destroy();
    spec::barrier();
    const gex_Rank_t next = (job().rank + 1) % job().size;
    if (job().rank != first && next != first) use(pair, next, 1000 + job().rank);
    spec::barrier();
    if (job().rank != first) mine.destroy();
    spec::barrier();
  }
}

// A peer that makes no call has the memory open. Would catch an owner that waits for it for ever,
// and a peer that does not let go when it calls again.
SPEC_CASE(mk_lasting, mapped_by_a_silent_peer, 2) {
  const gex_EP_t ep = make_endpoint();
  const gex_TM_t pair = gex_TM_Pair(job().ep, gex_EP_QueryIndex(ep));
  const Passing mine(ep, kSmall, Passing::Memory::clients);
  mk::clear_flags();
  if (job().rank == 1) {
    use(pair, 0, 7);
    mk::flag(0).store(1);
    CHECK(mk::silent_until(1));
  } else if (job().rank == 0) {
    CHECK(mk::polling_until(0));
    const double begin = spec::seconds_now();
    gex_Segment_Destroy(mine.segment, 0);
    CHECK(spec::seconds_now() - begin < 20);
    mk::flag(1).store(1);
  }
  spec::barrier();
  poll_often();
  spec::barrier();
  if (job().rank != 0) gex_Segment_Destroy(mine.segment, 0);
  mine.free_memory();
  gex_MK_Destroy(mine.kind, 0);
  spec::barrier();
}
