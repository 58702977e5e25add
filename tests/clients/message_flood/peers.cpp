// Start, handlers, and whose memory is where.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "flood.hpp"

namespace flood {

gex_TM_t team;
gex_Rank_t me, ranks;
namespace {
gex_Client_t client;
gex_EP_t endpoint;
std::vector<char*> bases;
}  // namespace

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "rank %u: %s\n", static_cast<unsigned>(me), what);
  gasnet_exit(1);
}

void start(int* argc, char*** argv) {
  if (gex_Client_Init(&client, &endpoint, &team, "flood/1.0", argc, argv, 0) != GASNET_OK)
    std::exit(1);
  me = gex_TM_QueryRank(team);
  ranks = gex_TM_QuerySize(team);
  size_t size = size_t{ranks} * kThreads * kBytes;
  size = (size + GASNET_PAGESIZE - 1) / GASNET_PAGESIZE * GASNET_PAGESIZE;
  gex_Segment_t segment;
  require(gex_Segment_Attach(&segment, team, size) == GASNET_OK, "no segment");
  for (gex_Rank_t rank = 0; rank < ranks; ++rank) {
    void* base;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, rank, &base, nullptr, nullptr, 0));
    bases.push_back(static_cast<char*>(base));
  }
}

gex_AM_Index_t add_handler(gex_AM_Fn_t function, gex_Flags_t flags, unsigned arguments) {
  gex_AM_Entry_t entry{0, function, flags, arguments, nullptr, nullptr};
  require(gex_EP_RegisterHandlers(endpoint, &entry, 1) == GASNET_OK, "a handler is refused");
  return entry.gex_index;
}

void barrier() {
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
}

char* window(gex_Rank_t owner, gex_Rank_t writer, int thread) {
  return bases[owner] + (size_t{writer} * kThreads + static_cast<size_t>(thread)) * kBytes;
}

}  // namespace flood
