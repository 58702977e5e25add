#include "extra_endpoints.h"

namespace spec {
namespace {

void require(int status, const char* what) {
  if (status == GASNET_OK) return;
  FAIL(std::string(what) + ": " + gasnet_ErrorName(status));
  gasnet_exit(1);
}

Extra make() {
  Extra e{};
  e.ep[0] = job().ep;
  gex_EP_t* const created = e.ep.data() + 1;
  for (unsigned i = 1; i < kEndpoints; ++i) {
    require(gex_EP_Create(&e.ep[i], job().client, GEX_EP_CAPABILITY_ALL, 0), "gex_EP_Create");
    e.index[i] = gex_EP_QueryIndex(e.ep[i]);
  }
  alignas(64) static std::byte memory[kExtraBytes + 1];
  gex_Segment_t segment = GEX_SEGMENT_INVALID;
  require(gex_Segment_Create(&segment, job().client, memory + 1, kExtraBytes, GEX_MK_HOST, 0),
          "gex_Segment_Create");
  require(gex_EP_BindSegment(e.ep[1], segment, 0), "gex_EP_BindSegment");
  require(gex_Segment_Create(&segment, job().client, nullptr, kExtraBytes, GEX_MK_HOST, 0),
          "gex_Segment_Create");
  require(gex_EP_BindSegment(e.ep[2], segment, 0), "gex_EP_BindSegment");
  require(gex_EP_BindSegment(e.ep[3], segment, 0), "gex_EP_BindSegment");
  require(gex_EP_PublishBoundSegment(job().tm, created, kEndpoints - 1, 0),
          "gex_EP_PublishBoundSegment");
  return e;
}

}  // namespace

const Extra& extra() {
  static const Extra e = make();
  return e;
}

std::byte* extra_segment(gex_Rank_t rank, unsigned i, size_t offset) {
  if (i == 0) return segment_of(rank, kScratchOffset + offset);
  void* owner = nullptr;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(gex_TM_Pair(job().ep, extra().index[i]), rank, &owner,
                                            nullptr, nullptr, 0));
  return static_cast<std::byte*>(owner) + offset;
}

}  // namespace spec
