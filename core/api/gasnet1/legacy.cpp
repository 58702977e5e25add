#include "api/gasnet1/legacy.h"

#include <gasnet.h>

#include "api/export.h"
#include "base/fatal.h"
#include "base/refusal.h"
#include "object/client.h"
#include "process/runtime.h"

extern "C" {
__attribute__((visibility("default"))) gex_TM_t cwy_gasnet1_team_v1 = GEX_TM_INVALID;
}

namespace causeway {
namespace {

// Written by gasnet_init and gasnet_attach, or by gex_Client_Init: before other threads may call.
struct Legacy {
  Client* client = nullptr;
  Gasnet1Stage stage = Gasnet1Stage::none;
} g_legacy;

constexpr const char* kClientName = "GASNET1";

}  // namespace

Client* gasnet1_client() {
  return g_legacy.client;
}

void adopt_gasnet1_client(Client* client) {
  g_legacy.client = client;
  set_gasnet1_stage(Gasnet1Stage::attached);
}

Gasnet1Stage gasnet1_stage() {
  return g_legacy.stage;
}

void set_gasnet1_stage(Gasnet1Stage stage) {
  g_legacy.stage = stage;
  cwy_gasnet1_team_v1 =
      stage == Gasnet1Stage::attached ? g_legacy.client->team()->handle() : GEX_TM_INVALID;
}

Team& gasnet1_team(const char* call) {
  if (g_legacy.client != nullptr) {
    if (g_legacy.stage != Gasnet1Stage::attached) cwy_gasnet1_missing_v1(call);
    return *g_legacy.client->team();
  }
  if (g_runtime == nullptr || runtime().clients.empty()) cwy_gasnet1_missing_v1(call);
  return *runtime().clients.front()->team();
}

}  // namespace causeway

using namespace causeway;

CAUSEWAY_API void cwy_gasnet1_missing_v1(const char* call) {
  if (gasnet1_stage() == Gasnet1Stage::initialised) {
    fatal(call,
          "called before gasnet_attach(); only gasnet_mynode, gasnet_nodes, gasnet_getenv, "
          "gasnet_getMax*SegmentSize and gasnet_exit are allowed there");
  }
  fatal(call,
        "this process has no GASNet-1 client; call gasnet_init() and gasnet_attach(), or pass "
        "GEX_FLAG_USES_GASNET1 to gex_Client_Init()");
}

CAUSEWAY_API int cwy_gasnet1_init_v1(int* argc, char*** argv, int thread_mode,
                                     const uint32_t* direct_layout) {
  if (g_runtime != nullptr && !runtime().clients.empty()) {
    log_refusal("gasnet_init()", gasnet1_client() != nullptr
                                     ? "called twice, or after gex_Client_Init()"
                                     : "this process has started with gex_Client_Init() already");
    return GASNET_ERR_RESOURCE;
  }
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t tm;
  const int status = cwy_client_init_v1(&client, &ep, &tm, kClientName, argc, argv,
                                        GEX_FLAG_USES_GASNET1, thread_mode, direct_layout);
  if (status == GASNET_OK) set_gasnet1_stage(Gasnet1Stage::initialised);
  return status;
}

CAUSEWAY_API void gasnet_QueryGexObjects(gex_Client_t* client_p, gex_EP_t* endpoint_p,
                                         gex_TM_t* tm_p, gex_Segment_t* segment_p) {
  Team& team = gasnet1_team("gasnet_QueryGexObjects()");
  if (client_p != nullptr) *client_p = as_c(team.client());
  if (endpoint_p != nullptr) *endpoint_p = as_c(team.ep());
  if (tm_p != nullptr) *tm_p = team.handle();
  if (segment_p != nullptr) *segment_p = gex_EP_QuerySegment(as_c(team.ep()));
}
