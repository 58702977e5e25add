#include "library.h"

// No function is called here: `find` wants their types, which decltype takes from the members.
Gex::Gex(const Library& from)
    : least_medium(from.find(decltype(least_medium){}, "gex_AM_LUBRequestMedium")),
      client_init(from.find(decltype(client_init){}, "gex_Client_Init")),
      register_handlers(from.find(decltype(register_handlers){}, "gex_EP_RegisterHandlers")),
      segment_attach(from.find(decltype(segment_attach){}, "gex_Segment_Attach")),
      segment_addr(from.find(decltype(segment_addr){}, "gex_Segment_QueryAddr")),
      query_segment(from.find(decltype(query_segment){}, "gex_EP_QueryBoundSegmentNB")),
      rank(from.find(decltype(rank){}, "gex_TM_QueryRank")),
      size(from.find(decltype(size){}, "gex_TM_QuerySize")),
      request_short0(from.find(decltype(request_short0){}, "gex_AM_RequestShort0")),
      request_medium1(from.find(decltype(request_medium1){}, "gex_AM_RequestMedium1")),
      reply_short1(from.find(decltype(reply_short1){}, "gex_AM_ReplyShort1")),
      ad_create(from.find(decltype(ad_create){}, "gex_AD_Create")),
      ad_destroy(from.find(decltype(ad_destroy){}, "gex_AD_Destroy")),
      atomic_u64(from.find(decltype(atomic_u64){}, "gex_AD_OpNB_U64")),
      get(from.find(decltype(get){}, "gex_RMA_GetBlocking")),
      put_nbi(from.find(decltype(put_nbi){}, "gex_RMA_PutNBI")),
      nbi_wait(from.find(decltype(nbi_wait){}, "gex_NBI_Wait")),
      barrier(from.find(decltype(barrier){}, "gex_Coll_BarrierNB")),
      event_wait(from.find(decltype(event_wait){}, "gex_Event_Wait")),
      poll(from.find(decltype(poll){}, "gasnet_AMPoll")),
      exit(from.find(decltype(exit){}, "gasnet_exit")) {}
