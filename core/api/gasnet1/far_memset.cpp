#include "api/gasnet1/far_memset.h"

#include "am/internal.h"
#include "am/peer_memory.h"
#include "kinds/places.h"
#include "progress/waiter.h"
#include "rma/unanswered.h"
#include "thread/thread_state.h"
#include "thread/tsan_annotations.h"

namespace causeway {
namespace {

void ask(Peer& peer, void* dest, int value, size_t length, Op* op) {
  const auto addr = reinterpret_cast<uint64_t>(dest);
  const auto cookie = reinterpret_cast<uint64_t>(&op->conduit);
  const int32_t args[] = {low_half(addr),   high_half(addr),   value,
                          low_half(length), high_half(length), low_half(cookie),
                          high_half(cookie)};
  hand_over(&op->conduit);
  // Before it is sent: from then on the answer may come at any moment.
  note_question(peer.rank);
  send_internal(peer, Internal::memset_ask, args, 7, nullptr, 0);
}

Op* start_explicit(Peer& peer, void* dest, int value, size_t length) {
  Op* op = thread_state().ops.take();
  op->arm_explicit(CWYC_DONE_REMOTE);
  ask(peer, dest, value, length, op);
  return op;
}

}  // namespace

gex_Event_t remote_memset_nb(Peer& peer, void* dest, int value, size_t length) {
  if (length == 0) return GEX_EVENT_INVALID;
  return reinterpret_cast<gex_Event_t>(start_explicit(peer, dest, value, length));
}

void remote_memset_nbi(Peer& peer, void* dest, int value, size_t length) {
  if (length == 0) return;
  ThreadState& thread = thread_state();
  ImplicitOps* set = thread.nbi;
  Op* op = thread.ops.take();
  op->arm_implicit(set, kCategoryPut, false, kCategoryLc, CWYC_DONE_REMOTE);
  ++set->initiated[kCategoryPut];
  ask(peer, dest, value, length, op);
}

void remote_memset(Peer& peer, void* dest, int value, size_t length) {
  if (length == 0) return;
  Op* op = start_explicit(peer, dest, value, length);
  WaiterFor waiter(wait_for("gasnet_memset()", peer));
  while (!op->complete()) waiter.step();
  thread_state().ops.give(op);
}

void on_memset_ask(Peer& from, const int32_t* args, unsigned, void*, size_t) {
  const uint64_t addr = join_halves(args[0], args[1]), length = join_halves(args[3], args[4]);
  require_in_segment(from, addr, length, "gasnet_memset()");
  {
    const AnnotatePeerAccess access;
    fill_bytes("gasnet_memset()", reinterpret_cast<void*>(addr), args[2], length);
  }
  const int32_t answer[] = {args[5], args[6]};
  reply_internal(from, Internal::memset_done, answer, 2, nullptr, 0);
}

void on_memset_done(Peer& from, const int32_t* args, unsigned, void*, size_t) {
  note_answer(from.rank);
  cwyc_op* op = take_over(join_halves(args[0], args[1]));
  op->fn(op, CWYC_DONE_REMOTE, CWY_OK);
}

}  // namespace causeway
