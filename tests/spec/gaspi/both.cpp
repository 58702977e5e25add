// GASPI and GASNet-EX in one process, over one set of connections, in either order of start.
#define GASNET_PAR 1
#include <gasnet_ratomic.h>
#include <gasnetex.h>

#include <cstring>
#include <string_view>

// SPEC_NO_MAIN: see CMakeLists.txt
#include "testing.h"

using namespace spec;

namespace {

gex_Client_t client;
gex_EP_t ep;
gex_TM_t world_tm;

bool started_first = false;

void start_gasnet() {
  if (gex_Client_Init(&client, &ep, &world_tm, "BOTH", nullptr, nullptr, 0) != GASNET_OK)
    std::abort();
}

}  // namespace

// Catches: two interfaces that number processes differently.
SPEC_CASE(both, ranks) {
  CHECK_EQ(gex_TM_QueryRank(world_tm), job().rank);
  CHECK_EQ(gex_TM_QuerySize(world_tm), job().size);
}

// Catches: transfers of the two that lose each other's messages, on one memory.
SPEC_CASE(both, transfers_in_turns) {
  gex_Segment_t segment = GEX_SEGMENT_INVALID;
  if (gex_EP_QuerySegment(ep) == GEX_SEGMENT_INVALID) {
    CHECK_EQ(gex_Segment_Attach(&segment, world_tm, 65536), GASNET_OK);
  }
  segment = gex_EP_QuerySegment(ep);
  char* mine = static_cast<char*>(gex_Segment_QueryAddr(segment));
  std::memset(mine, 0, 65536);
  // The same memory as a segment of GASPI.
  CHECK_OK(gaspi_segment_use(40, mine, 65536, GASPI_GROUP_ALL, kLong, 0));
  void* theirs = nullptr;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(world_tm, job().peer(), &theirs, nullptr, nullptr, 0));
  for (uint64_t i = 1; i <= 50; ++i) {
    uint64_t value = i * 100 + job().rank;
    gex_RMA_PutBlocking(world_tm, job().peer(), theirs, &value, sizeof value, 0);
    *at<uint64_t>(0) = value + 50;
    CHECK_OK(gaspi_write_notify(0, 0, job().peer(), 40, 8, 8, 1, 1, 0, kLong));
    CHECK_EQ(take_note(40, 1), 1u);
    gex_Event_Wait(gex_Coll_BarrierNB(world_tm, 0));
    CHECK_EQ(*reinterpret_cast<uint64_t*>(mine), i * 100 + job().behind());
    CHECK_EQ(*reinterpret_cast<uint64_t*>(mine + 8), i * 100 + job().behind() + 50);
    CHECK_OK(gaspi_wait(0, kLong));
    barrier();
  }
}

// Catches: two mechanisms on one word, whose updates get lost.
SPEC_CASE(both, atomics_agree) {
  gex_AD_t domain;
  gex_AD_Create(&domain, world_tm, GEX_DT_U64, GEX_OP_FADD | GEX_OP_FCAS | GEX_OP_GET, 0);
  gex_Segment_t segment = gex_EP_QuerySegment(ep);
  if (segment == GEX_SEGMENT_INVALID) {
    CHECK_EQ(gex_Segment_Attach(&segment, world_tm, 65536), GASNET_OK);
    segment = gex_EP_QuerySegment(ep);
  }
  std::memset(gex_Segment_QueryAddr(segment), 0, 64);
  CHECK_OK(gaspi_segment_use(41, gex_Segment_QueryAddr(segment), 65536, GASPI_GROUP_ALL, kLong, 0));
  void* root = nullptr;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(world_tm, 0, &root, nullptr, nullptr, 0));
  constexpr unsigned kEach = 300;
  for (unsigned i = 0; i < kEach; ++i) {
    uint64_t old = 0;
    gex_Event_Wait(gex_AD_OpNB_U64(domain, &old, 0, root, GEX_OP_FADD, 1, 0, 0));
    gaspi_atomic_value_t before = 0;
    CHECK_OK(gaspi_atomic_fetch_add(41, 0, 0, 1, &before, kLong));
    if (!CHECK(before > old)) break;
  }
  barrier();
  uint64_t now = 0;
  gex_Event_Wait(gex_AD_OpNB_U64(domain, &now, 0, root, GEX_OP_GET, 0, 0, 0));
  CHECK_EQ(now, 2ul * kEach * job().size);
  barrier();
  gex_AD_Destroy(domain);
}

int main(int argc, char** argv) {
  started_first = argc > 1 && std::string_view(argv[1]) == "--gasnet-first";
  if (started_first) start_gasnet();
  if (gaspi_proc_init(GASPI_BLOCK) != GASPI_SUCCESS) return 2;
  if (!started_first) start_gasnet();
  const int status = run_cases_of_started(argc, argv);
  gex_Event_Wait(gex_Coll_BarrierNB(world_tm, 0));
  gasnet_exit(status);
}
