#include "atomics/emulated_atomic.h"

#include <mutex>

#include "am/arguments.h"
#include "am/peer_memory.h"
#include "atomics/cpu_atomic.h"
#include "base/fatal.h"
#include "kinds/places.h"
#include "rma/unanswered.h"
#include "thread/op.h"
#include "thread/tsan_annotations.h"

namespace causeway {
namespace {

struct Pending {
  void* result;
  size_t bytes;
};
Pending& pending_of(cwyc_op* op) {
  return *reinterpret_cast<Pending*>(op->scratch);
}

}  // namespace

cwy_status emulated_atomic(cwyc_conn* conn, const cwyc_atomic* a, cwyc_rkey*, uint32_t,
                           cwyc_op* op) {
  pending_of(op) = {a->result, dt_size(a->dt)};
  hand_over(op);
  Peer& peer = *Connection::of(conn).peer;
  const cwy_status status =
      try_send_internal(peer, Internal::atomic_ask,
                        handler_args(a->dt, a->opcode, a->raddr, a->operand1, a->operand2, op));
  if (status == CWY_OK) note_question(peer.rank);
  return status == CWY_OK ? CWY_INPROGRESS : status;
}

namespace {

// Memory of a device: read, changed and written back here. All atomics on it come this way, to its
// owner, so one lock makes them atomic to each other.
std::mutex g_device_mutex;
uint64_t device_atomic(gex_DT_t dt, gex_OP_t op, uint64_t addr, uint64_t operand1,
                       uint64_t operand2) {
  constexpr const char* kCall = "gex_AD_Op*()";
  alignas(8) uint64_t value = 0;
  const std::lock_guard lock(g_device_mutex);
  copy_bytes(kCall, &value, reinterpret_cast<void*>(addr), dt_size(dt));
  const uint64_t before = value;
  const uint64_t old = cpu_atomic(dt, op, &value, operand1, operand2);
  if (value != before) copy_bytes(kCall, reinterpret_cast<void*>(addr), &value, dt_size(dt));
  return old;
}

uint64_t perform(gex_DT_t dt, gex_OP_t op, uint64_t addr, uint64_t operand1, uint64_t operand2) {
  const AnnotatePeerAccess access;
  return device_at("gex_AD_Op*()", addr, dt_size(dt)) != nullptr
             ? device_atomic(dt, op, addr, operand1, operand2)
             : cpu_atomic(dt, op, reinterpret_cast<void*>(addr), operand1, operand2);
}

}  // namespace

void on_atomic_ask(Peer& from, const int32_t* args, unsigned, void*, size_t) {
  const auto dt = static_cast<gex_DT_t>(args[0]);
  const uint64_t addr = join_halves(args[2], args[3]);
  require_in_segment(from, addr, dt_size(dt), "gex_AD_Op*()");
  if (addr % dt_size(dt) != 0) {
    fatal("gex_AD_Op*()", "rank {} named target {:#x}, which is not aligned for its {} bytes",
          from.rank, addr, dt_size(dt));
  }
  const auto opcode = static_cast<gex_OP_t>(args[1]);
  const uint64_t operand1 = join_halves(args[4], args[5]), operand2 = join_halves(args[6], args[7]);
  const uint64_t old = perform(dt, opcode, addr, operand1, operand2);
  reply_internal(from, Internal::atomic_done, handler_args(args[8], args[9], old));
}

void on_atomic_done(Peer& from, const int32_t* args, unsigned, void*, size_t) {
  note_answer(from.rank);
  cwyc_op* op = take_over(join_halves(args[0], args[1]));
  const uint64_t old = join_halves(args[2], args[3]);
  const Pending pending = pending_of(op);
  if (pending.result != nullptr) copy_bytes("gex_AD_Op*()", pending.result, &old, pending.bytes);
  op->fn(op, CWYC_DONE_LOCAL | CWYC_DONE_REMOTE, CWY_OK, nullptr);
}

}  // namespace causeway
