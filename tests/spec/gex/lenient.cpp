// A client as task runtimes and languages of the field are: a name in lower case, limits asked for
// before there is a job, flags that belong to other calls. Its own program, because all of it comes
// before or with gex_Client_Init().
//
// Catches: such a client refused; an answer before the start that is more than a later one; a flag
// of another call that has an effect.
#include <gasnet_coll.h>
#include <gasnet_ratomic.h>
#include <gasnet_vis.h>
#include <gasnetex.h>

#include <atomic>
#include <cstdint>
#include <cstdio>

#include "small_client.h"

using spec::me;
using spec::require;

namespace {

struct Limits {
  size_t request_long = gex_AM_LUBRequestLong(), reply_long = gex_AM_LUBReplyLong(),
         request_medium = gex_AM_LUBRequestMedium(), reply_medium = gex_AM_LUBReplyMedium();

  bool at_most(const Limits& other) const {
    return request_long <= other.request_long && reply_long <= other.reply_long &&
           request_medium <= other.request_medium && reply_medium <= other.reply_medium;
  }
  bool at_least(size_t bytes) const {
    return request_long >= bytes && reply_long >= bytes && request_medium >= bytes &&
           reply_medium >= bytes;
  }
};

void count_in_turns(gex_TM_t tm, gex_AD_t ad, uint64_t* counter, gex_Rank_t ranks) {
  gex_Event_Wait(
      gex_AD_OpNB_U64(ad, nullptr, 0, counter, GEX_OP_ADD, uint64_t{me} + 1, 0, gex_Flags_t(0)));
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  uint64_t sum = 0;
  gex_Event_Wait(gex_AD_OpNB_U64(ad, &sum, 0, counter, GEX_OP_GET, 0, 0, gex_Flags_t(0)));
  require(sum == uint64_t{ranks} * (ranks + 1) / 2, "the sum of all ranks' additions is wrong");
}

std::atomic<int> payloads{0};
void on_payload(gex_Token_t, void*, size_t) {
  ++payloads;
}

// Of each family of calls some with a flag that is another family's: they do what they do without.
void pass_foreign_flags(gex_TM_t tm, gex_AD_t ad, uint64_t* counter, gex_AM_Index_t payload) {
  uint64_t here[2] = {7, 0};
  void *from[1] = {counter}, *to[1] = {&here[1]};
  gex_Event_t event =
      gex_RMA_PutNB(tm, me, counter, here, 8, GEX_EVENT_NOW, GEX_FLAG_ENABLE_LEAF_LC);
  gex_Event_WaitAll(&event, 1, GEX_FLAG_IMMEDIATE);
  gex_VIS_IndexedGetBlocking(tm, 1, to, 8, me, 1, from, 8, GEX_FLAG_ENABLE_LEAF_LC);
  require(here[1] == 7, "a put or a get with a flag of other calls");
  gex_NBI_BeginAccessRegion(GEX_FLAG_IMMEDIATE);
  gex_AD_OpNBI_U64(ad, &here[1], me, counter, GEX_OP_GET, 0, 0, GEX_FLAG_PEER_SEG_SOME);
  gex_Event_Wait(gex_NBI_EndAccessRegion(GEX_FLAG_IMMEDIATE));
  gex_NBI_Wait(GEX_EC_ALL, GEX_FLAG_IMMEDIATE);
  require(here[1] == 7, "an atomic with a flag of other calls");
  gex_AM_RequestMedium(tm, me, payload, here, 8, GEX_EVENT_NOW, GEX_FLAG_AM_PREPARE_LEAST_ALLOC);
  gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestMedium(tm, me, nullptr, 8, 8, nullptr, 0, 0);
  gex_AM_CancelRequestMedium(sd, GEX_FLAG_IMMEDIATE);
  GASNET_BLOCKUNTIL(payloads == 1);
  gex_Event_Wait(gex_Coll_ReduceToAllNB(tm, &here[1], here, GEX_DT_U64, 8, 1, GEX_OP_MAX, nullptr,
                                        nullptr, GEX_FLAG_IMMEDIATE | GEX_FLAG_SELF_SEG_UNKNOWN));
  require(here[1] == 7, "a reduction with a flag of other calls");
  gex_Event_Wait(gex_Coll_BarrierNB(tm, GEX_FLAG_IMMEDIATE));
}

// Objects that are made, bound, published and destroyed with such flags.
void make_with_foreign_flags(gex_Client_t client, gex_TM_t tm) {
  gex_EP_t worker = GEX_EP_INVALID;
  gex_Segment_t segment = GEX_SEGMENT_INVALID;
  require(gex_EP_Create(&worker, client, GEX_EP_CAPABILITY_RMA, GEX_FLAG_PEER_SEG_OFFSET) ==
                  GASNET_OK &&
              gex_Segment_Create(&segment, client, nullptr, 4096, GEX_MK_HOST,
                                 GEX_FLAG_PEER_SEG_OFFSET) == GASNET_OK &&
              gex_EP_BindSegment(worker, segment, GEX_FLAG_IMMEDIATE) == GASNET_OK &&
              gex_EP_PublishBoundSegment(tm, &worker, 1, GEX_FLAG_IMMEDIATE) == GASNET_OK,
          "an object with flags of other calls");
  require(gex_TM_TranslateRankToEP(tm, me, GEX_FLAG_IMMEDIATE).gex_rank == me, "a translation");
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, me, nullptr, nullptr, nullptr, GEX_FLAG_AD_ACQ));
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  gex_Segment_Destroy(segment, GEX_FLAG_GLOBALLY_QUIESCED);
}

}  // namespace

int main(int argc, char** argv) {
  const Limits before;
  require(before.at_least(512) && gex_AM_MaxArgs() >= 16, "the limits before the start");

  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t tm;
  if (gex_Client_Init(&client, &ep, &tm, "upcxx-style.1", &argc, &argv, GEX_FLAG_PEER_SEG_OFFSET) !=
      GASNET_OK) {
    return 1;
  }
  me = gex_TM_QueryRank(tm);
  require(before.at_most(Limits()), "the limits shrank at the start");

  gex_Segment_t segment;
  require(gex_Segment_Attach(&segment, tm, 65536) == GASNET_OK, "no segment");
  void* owner_address = nullptr;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, 0, &owner_address, nullptr, nullptr, 0));
  auto* const counter = static_cast<uint64_t*>(owner_address);
  if (me == 0) *counter = 0;

  gex_TM_t again;
  gex_TM_Dup(&again, tm, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH | GEX_FLAG_PEER_SEG_OFFSET);
  gex_AD_t ad;
  gex_AD_Create(&ad, again, GEX_DT_U64, GEX_OP_ADD | GEX_OP_GET, GEX_FLAG_PEER_SEG_OFFSET);
  require(gex_AD_QueryFlags(ad) == 0, "a flag of another call is kept");
  gex_Event_Wait(gex_Coll_BarrierNB(again, 0));
  count_in_turns(again, ad, counter, gex_TM_QuerySize(tm));
  gex_AM_Entry_t entry{0,
                       reinterpret_cast<gex_AM_Fn_t>(on_payload),
                       GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST,
                       0,
                       nullptr,
                       nullptr};
  require(gex_EP_RegisterHandlers(ep, &entry, 1) == GASNET_OK, "no handler");
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  pass_foreign_flags(again, ad, static_cast<uint64_t*>(gex_Segment_QueryAddr(segment)),
                     entry.gex_index);
  make_with_foreign_flags(client, tm);
  gex_AD_Destroy(ad);
  gex_TM_Destroy(again, nullptr, GEX_FLAG_RANK_IS_JOBRANK);

  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  if (me == 0) std::printf("lenient: well\n");
  gasnet_exit(0);
}
