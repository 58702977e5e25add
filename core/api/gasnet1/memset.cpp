// gasnet_memset* to nodes whose memory is not mapped here (GASNet-1 3.2.3, 3.3.2.3): the owner does
// it on request, whatever the size, and answers.
#include "api/gasnet1/memset.h"

#include <gasnet.h>

#include "am/arguments.h"
#include "am/peer_memory.h"
#include "am/send.h"
#include "api/export.h"
#include "base/call_arguments.h"
#include "kinds/places.h"
#include "object/local.h"
#include "object/team.h"
#include "process/runtime.h"
#include "progress/waiter.h"
#include "rma/unanswered.h"
#include "thread/tsan_annotations.h"

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

void ask(Peer& peer, void* dest, int val, size_t nbytes, Op* op) {
  hand_over(&op->conduit);
  // Before it is sent: from then on the answer may come at any moment.
  note_question(peer.rank);
  send_internal(peer, Internal::memset_ask, handler_args(dest, val, nbytes, &op->conduit));
}

Op* start_explicit(Peer& peer, void* dest, int val, size_t nbytes) {
  Op* op = thread_state().ops.take();
  op->arm_explicit(CWYC_DONE_REMOTE);
  ask(peer, dest, val, nbytes, op);
  return op;
}

}  // namespace

void on_memset_ask(Peer& from, const int32_t* args, unsigned, void*, size_t) {
  const uint64_t addr = join_halves(args[0], args[1]), length = join_halves(args[3], args[4]);
  require_in_segment(from, addr, length, "gasnet_memset()");
  {
    const AnnotatePeerAccess access;
    fill_bytes("gasnet_memset()", reinterpret_cast<void*>(addr), args[2], length);
  }
  reply_internal(from, Internal::memset_done, handler_args(args[5], args[6]));
}

void on_memset_done(Peer& from, const int32_t* args, unsigned, void*, size_t) {
  note_answer(from.rank);
  cwyc_op* op = take_over(join_halves(args[0], args[1]));
  op->fn(op, CWYC_DONE_REMOTE, CWY_OK, nullptr);
}

}  // namespace causeway

using namespace causeway;

CAUSEWAY_API void cwy_gasnet1_memset_v1(gex_TM_t tm, gex_Rank_t node, void* dest, int val,
                                        size_t nbytes) {
  Peer& peer = target("gasnet_memset()", tm, node, dest, val, nbytes);
  if (nbytes == 0) return;
  Op* op = start_explicit(peer, dest, val, nbytes);
  WaiterFor waiter(wait_for("gasnet_memset()", peer));
  while (!op->complete()) waiter.step();
  thread_state().ops.give(op);
}

CAUSEWAY_API gex_Event_t cwy_gasnet1_memset_nb_v1(gex_TM_t tm, gex_Rank_t node, void* dest, int val,
                                                  size_t nbytes) {
  Peer& peer = target("gasnet_memset_nb()", tm, node, dest, val, nbytes);
  if (nbytes == 0) return GEX_EVENT_INVALID;
  return reinterpret_cast<gex_Event_t>(start_explicit(peer, dest, val, nbytes));
}

CAUSEWAY_API void cwy_gasnet1_memset_nbi_v1(gex_TM_t tm, gex_Rank_t node, void* dest, int val,
                                            size_t nbytes) {
  Peer& peer = target("gasnet_memset_nbi()", tm, node, dest, val, nbytes);
  if (nbytes == 0) return;
  ThreadState& thread = thread_state();
  Op* op = thread.ops.take();
  op->arm_implicit(thread.nbi, kCategoryPut, false, kCategoryLc, CWYC_DONE_REMOTE);
  ++thread.nbi->initiated[kCategoryPut];
  ask(peer, dest, val, nbytes, op);
}
