// A second and a third client in the job: objects of their own, nothing shared.
#include <atomic>
#include <cstring>

#include "../harness.h"

using spec::job;

namespace {

struct Other {
  gex_Client_t client = GEX_CLIENT_INVALID;
  gex_EP_t ep = GEX_EP_INVALID;
  gex_TM_t tm = GEX_TM_INVALID;
  gex_Segment_t segment = GEX_SEGMENT_INVALID;
};

Other start(const char* name) {
  Other o;
  CHECK_EQ(gex_Client_Init(&o.client, &o.ep, &o.tm, name, nullptr, nullptr, 0), GASNET_OK);
  return o;
}

std::atomic<unsigned> first{0}, second{0}, replies{0};
gex_EP_t second_ep = GEX_EP_INVALID;

void on_first(gex_Token_t token) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_EP);
  if (info.gex_ep == job().ep) first.fetch_add(1, std::memory_order_release);
}
void on_reply(gex_Token_t token) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_EP);
  if (info.gex_ep == second_ep) replies.fetch_add(1, std::memory_order_release);
}
gex_AM_Index_t reply_index = 0;
void on_second(gex_Token_t token) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_EP);
  if (info.gex_ep == second_ep) second.fetch_add(1, std::memory_order_release);
  gex_AM_ReplyShort0(token, reply_index, 0);
}
const spec::Handler first_handler(&on_first, GEX_FLAG_AM_REQUEST, "clients.first");

const Other& other() {
  static const Other o = [] {
    Other made = start("SPEC_OTHER");
    second_ep = made.ep;
    gex_AM_Entry_t table[] = {// The same index as a handler of the first client.
                              {first_handler, reinterpret_cast<gex_AM_Fn_t>(&on_second),
                               GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, nullptr, "second"},
                              {0, reinterpret_cast<gex_AM_Fn_t>(&on_reply),
                               GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0, nullptr, "reply"}};
    CHECK_EQ(gex_EP_RegisterHandlers(made.ep, table, 2), GASNET_OK);
    reply_index = table[1].gex_index;
    CHECK_EQ(gex_Segment_Attach(&made.segment, made.tm, size_t{64} << 10), GASNET_OK);
    gex_Event_Wait(gex_Coll_BarrierNB(made.tm, 0));
    return made;
  }();
  return o;
}

}  // namespace

SPEC_CASE(clients, objects) {
  const Other& o = other();
  CHECK(o.client != job().client && o.ep != job().ep && o.tm != job().tm);
  CHECK_EQ(std::string(gex_Client_QueryName(o.client)), std::string("SPEC_OTHER"));
  CHECK_EQ(std::string(gex_Client_QueryName(job().client)), std::string("SPEC_GEX"));
  CHECK_EQ(gex_EP_QueryIndex(o.ep), 0);
  CHECK_EQ(gex_EP_QueryClient(o.ep), o.client);
  CHECK_EQ(gex_TM_QueryClient(o.tm), o.client);
  CHECK_EQ(gex_TM_QueryEP(o.tm), o.ep);
  CHECK_EQ(gex_TM_QueryRank(o.tm), job().rank);
  CHECK_EQ(gex_TM_QuerySize(o.tm), job().size);
  CHECK_EQ(gex_Segment_QueryClient(o.segment), o.client);
  CHECK(gex_EP_QuerySegment(o.ep) == o.segment);
  CHECK(gex_EP_QuerySegment(job().ep) != o.segment);
}

// One handler index, two clients: each message runs its own client's function.
SPEC_CASE(clients, messages_keep_apart) {
  const Other& o = other();
  first = second = replies = 0;
  spec::barrier();
  for (gex_Rank_t r = 0; r < job().size; ++r) {
    gex_AM_RequestShort0(job().tm, r, first_handler, 0);
    gex_AM_RequestShort0(o.tm, r, first_handler, 0);
    gex_AM_RequestShort0(gex_TM_Pair(o.ep, 0), r, first_handler, 0);
  }
  GASNET_BLOCKUNTIL(first.load(std::memory_order_acquire) == job().size);
  GASNET_BLOCKUNTIL(second.load(std::memory_order_acquire) == 2 * job().size);
  GASNET_BLOCKUNTIL(replies.load(std::memory_order_acquire) == 2 * job().size);
  spec::barrier();
}

SPEC_CASE(clients, memory_and_barriers) {
  const Other& o = other();
  void* owner = nullptr;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(o.tm, job().peer(), &owner, nullptr, nullptr, 0));
  auto* there = static_cast<std::byte*>(owner) + 8;
  gex_RMA_PutBlockingVal(o.tm, job().peer(), there, 31 + job().rank, 8, 0);
  const gex_Event_t mine = gex_Coll_BarrierNB(job().tm, 0);
  gex_Event_Wait(gex_Coll_BarrierNB(o.tm, 0));
  gex_Event_Wait(mine);
  uint64_t got = 0;
  std::memcpy(&got, static_cast<std::byte*>(gex_Segment_QueryAddr(o.segment)) + 8, 8);
  CHECK_EQ(got, 31 + job().behind());
  spec::barrier();
}

// Endpoints and teams of the second client are counted by themselves.
SPEC_CASE(clients, endpoints_and_teams) {
  const Other& o = other();
  gex_EP_t ep = GEX_EP_INVALID;
  CHECK_EQ(gex_EP_Create(&ep, o.client, GEX_EP_CAPABILITY_ALL, 0), GASNET_OK);
  CHECK_EQ(gex_EP_QueryIndex(ep), 1);
  CHECK_EQ(gex_EP_QueryClient(ep), o.client);
  gex_TM_t part = GEX_TM_INVALID;
  gex_TM_Split(&part, o.tm, static_cast<int>(job().rank % 2), 0, nullptr, 0,
               GEX_FLAG_TM_NO_SCRATCH);
  CHECK_EQ(gex_TM_QueryClient(part), o.client);
  gex_Event_Wait(gex_Coll_BarrierNB(part, 0));
  gex_TM_Destroy(part, nullptr, 0);
  spec::barrier();
}

// A segment of one client is not an endpoint's of another.
SPEC_CASE(clients, segments_belong_to_one) {
  const Other& o = other();
  const int verbose = gex_System_GetVerboseErrors();
  gex_System_SetVerboseErrors(0);
  gex_EP_t ep = GEX_EP_INVALID;
  CHECK_EQ(gex_EP_Create(&ep, o.client, GEX_EP_CAPABILITY_RMA, 0), GASNET_OK);
  static char memory[4096];
  gex_Segment_t segment = GEX_SEGMENT_INVALID;
  CHECK_EQ(gex_Segment_Create(&segment, job().client, memory, sizeof memory, GEX_MK_HOST, 0),
           GASNET_OK);
  CHECK_EQ(gex_EP_BindSegment(ep, segment, 0), GASNET_ERR_BAD_ARG);
  gex_Segment_Destroy(segment, 0);
  // Names are used once.
  gex_Client_t client = GEX_CLIENT_INVALID;
  gex_TM_t tm = GEX_TM_INVALID;
  CHECK_EQ(gex_Client_Init(&client, &ep, &tm, "SPEC_OTHER", nullptr, nullptr, 0),
           GASNET_ERR_BAD_ARG);
  CHECK(client == GEX_CLIENT_INVALID);
  gex_System_SetVerboseErrors(verbose != 0);
}

SPEC_CASE(clients, third) {
  other();
  const Other o = start("SPEC_THIRD");
  gex_Segment_t segment = GEX_SEGMENT_INVALID;
  CHECK_EQ(gex_Segment_Attach(&segment, o.tm, GASNET_PAGESIZE), GASNET_OK);
  gex_Event_Wait(gex_Coll_BarrierNB(o.tm, 0));
  gex_Event_Wait(gex_Coll_BarrierNB(other().tm, 0));
}

// Attached segments of any number, over any team whose endpoint has none.
SPEC_CASE(clients, attach_over_a_split_team) {
  const Other o = start("SPEC_FOURTH");
  gex_TM_t part = GEX_TM_INVALID;
  gex_TM_Split(&part, o.tm, static_cast<int>(job().rank % 2), -static_cast<int>(job().rank),
               nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
  gex_Segment_t segment = GEX_SEGMENT_INVALID;
  CHECK_EQ(gex_Segment_Attach(&segment, part, 2 * GASNET_PAGESIZE), GASNET_OK);
  for (gex_Rank_t r = 0; r < gex_TM_QuerySize(part); ++r) {
    void* owner = nullptr;
    uintptr_t size = 0;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(part, r, &owner, nullptr, &size, 0));
    CHECK_EQ(size, 2u * GASNET_PAGESIZE);
    auto* there = static_cast<std::byte*>(owner) + 8 * gex_TM_QueryRank(part);
    gex_RMA_PutBlockingVal(part, r, there, r + 1, 8, 0);
    CHECK_EQ(gex_RMA_GetBlockingVal(part, r, there, 8, 0), r + 1);
  }
  // A second segment for one endpoint is refused on all, and nobody hangs.
  const int verbose = gex_System_GetVerboseErrors();
  gex_System_SetVerboseErrors(0);
  gex_Segment_t again = GEX_SEGMENT_INVALID;
  CHECK(gex_Segment_Attach(&again, part, GASNET_PAGESIZE) != GASNET_OK);
  CHECK(again == GEX_SEGMENT_INVALID);
  gex_System_SetVerboseErrors(verbose != 0);
  gex_TM_Destroy(part, nullptr, 0);
  spec::barrier();
}
