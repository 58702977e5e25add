// Compiled as GASNET_SEQ into programs of a threaded mode: the process belongs to a client of one
// thread first, with endpoints, teams, connections and mapped memory, and the cases run on a second
// client that promises less. Would catch locking that was raised for some endpoints only, a poll
// that enters a conduit as if it were alone, and limits that were those of the first client.
#include <gasnet_coll.h>

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "../harness.h"

#ifndef GASNET_SEQ
#error "this client has one thread"
#endif

namespace {

// Uses everything that is connected and counted by endpoint.
void use(gex_Client_t client, gex_TM_t tm) {
  gex_Segment_t segment = GEX_SEGMENT_INVALID;
  bool good = gex_Segment_Attach(&segment, tm, size_t{64} << 10) == GASNET_OK;
  gex_EP_t ep = GEX_EP_INVALID;
  good = good && gex_EP_Create(&ep, client, GEX_EP_CAPABILITY_ALL, 0) == GASNET_OK;
  good = good && gex_EP_BindSegment(ep, segment, 0) == GASNET_OK;
  good = good && gex_EP_PublishBoundSegment(tm, &ep, 1, 0) == GASNET_OK;
  if (!good) std::exit(1);
  const gex_Rank_t n = gex_TM_QuerySize(tm), me = gex_TM_QueryRank(tm);
  std::vector<gex_EP_Location_t> args;
  for (gex_Rank_t r = 0; r < n; ++r) args.push_back({r, gex_EP_QueryIndex(ep)});
  gex_TM_t team = GEX_TM_INVALID;
  gex_TM_Create(&team, 1, tm, args.data(), args.size(), nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
  for (const gex_TM_t t : {tm, team}) {
    for (gex_Rank_t r = 0; r < n; ++r) {
      void* owner = nullptr;
      gex_Event_Wait(gex_EP_QueryBoundSegmentNB(t, r, &owner, nullptr, nullptr, 0));
      gex_RMA_PutBlockingVal(t, r, static_cast<uint64_t*>(owner) + me, me + 1, 8, 0);
      if (gex_RMA_GetBlockingVal(t, r, static_cast<uint64_t*>(owner) + me, 8, 0) != me + 1)
        std::exit(1);
    }
    uint64_t one = 1, sum = 0;
    gex_Event_Wait(
        gex_Coll_ReduceToAllNB(t, &sum, &one, GEX_DT_U64, 8, 1, GEX_OP_ADD, nullptr, nullptr, 0));
    if (sum != n) std::exit(1);
  }
}

}  // namespace

void start_earlier_client(int* argc, char*** argv) {
  gex_Client_t client = GEX_CLIENT_INVALID;
  gex_EP_t ep = GEX_EP_INVALID;
  gex_TM_t tm = GEX_TM_INVALID;
  if (gex_Client_Init(&client, &ep, &tm, "SPEC_EARLIER", argc, argv, 0) != GASNET_OK) std::exit(1);
  use(client, tm);
}
