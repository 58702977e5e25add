#include "api/gaspi/atomic.h"

#include <gasnet_ratomic.h>

#include <bit>
#include <memory>

#include "atomics/cpu_atomic.h"
#include "atomics/domain.h"
#include "atomics/emulated_atomic.h"
#include "base/error.h"
#include "object/connect.h"
#include "object/endpoint.h"

namespace causeway::gaspi {
namespace {

// An operation under way. Its completion releases it, or the thread that gave it up: whichever
// comes second.
struct Pending {
  enum State : uint32_t { running, complete, given_up };
  cwyc_op op{};  // first: completions find the object by its address
  AtomicRequest request{};
  uint32_t epoch = 1;  // of the process that it was posted to
  uint64_t result = 0;
  cwy_status status = CWY_OK;
  std::atomic<uint32_t> state{running};  // acq_rel: result and status come before
};

void report(cwyc_op* op, uint32_t what, cwy_status status, const cwy_detail*) {
  if (!(what & CWYC_DONE_REMOTE)) return;
  auto* const p = reinterpret_cast<Pending*>(op);
  p->status = status;
  if (p->state.exchange(Pending::complete, std::memory_order_acq_rel) == Pending::given_up)
    delete p;
}

// The operation that the thread's last call left under way when it timed out. A failed operation is
// given up for good: its answer may still come.
class Left {
 public:
  ~Left() { give_up(); }
  Pending* get() const { return pending_; }
  void set(Pending* pending) { pending_ = pending; }
  void give_up() {
    Pending* const p = std::exchange(pending_, nullptr);
    if (p == nullptr) return;
    if (p->state.exchange(Pending::given_up, std::memory_order_acq_rel) == Pending::complete)
      delete p;
  }

 private:
  Pending* pending_ = nullptr;
};
thread_local Left t_left;

bool same(const AtomicRequest& a, const AtomicRequest& b) {
  return a.rank == b.rank && a.segment == b.segment && a.offset == b.offset &&
         a.opcode == b.opcode && a.operand1 == b.operand1 && a.operand2 == b.operand2;
}

// Does the conduit perform it as the owner's processor would? Then it mixes with processors.
bool performs_like_processor(const Connection& c, const AtomicRequest& a) {
  constexpr uint64_t kBoth = CWYC_CAP_ATOMIC | CWYC_CAP_ATOMIC_CPU;
  return (c.attr->caps & kBoth) == kBoth &&
         (c.attr->atomic_ops[std::countr_zero(static_cast<uint32_t>(GEX_DT_U64))] & a.opcode) !=
             0 &&
         a.segment->atomic_key != nullptr;
}

cwyc_atomic order_of(Pending& p) {
  cwyc_atomic a{};
  a.head = CWY_HEAD(cwyc_atomic);
  a.raddr = p.request.segment->base + p.request.offset;
  a.operand1 = p.request.operand1;
  a.operand2 = p.request.operand2;
  a.result = &p.result;
  a.dt = GEX_DT_U64;
  a.opcode = p.request.opcode;
  return a;
}

cwy_status post_by_processor(World& w, Pending& p) {
  Peer& peer = w.peer(p.request.rank);
  cwyc_conn* const conn = peer.atomic.load(std::memory_order_acquire);
  const cwyc_atomic a = order_of(p);
  // A word in device memory is its owner's to change.
  if (p.request.segment->data.device == nullptr &&
      performs_like_processor(Connection::of(conn), p.request)) {
    const cwy_status status = conn->ops->atomic(conn, &a, p.request.segment->atomic_key, 0, &p.op);
    if (status != CWY_ERR_UNSUPPORTED) return status;
  }
  return emulated_atomic(conn, &a, nullptr, 0, &p.op);
}

cwy_status post_by_adapter(World& w, Conduit* adapter, Pending& p) {
  Connection* c = nullptr;
  const cwy_status connected = connect_peer_in(w.peer(p.request.rank), adapter, &c);
  if (connected != CWY_OK) return connected;
  const cwyc_atomic a = order_of(p);
  return c->conn.ops->atomic(&c->conn, &a, p.request.segment->atomic_key, 0, &p.op);
}

gaspi_return_t post(World& w, Pending& p) {
  p.epoch = p.request.segment->epoch;
  if (!w.may_send(p.request.rank, p.epoch)) return GASPI_ERROR;
  const gaspi_return_t connected = try_connect(w, p.request.rank);
  if (connected != GASPI_SUCCESS) return connected;
  const bool on_device = p.request.segment->data.device != nullptr;
  Conduit* const adapter =
      on_device ? nullptr : w.atomics.load(std::memory_order_relaxed)->adapter();
  cwy_status status;
  try {
    status = adapter != nullptr ? post_by_adapter(w, adapter, p) : post_by_processor(w, p);
  } catch (const Error& e) {
    status = e.status();
  }
  if (status == CWY_RETRY) return GASPI_TIMEOUT;
  if (is_error(status)) return operation_error(w, p.request.rank, p.epoch, status);
  if (status == CWY_OK) p.state.store(Pending::complete, std::memory_order_relaxed);
  return GASPI_SUCCESS;
}

gaspi_return_t outcome(World& w, const Pending& p) {
  if (p.state.load(std::memory_order_acquire) != Pending::complete) {
    const bool lost = w.is_corrupt(p.request.rank) || w.epoch(p.request.rank) != p.epoch;
    return lost ? GASPI_ERROR : GASPI_TIMEOUT;
  }
  return p.status == CWY_OK ? GASPI_SUCCESS : operation_error(w, p.request.rank, p.epoch, p.status);
}

}  // namespace

ConduitEp* atomic_endpoint(const World& w, Peer& peer) {
  Conduit* const adapter = w.atomics.load(std::memory_order_relaxed)->adapter();
  if (adapter != nullptr) return peer.ep->conduit_ep(adapter);
  return Connection::of(peer.atomic.load(std::memory_order_acquire)).cep;
}

gaspi_return_t perform_atomic(World& w, const AtomicRequest& request, uint64_t* old,
                              Deadline& deadline) {
  if (request.segment->direct && w.atomics.load(std::memory_order_relaxed)->adapter() == nullptr) {
    void* const word = reinterpret_cast<void*>(request.segment->base + request.offset +
                                               static_cast<uint64_t>(request.segment->delta));
    *old = cpu_atomic(GEX_DT_U64, request.opcode, word, request.operand1, request.operand2);
    return GASPI_SUCCESS;
  }
  if (t_left.get() != nullptr && !same(t_left.get()->request, request)) t_left.give_up();
  if (t_left.get() == nullptr) {
    auto fresh = std::make_unique<Pending>();
    fresh->op.fn = report;
    fresh->request = request;
    const gaspi_return_t posted = wait_for(deadline, [&] { return post(w, *fresh); });
    if (posted != GASPI_SUCCESS) return posted;
    t_left.set(fresh.release());
  }
  const Pending& p = *t_left.get();
  const gaspi_return_t result = wait_for(deadline, [&] { return outcome(w, p); });
  if (result == GASPI_SUCCESS) *old = p.result;
  if (result != GASPI_TIMEOUT) t_left.give_up();
  return result;
}

}  // namespace causeway::gaspi
