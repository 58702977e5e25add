// The segment of the programs that create, bind and publish one instead of attaching: memory the
// client allocated itself (SPEC_SEGMENT=client, the default), at an address that no page
// boundary favours, or memory the library allocates (SPEC_SEGMENT=library). All cases that use
// the segment then run over it as they do over an attached one.
#include <sys/mman.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "../harness.h"

namespace spec {
namespace {

constexpr size_t kLeast = size_t{24} << 20;

void* client_memory(size_t bytes) {
  void* const memory = mmap(nullptr, bytes + 2 * GASNET_PAGESIZE, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory) + 72;
}

void require(bool good, const char* what) {
  if (good) return;
  FAIL(what);
  gasnet_exit(1);
}

void check_own(gex_Segment_t segment, void* expected) {
  const Job& j = job();
  void* owner = nullptr;
  uintptr_t size = 0;
  require(gex_EP_QuerySegment(j.ep) == segment, "the endpoint does not name its bound segment");
  require(gex_EP_QueryBoundSegmentNB(j.tm, j.rank, &owner, nullptr, &size, GEX_FLAG_IMMEDIATE) ==
              GEX_EVENT_INVALID,
          "one's own bound segment is not known at once");
  require(owner == expected && owner == gex_Segment_QueryAddr(segment),
          "the bound segment is elsewhere");
  require(size == gex_Segment_QuerySize(segment), "the bound segment has another size");
}

}  // namespace

gex_Segment_t make_segment(std::vector<std::byte*>& owners, size_t& common_bytes) {
  const Job& j = job();
  const char* const kind = std::getenv("SPEC_SEGMENT");
  const bool by_library = kind != nullptr && std::string(kind) == "library";
  const size_t bytes = kLeast + j.rank % 5 * 100 + 1;
  void* const memory = by_library ? nullptr : client_memory(bytes);
  require(by_library || memory != nullptr, "no memory for the segment");
  gex_Segment_t segment = GEX_SEGMENT_INVALID;
  require(gex_Segment_Create(&segment, j.client, memory, bytes, GEX_MK_HOST, 0) == GASNET_OK,
          "gex_Segment_Create failed");
  require(gex_EP_QuerySegment(j.ep) == GEX_SEGMENT_INVALID, "bound without being told to");
  require(gex_EP_BindSegment(j.ep, segment, 0) == GASNET_OK, "gex_EP_BindSegment failed");
  check_own(segment, by_library ? gex_Segment_QueryAddr(segment) : memory);
  // Unpublished: the query ends, with an answer or without one.
  for (gex_Rank_t rank = 0; rank < j.size; ++rank) {
    uintptr_t size = 1;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(j.tm, rank, nullptr, nullptr, &size, 0));
    require(size == 0 || size >= kLeast, "an unpublished segment has a strange size");
  }
  barrier();
  gex_EP_t ep = j.ep;
  require(gex_EP_PublishBoundSegment(j.tm, &ep, 1, 0) == GASNET_OK,
          "gex_EP_PublishBoundSegment failed");
  check_own(segment, gex_Segment_QueryAddr(segment));
  owners.resize(j.size);
  for (gex_Rank_t rank = 0; rank < j.size; ++rank) {
    void* owner = nullptr;
    uintptr_t size = 0;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(j.tm, rank, &owner, nullptr, &size, 0));
    require(size >= kLeast + rank % 5 * 100 + 1, "a published segment has the wrong size");
    owners[rank] = static_cast<std::byte*>(owner);
  }
  common_bytes = kLeast;
  barrier();
  return segment;
}

}  // namespace spec
