// Publication in one thread while others make and destroy teams and TM-pairs, whose windows name
// the memory that comes and goes.
#include "../harness.h"

#ifdef GASNET_PAR

#include <gasnet_coll.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

using spec::job;

namespace {

constexpr size_t kBytes = 64 << 10;
unsigned rounds() {
  return spec::scaled(30, 10);
}

gex_EP_t make_endpoint() {
  gex_EP_t ep = GEX_EP_INVALID;
  CHECK_EQ(gex_EP_Create(&ep, job().client, GEX_EP_CAPABILITY_ALL, 0), GASNET_OK);
  return ep;
}

gex_TM_t team_of_all() {
  gex_TM_t tm = GEX_TM_INVALID;
  gex_TM_Split(&tm, job().tm, 0, static_cast<int>(job().rank), nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
  return tm;
}

void meet(gex_TM_t tm) {
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
}

// Segments come and go at `ep`, and each is written to through a window that was there before.
void publish(gex_TM_t over, gex_EP_t ep) {
  const gex_TM_t pair = gex_TM_Pair(job().ep, gex_EP_QueryIndex(ep));
  for (unsigned round = 0; round < rounds(); ++round) {
    gex_Segment_t segment = GEX_SEGMENT_INVALID;
    CHECK_EQ(gex_Segment_Create(&segment, job().client, nullptr, kBytes, GEX_MK_HOST, 0),
             GASNET_OK);
    CHECK_EQ(gex_EP_BindSegment(ep, segment, 0), GASNET_OK);
    CHECK_EQ(gex_EP_PublishBoundSegment(over, &ep, 1, 0), GASNET_OK);
    void* there = nullptr;
    CHECK_EQ(gex_Segment_QueryBound(pair, job().peer(), &there, nullptr, nullptr), 0);
    gex_RMA_PutBlockingVal(pair, job().peer(), there, 1000 * round + job().rank, 8, 0);
    meet(over);
    uint64_t got = 0;
    std::memcpy(&got, gex_Segment_QueryAddr(segment), sizeof got);
    CHECK_EQ(got, 1000u * round + job().behind());
    meet(over);
    gex_Segment_Destroy(segment, 0);
  }
}

// Teams of these endpoints come and go; in some the memory is mapped, in others not.
void make_teams(gex_TM_t parent, gex_EP_t ep, const std::atomic<bool>& published) {
  std::vector<gex_EP_Location_t> all;
  for (gex_Rank_t r = 0; r < job().size; ++r) all.push_back({r, gex_EP_QueryIndex(ep)});
  for (int going = 1; going != 0;) {
    gex_TM_t team = GEX_TM_INVALID;
    gex_TM_Create(&team, 1, parent, all.data(), all.size(), nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
    gex_TM_Destroy(team, nullptr, 0);
    int mine = published.load(std::memory_order_relaxed) ? 0 : 1;
    // All ranks end in the same round.
    gex_Event_Wait(gex_Coll_ReduceToAllNB(parent, &going, &mine, GEX_DT_I32, sizeof mine, 1,
                                          GEX_OP_MAX, nullptr, nullptr, 0));
  }
}

// The window of a pair that somebody makes at any time serves the primordial endpoints all along.
void use_pairs(const std::atomic<bool>& published) {
  std::byte* const there = spec::segment_of(job().peer(), spec::kScratchOffset);
  uint64_t turn = 0;
  while (!published.load(std::memory_order_relaxed)) {
    const gex_TM_t pair = gex_TM_Pair(job().ep, 0);
    gex_RMA_PutBlockingVal(pair, job().peer(), there, ++turn, 8, 0);
    CHECK_EQ(gex_RMA_GetBlockingVal(pair, job().peer(), there, 8, 0), turn);
  }
}

}  // namespace

// Would catch a window that is written from what is let go meanwhile, which the thread sanitizer
// names, and one that misses a publication: the number arrives in memory of an earlier round.
SPEC_CASE(publish_threads, beside_new_teams, 2) {
  const gex_EP_t ep = make_endpoint();
  const gex_TM_t over = team_of_all(), parent = team_of_all();
  std::atomic<bool> published{false};
  std::thread maker([&] { make_teams(parent, ep, published); });
  std::thread user([&] { use_pairs(published); });
  publish(over, ep);
  published.store(true, std::memory_order_relaxed);
  maker.join();
  user.join();
  gex_TM_Destroy(over, nullptr, 0);
  gex_TM_Destroy(parent, nullptr, 0);
  spec::barrier();
}

#endif  // GASNET_PAR
