// The descriptors and mappings that neighbors cost a rank at the start.
//
// Catches: a connection, a mapping or a descriptor for every neighbor before it was contacted,
// which makes the start of many ranks quadratic; a neighbor's segment that is not there at its
// first use, by its address or by a put.
#include <dirent.h>
#include <gasnet_coll.h>
#include <gasnetex.h>

#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "small_client.h"

using spec::me;
using spec::require;

namespace {

unsigned mapped_objects() {
  FILE* const maps = std::fopen("/proc/self/maps", "r");
  require(maps != nullptr, "/proc/self/maps cannot be read");
  unsigned count = 0;
  char line[512];
  while (std::fgets(line, sizeof line, maps) != nullptr)
    count += std::strstr(line, "/memfd:causeway") != nullptr;
  std::fclose(maps);
  return count;
}

unsigned open_descriptors() {
  DIR* const directory = ::opendir("/proc/self/fd");
  require(directory != nullptr, "/proc/self/fd cannot be read");
  unsigned count = 0;
  while (::readdir(directory) != nullptr) ++count;
  ::closedir(directory);
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t tm;
  gex_Segment_t segment;
  if (gex_Client_Init(&client, &ep, &tm, "START_COST", &argc, &argv, 0) != GASNET_OK) return 1;
  me = gex_TM_QueryRank(tm);
  const gex_Rank_t ranks = gex_TM_QuerySize(tm);
  const unsigned before = open_descriptors();
  require(gex_Segment_Attach(&segment, tm, 65536) == GASNET_OK, "no segment");
  // Descriptors that a tree of the ranks has, and those of peers that a barrier may contact.
  const auto partners = static_cast<unsigned>(2 * std::bit_width(ranks));
  require(mapped_objects() < 8 + 2 * partners, "memory is mapped of neighbors never contacted");
  require(open_descriptors() < before + 4 + partners, "descriptors of neighbors never contacted");

  for (gex_Rank_t r = 0; r < ranks; ++r) {
    void *owner = nullptr, *local = nullptr;
    uintptr_t size = 0;
    gex_Event_Wait(
        gex_EP_QueryBoundSegmentNB(tm, r, &owner, r % 2 == 0 ? &local : nullptr, &size, 0));
    require(size == 65536 && (r % 2 != 0 || local != nullptr),
            "a neighbor's segment has no address");
    const uint32_t word = me + 1;
    gex_RMA_PutBlocking(tm, r, static_cast<uint32_t*>(owner) + me, &word, sizeof word, 0);
    if (local != nullptr)
      require(static_cast<volatile uint32_t*>(local)[me] == word, "the put is not at that address");
  }
  require(mapped_objects() >= ranks, "neighbors were reached without a mapping");
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  void* own = nullptr;
  gex_Segment_QueryBound(tm, me, &own, nullptr, nullptr);
  for (gex_Rank_t r = 0; r < ranks; ++r)
    require(static_cast<uint32_t*>(own)[r] == r + 1, "a put of a neighbor is missing");
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  if (me == 0) std::puts("start_cost: well");
  gasnet_exit(0);
}
