// gasnet_memset* to nodes whose memory is not mapped here: GASNet-1 3.2.3, 3.3.2.3.
#include "api/gasnet1/far_memset.h"

#include <gasnet.h>

#include "am/send.h"
#include "api/export.h"
#include "base/call_arguments.h"
#include "object/local.h"
#include "object/team.h"
#include "process/runtime.h"

namespace causeway {
namespace {

Peer& target(const char* call, gex_TM_t tm, gex_Rank_t node, void* dest, int val, size_t nbytes) {
  note_call(call, "node, dest, val, nbytes", node, dest, val, nbytes);
  require_client_context(call, thread_state());
  if (runtime().checks()) require_rank(call, tm, node);
  Peer& peer = Team::of(tm)->member(node);
  if (runtime().checks()) require_remote_range(call, peer, dest, nbytes);
  return peer;
}

}  // namespace
}  // namespace causeway

using namespace causeway;

CAUSEWAY_API void cwy_gasnet1_memset_v1(gex_TM_t tm, gex_Rank_t node, void* dest, int val,
                                        size_t nbytes) {
  remote_memset(target("gasnet_memset()", tm, node, dest, val, nbytes), dest, val, nbytes);
}

CAUSEWAY_API gex_Event_t cwy_gasnet1_memset_nb_v1(gex_TM_t tm, gex_Rank_t node, void* dest, int val,
                                                  size_t nbytes) {
  return remote_memset_nb(target("gasnet_memset_nb()", tm, node, dest, val, nbytes), dest, val,
                          nbytes);
}

CAUSEWAY_API void cwy_gasnet1_memset_nbi_v1(gex_TM_t tm, gex_Rank_t node, void* dest, int val,
                                            size_t nbytes) {
  remote_memset_nbi(target("gasnet_memset_nbi()", tm, node, dest, val, nbytes), dest, val, nbytes);
}
