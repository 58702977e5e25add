// Naming endpoints: rank translations and TM-pairs.
#include <atomic>
#include <cstring>

#include "../harness.h"

using spec::job;

namespace {
std::atomic<unsigned> pings{0};
std::atomic<unsigned> pongs{0};

void on_pong(gex_Token_t, gex_AM_Arg_t) {
  pongs.fetch_add(1, std::memory_order_release);
}
spec::Handler pong(&on_pong, GEX_FLAG_AM_REPLY, "pair pong");

void on_ping(gex_Token_t token, gex_AM_Arg_t value) {
  pings.fetch_add(1, std::memory_order_release);
  gex_AM_ReplyShort1(token, pong, 0, value);
}
spec::Handler ping(&on_ping, GEX_FLAG_AM_REQUEST, "pair ping");
}  // namespace

SPEC_CASE(names, translations) {
  for (gex_Rank_t rank = 0; rank < job().size; ++rank) {
    CHECK_EQ(gex_TM_TranslateRankToJobrank(job().tm, rank), rank);
    CHECK_EQ(gex_TM_TranslateJobrankToRank(job().tm, rank), rank);
    const gex_EP_Location_t location = gex_TM_TranslateRankToEP(job().tm, rank, 0);
    CHECK_EQ(location.gex_rank, rank);
    CHECK_EQ(location.gex_ep_index, 0);
  }
  CHECK_EQ(gex_TM_TranslateRankToJobrank(job().tm, job().rank), gex_System_QueryJobRank());
}

// Equal exactly when made from the same arguments, never equal to a team. A pair may name an
// endpoint that does not exist; using it is a fault (tests/fault).
SPEC_CASE(names, pair_equality) {
  const gex_TM_t zero = gex_TM_Pair(job().ep, 0);
  CHECK(zero != GEX_TM_INVALID);
  CHECK(zero != job().tm);
  CHECK_EQ(gex_TM_Pair(job().ep, 0), zero);
  const gex_TM_t one = gex_TM_Pair(job().ep, 1);
  CHECK(one != zero && one != GEX_TM_INVALID && one != job().tm);
  CHECK_EQ(gex_TM_Pair(job().ep, 1), one);
}

// The same results as through the team, for each kind of call that takes a pair.
SPEC_CASE(names, pair_in_communication) {
  const gex_TM_t pair = gex_TM_Pair(job().ep, 0);
  const size_t slot = spec::kScratchOffset + size_t{job().rank} * 4096;
  for (gex_Rank_t rank : {job().rank, job().peer()}) {
    char sent[1000], got[1000];
    spec::fill(sent, sizeof sent, job().rank + 7);
    CHECK_EQ(gex_RMA_PutBlocking(pair, rank, spec::segment_of(rank, slot), sent, sizeof sent, 0),
             0);
    std::memset(got, 0, sizeof got);
    CHECK_EQ(gex_RMA_GetBlocking(pair, got, rank, spec::segment_of(rank, slot), sizeof got, 0), 0);
    CHECK_PATTERN(got, sizeof got, job().rank + 7);
    std::memset(got, 0, sizeof got);
    gex_Event_Wait(gex_RMA_GetNB(job().tm, got, rank, spec::segment_of(rank, slot), sizeof got, 0));
    CHECK_PATTERN(got, sizeof got, job().rank + 7);
    gex_Event_Wait(gex_RMA_PutNB(pair, rank, spec::segment_of(rank, slot + 1), sent, sizeof sent,
                                 GEX_EVENT_DEFER, 0));
    CHECK_EQ(gex_RMA_PutNBIVal(pair, rank, spec::segment_of(rank, slot + 2048), 0x1234567890, 8, 0),
             0);
    gex_NBI_Wait(GEX_EC_ALL, 0);
    CHECK_EQ(gex_RMA_GetBlockingVal(pair, rank, spec::segment_of(rank, slot + 2048), 8, 0),
             0x1234567890u);

    void* owner = nullptr;
    uintptr_t size = 0;
    CHECK_EQ(gex_Segment_QueryBound(pair, rank, &owner, nullptr, &size), GASNET_OK);
    CHECK_EQ(owner, static_cast<void*>(spec::segment_of(rank)));
    gex_Event_t event;
    for (unsigned nargs : {0u, 5u, 16u}) {
      CHECK_EQ(gex_AM_MaxRequestMedium(pair, rank, &event, 0, nargs),
               gex_AM_MaxRequestMedium(job().tm, rank, &event, 0, nargs));
      CHECK_EQ(gex_AM_MaxReplyLong(pair, rank, GEX_EVENT_NOW, 0, nargs),
               gex_AM_MaxReplyLong(job().tm, rank, GEX_EVENT_NOW, 0, nargs));
    }
    const unsigned before = pongs.load(std::memory_order_acquire);
    CHECK_EQ(gex_AM_RequestShort(pair, rank, ping, 0, 42), 0);
    GASNET_BLOCKUNTIL(pongs.load(std::memory_order_acquire) == before + 1);
  }
  spec::barrier();
}
