// The segment of the programs that attach one: sizes differ from rank to rank, because the
// specification does not make them single-valued.
#include <vector>

#include "../harness.h"

namespace spec {

gex_Segment_t make_segment(std::vector<std::byte*>& owners, size_t& common_bytes) {
  constexpr size_t kLeast = size_t{24} << 20;
  const Job& j = job();
  gex_Segment_t segment = GEX_SEGMENT_INVALID;
  const int status =
      gex_Segment_Attach(&segment, j.tm, kLeast + j.rank % 5 * size_t{GASNET_PAGESIZE});
  if (status != GASNET_OK) {
    FAIL(std::string("gex_Segment_Attach: ") + gasnet_ErrorName(status));
    gasnet_exit(1);
  }
  owners.resize(j.size);
  for (gex_Rank_t rank = 0; rank < j.size; ++rank) {
    void* owner = nullptr;
    uintptr_t size = 0;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(j.tm, rank, &owner, nullptr, &size, 0));
    if (size < kLeast) {
      FAIL("a rank's attached segment is smaller than asked for");
      gasnet_exit(1);
    }
    owners[rank] = static_cast<std::byte*>(owner);
  }
  common_bytes = kLeast;
  return segment;
}

}  // namespace spec
