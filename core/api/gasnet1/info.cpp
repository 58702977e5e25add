// Queries of a node about the others: gasnet_getSegmentInfo, gasnet_getNodeInfo, gasnet_getenv.
#include <gasnet.h>

#include <cstdlib>
#include <unordered_map>

#include "api/export.h"
#include "api/gasnet1/legacy.h"
#include "base/refusal.h"
#include "object/client.h"
#include "process/runtime.h"

namespace causeway {
namespace {

// Small numbers for whatever identifies a host or a neighborhood: 0, 1, ... by lowest rank, so
// every rank numbers alike.
class Numbering {
 public:
  uint32_t operator()(uint64_t key) {
    return numbers_.emplace(key, static_cast<uint32_t>(numbers_.size())).first->second;
  }

 private:
  std::unordered_map<uint64_t, uint32_t> numbers_;
};

bool bad_table(const char* call, const void* table, int entries) {
  if (entries >= 0 && (table != nullptr || entries == 0)) return false;
  log_refusal(call, "the table is NULL or its length negative");
  return true;
}

uint32_t clipped(int entries) {
  return std::min(static_cast<uint32_t>(entries), runtime().size());
}

bool has_client() {
  return g_runtime != nullptr && !runtime().clients.empty();
}

uintptr_t offset_of(const Peer& peer) {
  return is_mapped(peer) ? static_cast<uintptr_t>(peer.segment.delta) : 0;
}

}  // namespace
}  // namespace causeway

using namespace causeway;

CAUSEWAY_API int gasnet_getSegmentInfo(gasnet_seginfo_t* seginfo_table, int numentries) {
  constexpr const char* kCall = "gasnet_getSegmentInfo()";
  if (!has_client() || gasnet1_stage() == Gasnet1Stage::initialised) return GASNET_ERR_NOT_INIT;
  if (bad_table(kCall, seginfo_table, numentries)) return GASNET_ERR_BAD_ARG;
  const gex_TM_t tm = gasnet1_team(kCall).handle();
  for (uint32_t rank = 0; rank < clipped(numentries); ++rank) {
    void* addr = nullptr;
    uintptr_t size = 0;
    gex_EP_QueryBoundSegmentNB(tm, rank, &addr, nullptr, &size, GEX_FLAG_IMMEDIATE);
    seginfo_table[rank] = {addr, size};
  }
  return GASNET_OK;
}

CAUSEWAY_API int gasnet_getNodeInfo(gasnet_nodeinfo_t* table, int n) {
  if (!has_client()) return GASNET_ERR_NOT_INIT;
  if (bad_table("gasnet_getNodeInfo()", table, n)) return GASNET_ERR_BAD_ARG;
  const JobFacts& job = runtime().job();
  const Client* own = gasnet1_client();
  const Client& client = own != nullptr ? *own : *runtime().clients.front();
  Numbering host, supernode;
  for (uint32_t rank = 0; rank < clipped(n); ++rank) {
    table[rank].host = host(job.host_id(rank));
    table[rank].supernode = supernode(job.nbrhd_of(rank));
    table[rank].offset = job.in_nbrhd(rank) ? offset_of(client.team()->member(rank)) : 0;
  }
  return GASNET_OK;
}

CAUSEWAY_API char* gasnet_getenv(const char* name) {
  return name != nullptr ? std::getenv(name) : nullptr;
}
