// A client that starts with gex_Client_Init and GEX_FLAG_USES_GASNET1, attaches with
// gex_Segment_Attach, and uses both interfaces.
#include <gasnet.h>

#include <cstdio>
#include <cstdlib>

namespace {
void require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "rank %u: %s\n", gasnet_mynode(), what);
  gasnet_exit(1);
}
}  // namespace

int main() {
  gex_Client_t client, again;
  gex_EP_t ep;
  gex_TM_t tm, same_tm;
  gex_Segment_t segment, same_segment;
  require(gex_Client_Init(&client, &ep, &tm, "HYBRID", nullptr, nullptr, GEX_FLAG_USES_GASNET1) ==
              GASNET_OK,
          "init");
  gex_System_SetVerboseErrors(0);
  require(gasnet_attach(nullptr, 0, GASNET_PAGESIZE, 0) != GASNET_OK, "attach is for gasnet_init");
  require(gasnet_init(nullptr, nullptr) != GASNET_OK, "the process has started already");
  gex_System_SetVerboseErrors(1);
  require(gex_Segment_Attach(&segment, tm, 4 * GASNET_PAGESIZE) == GASNET_OK, "segment");
  gasnet_QueryGexObjects(&again, nullptr, &same_tm, &same_segment);
  require(again == client && same_tm == tm && same_segment == segment, "objects");
  const gasnet_node_t next = (gasnet_mynode() + 1) % gasnet_nodes();
  gasnet_seginfo_t* info =
      static_cast<gasnet_seginfo_t*>(std::calloc(gasnet_nodes(), sizeof *info));
  require(gasnet_getSegmentInfo(info, static_cast<int>(gasnet_nodes())) == GASNET_OK, "info");
  require(info[next].size == 4 * GASNET_PAGESIZE, "size");
  gasnet_put_val(next, info[next].addr, 0x1234 + gasnet_mynode(), 4);
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  const gasnet_node_t before = (gasnet_mynode() + gasnet_nodes() - 1) % gasnet_nodes();
  require(gasnet_get_val(gasnet_mynode(), info[gasnet_mynode()].addr, 4) == 0x1234 + before, "put");
  require(gasnet_barrier(3, 0) == GASNET_OK, "barrier");
  std::free(info);
  gasnet_exit(0);
}
