// A histogram of pseudo-random numbers, by tickets: rank 0 holds a counter from which every rank
// draws the next block of numbers, and the bins lie dealt out over all ranks, each bin a word that
// is added to from everywhere. Then even and odd ranks, as teams of their own, add up what they
// hold, and the whole is compared with a histogram made alone.
//
// Written from the specification: gex_AD_Create, gex_AD_OpNB_U64, gex_AD_OpNBI_U64,
// gex_Coll_BroadcastNB, gex_Coll_ReduceToAllNB with an operator of our own, gex_TM_Split. C++20.
#define GASNET_SEQ
#include <gasnet_coll.h>
#include <gasnet_ratomic.h>
#include <gasnetex.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <span>
#include <vector>

namespace {

constexpr unsigned kBins = 64, kBlocks = 200, kBlock = 250;

gex_TM_t world;
gex_Rank_t me, ranks;

void check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "rank %u: %s\n", static_cast<unsigned>(me), what);
  gasnet_exit(1);
}

// The numbers of one block: the same whoever draws it.
void for_numbers(uint64_t seed, uint64_t block, auto&& use) {
  uint64_t state = seed + block * 0x9E3779B97F4A7C15u;
  for (unsigned i = 0; i < kBlock; ++i) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    use(state);
  }
}
unsigned bin_of(uint64_t number) {
  return static_cast<unsigned>(std::countl_zero(number | 1)) % kBins ^ (number & 15);
}

// Where things lie in the segments: a ticket counter first, which only rank 0's is used of, then
// every rank's share of the bins.
struct Layout {
  std::vector<uint64_t*> base;  // by rank
  uint64_t* ticket() const { return base[0]; }
  std::pair<gex_Rank_t, uint64_t*> bin(unsigned b) const {
    const gex_Rank_t owner = b % ranks;
    return {owner, base[owner] + 8 + b / ranks};
  }
};

Layout exchange_layout() {
  Layout layout;
  for (gex_Rank_t r = 0; r < ranks; ++r) {
    void* owner = nullptr;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(world, r, &owner, nullptr, nullptr, 0));
    check(owner != nullptr, "a rank has no segment");
    layout.base.push_back(static_cast<uint64_t*>(owner));
  }
  return layout;
}

// Blocks drawn by this rank.
unsigned count_blocks(gex_AD_t ad, const Layout& layout, uint64_t seed) {
  unsigned drawn = 0;
  for (;; ++drawn) {
    uint64_t ticket = 0;
    gex_Event_Wait(gex_AD_OpNB_U64(ad, &ticket, 0, layout.ticket(), GEX_OP_FINC, 0, 0, 0));
    if (ticket >= kBlocks) break;
    std::array<uint64_t, kBins> counts{};
    for_numbers(seed, ticket, [&](uint64_t number) { ++counts[bin_of(number)]; });
    for (unsigned b = 0; b < kBins; ++b) {
      if (counts[b] == 0) continue;
      const auto [owner, word] = layout.bin(b);
      gex_AD_OpNBI_U64(ad, nullptr, owner, word, GEX_OP_ADD, counts[b], 0, 0);
    }
    gex_NBI_Wait(GEX_EC_RMW, 0);
  }
  return drawn;
}

// Our operator: the largest bin and where it is.
struct Peak {
  uint64_t count;
  uint64_t bin;
};
void higher(const void* left, void* right, size_t count, const void*) {
  const auto* a = static_cast<const Peak*>(left);
  auto* b = static_cast<Peak*>(right);
  for (size_t i = 0; i < count; ++i) {
    if (a[i].count > b[i].count || (a[i].count == b[i].count && a[i].bin < b[i].bin)) b[i] = a[i];
  }
}

std::vector<uint64_t> all_bins(gex_TM_t team, std::span<const uint64_t> mine) {
  std::vector<uint64_t> sums(kBins);
  gex_Event_Wait(gex_Coll_ReduceToAllNB(team, sums.data(), mine.data(), GEX_DT_U64,
                                        sizeof(uint64_t), kBins, GEX_OP_ADD, nullptr, nullptr, 0));
  return sums;
}

}  // namespace

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_Segment_t segment;
  check(gex_Client_Init(&client, &ep, &world, "HISTOGRAM", &argc, &argv, 0) == GASNET_OK, "init");
  me = gex_TM_QueryRank(world);
  ranks = gex_TM_QuerySize(world);
  check(gex_Segment_Attach(&segment, world, GASNET_PAGESIZE) == GASNET_OK, "attach");
  const Layout layout = exchange_layout();
  std::fill_n(layout.base[me], GASNET_PAGESIZE / sizeof(uint64_t), 0);

  uint64_t seed = me == 0 ? 20240401 : 0;
  gex_Event_Wait(gex_Coll_BroadcastNB(world, 0, &seed, &seed, sizeof seed, 0));
  gex_AD_t ad;
  gex_AD_Create(&ad, world, GEX_DT_U64, GEX_OP_FINC | GEX_OP_ADD, 0);  // a barrier, too
  gex_Event_Wait(gex_Coll_BarrierNB(world, 0));
  uint64_t drawn = count_blocks(ad, layout, seed), blocks = 0;
  gex_Event_Wait(gex_Coll_ReduceToAllNB(world, &blocks, &drawn, GEX_DT_U64, sizeof drawn, 1,
                                        GEX_OP_ADD, nullptr, nullptr, 0));
  check(blocks == kBlocks, "a block was drawn twice or never");
  gex_AD_Destroy(ad);

  std::vector<uint64_t> mine(kBins), alone(kBins);
  for (unsigned b = me; b < kBins; b += ranks) mine[b] = *layout.bin(b).second;
  for (uint64_t block = 0; block < kBlocks; ++block)
    for_numbers(seed, block, [&](uint64_t number) { ++alone[bin_of(number)]; });
  check(std::ranges::equal(all_bins(world, mine), alone), "the histogram differs");

  gex_TM_t half;
  gex_TM_Split(&half, world, static_cast<int>(me % 2), static_cast<int>(me), nullptr, 0,
               GEX_FLAG_TM_NO_SCRATCH);
  const std::vector<uint64_t> here = all_bins(half, mine);
  uint64_t expected = 0;
  for (unsigned b = 0; b < kBins; ++b) expected += b % ranks % 2 == me % 2 ? alone[b] : 0;
  check(std::accumulate(here.begin(), here.end(), uint64_t{0}) == expected, "half of it differs");
  gex_TM_Destroy(half, nullptr, 0);

  Peak own{0, 0}, peak{0, 0};
  for (unsigned b = 0; b < kBins; ++b) {
    if (mine[b] > own.count) own = {mine[b], b};
  }
  gex_Event_Wait(gex_Coll_ReduceToAllNB(world, &peak, &own, GEX_DT_USER, sizeof own, 1, GEX_OP_USER,
                                        higher, nullptr, 0));
  const auto top = std::ranges::max_element(alone);
  check(peak.count == *top && peak.bin == static_cast<uint64_t>(top - alone.begin()), "the peak");
  std::printf("rank %u of %u: ok\n", static_cast<unsigned>(me), static_cast<unsigned>(ranks));
  std::fflush(stdout);
  gex_Event_Wait(gex_Coll_BarrierNB(world, 0));
  gasnet_exit(0);
}
