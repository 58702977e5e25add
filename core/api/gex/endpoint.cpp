// gex_EP_*: creation and queries. What binds segments to endpoints is in segment.cpp.
#include "object/endpoint.h"

#include <fmt/core.h>

#include "am/send.h"
#include "api/export.h"
#include "api/refuse.h"
#include "base/flags.h"
#include "base/handles.h"
#include "object/client.h"
#include "object/segment.h"

using namespace causeway;

CAUSEWAY_API int gex_EP_Create(gex_EP_t* ep_p, gex_Client_t client,
                               gex_EP_Capabilities_t capabilities, gex_Flags_t flags) {
  constexpr const char* kCall = "gex_EP_Create()";
  require_client_context(kCall);
  if (ep_p == nullptr || client == GEX_CLIENT_INVALID)
    return refuse(kCall, GASNET_ERR_BAD_ARG, "ep_p or client is missing");
  if (capabilities == 0 || (capabilities & ~GEX_EP_CAPABILITY_ALL) != 0) {
    return refuse(
        kCall, GASNET_ERR_BAD_ARG,
        fmt::format("capabilities {:#x} are not one or more of GEX_EP_CAPABILITY_*", capabilities));
  }
  flags = flags_of_call(kCall, flags, GEX_FLAG_HINT_ACCEL_ALL);
  if ((flags & ~GEX_FLAG_HINT_ACCEL_ALL) != 0)
    return refuse(kCall, GASNET_ERR_BAD_ARG, fmt::format("unknown flags {:#x}", flags));
  try {
    Endpoint* ep = as(client)->create_endpoint(capabilities, flags);
    if (ep == nullptr) {
      return refuse(kCall, GASNET_ERR_RESOURCE,
                    fmt::format("the client has GASNET_MAXEPS, {}, endpoints", GASNET_MAXEPS));
    }
    *ep_p = as_c(ep);
    return GASNET_OK;
  } catch (const std::exception& e) {
    return refuse(kCall, GASNET_ERR_RESOURCE, e.what());
  }
}

CAUSEWAY_API gex_Client_t gex_EP_QueryClient(gex_EP_t ep) {
  return as_c(as(valid("gex_EP_QueryClient()", "GEX_EP_INVALID", ep))->client());
}
CAUSEWAY_API gex_Flags_t gex_EP_QueryFlags(gex_EP_t ep) {
  return as(valid("gex_EP_QueryFlags()", "GEX_EP_INVALID", ep))->flags();
}
CAUSEWAY_API gex_Segment_t gex_EP_QuerySegment(gex_EP_t ep) {
  Segment* const segment = as(valid("gex_EP_QuerySegment()", "GEX_EP_INVALID", ep))->segment();
  // All of the address space is no object of the client's.
  if (segment != nullptr && segment->is_everything()) return GEX_SEGMENT_INVALID;
  return as_c(segment);
}
CAUSEWAY_API gex_EP_Index_t gex_EP_QueryIndex(gex_EP_t ep) {
  return as(valid("gex_EP_QueryIndex()", "GEX_EP_INVALID", ep))->index();
}
CAUSEWAY_API void gex_EP_SetCData(gex_EP_t ep, const void* val) {
  as(valid("gex_EP_SetCData()", "GEX_EP_INVALID", ep))->cdata = val;
}
CAUSEWAY_API void* gex_EP_QueryCData(gex_EP_t ep) {
  return const_cast<void*>(as(valid("gex_EP_QueryCData()", "GEX_EP_INVALID", ep))->cdata);
}
