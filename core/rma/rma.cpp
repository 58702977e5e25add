#include "rma/rma.h"

#include "am/internal.h"
#include "am/send.h"
#include "base/call_arguments.h"
#include "base/context.h"
#include "base/fatal.h"
#include "connection/post_flags.h"
#include "connection/post_once.h"
#include "object/connect.h"
#include "object/endpoint.h"
#include "object/local.h"
#include "object/team.h"
#include "progress/poll.h"
#include "progress/waiter.h"
#include "rma/emulation.h"
#include "rma/rma_checks.h"
#include "rma/stripe.h"
#include "thread/event.h"
#include "thread/event_checks.h"

namespace causeway {
namespace {

// The functions that every put and get passes through are inlined into each of its entries: beside
// a conduit whose put is a store, the calls and the arguments' way through memory are what counts.

// A request to the conduit, after the arguments are resolved. Names no team: the operation
// may outlive it (object/README.md).
struct Resolved {
  const char* call;
  Peer& peer;
  void* local;
  uint64_t raddr;
  size_t length;
  uint32_t flags;
  Operation operation;
  bool elsewhere;  // beyond the bound segment: over active messages
};

// For diagnoses: what the client passed, in the order in which it did.
__attribute__((cold, noinline)) void note_arguments(const RmaCall& call,
                                                    const gex_Event_t* lc_opt) {
  const bool put = call.operation == Operation::put;
  if (call.by_value && put) {
    note_call(call.name, "tm, rank, dest, value, nbytes, flags", call.tm, call.rank, call.remote,
              cwy_load_value(call.local, call.length), call.length, call.flags);
  } else if (call.by_value) {
    note_call(call.name, "tm, rank, src, nbytes, flags", call.tm, call.rank, call.remote,
              call.length, call.flags);
  } else if (!put) {
    note_call(call.name, "tm, dest, rank, src, nbytes, flags", call.tm, call.local, call.rank,
              call.remote, call.length, call.flags);
  } else if (lc_opt == nullptr) {
    note_call(call.name, "tm, rank, dest, src, nbytes, flags", call.tm, call.rank, call.remote,
              call.local, call.length, call.flags);
  } else {
    note_call(call.name, "tm, rank, dest, src, nbytes, lc_opt, flags", call.tm, call.rank,
              call.remote, call.local, call.length, lc_opt, call.flags);
  }
}

// Only publication makes the segment of an endpoint other than 0 reachable, and tells that there
// is such an endpoint at all.
void require_published(const RmaCall& call, const Peer& peer) {
  if (call.length == 0 || peer.segment.size.load(std::memory_order_acquire) != 0) return;
  fatal(call.name,
        "rank {} has no endpoint with index {} whose segment is known here; bind one and call "
        "gex_EP_PublishBoundSegment() over a team of both ranks",
        peer.rank, peer.ep_index);
}

[[gnu::always_inline]] inline Resolved resolve(const RmaCall& call, const gex_Event_t* lc_opt,
                                               uint32_t extra_flags) {
  if (__builtin_expect(g_checks, 0)) note_arguments(call, lc_opt);
  require_client_context(call.name, thread_state());
  if (__builtin_expect(context().checks(), 0)) require_rank(call.name, call.tm, call.rank);
  Team& team = *Team::of(call.tm);
  Peer& peer = team.member(call.rank);
  void* local = const_cast<void*>(local_address(team, call.local, call.flags));
  void* remote = remote_address(peer, call.remote, call.flags);
  const auto raddr = reinterpret_cast<uint64_t>(remote);
  const bool elsewhere = __builtin_expect(may_be_elsewhere(call.flags), 0) &&
                         !in_known_segment(peer, raddr, call.length, kUnbound);
  if (__builtin_expect(peer.ep_index != 0 && !elsewhere, 0)) require_published(call, peer);
  if (__builtin_expect(context().checks(), 0)) {
    if (!call.own) require_capability(call.name, *team.ep(), GEX_EP_CAPABILITY_RMA, "RMA");
    if (!elsewhere) require_remote_range(call.name, peer, remote, call.length);
    check_rma(call, peer, local, remote);
  }
  uint32_t flags = extra_flags | (call.flags & GEX_FLAG_IMMEDIATE ? kImmediate : 0);
  // A hint to conduits: what they copy is complete locally at once.
  if ((call.flags & GEX_FLAG_LC_COPY_YES) && call.operation == Operation::put)
    flags |= CWYC_SRC_VOLATILE;
  if (elsewhere) flags |= call.flags & GEX_FLAG_PEER_SEG_UNKNOWN ? kUnbound | kAnywhere : kUnbound;
  return {call.name, peer, local, raddr, call.length, flags, call.operation, elsewhere};
}

[[gnu::always_inline]] inline cwy_status native(cwyc_conn* conn, const Resolved& r, cwyc_rkey* rkey,
                                                cwyc_op* op) {
  // Memory that another endpoint than the connection's has bound counts as unregistered.
  cwyc_mem* lmem = Connection::of(conn).peer->ep != r.peer.ep
                       ? nullptr
                       : local_registration(conn, r.local, r.length);
  return r.operation == Operation::put
             ? conn->ops->put(conn, r.local, lmem, r.raddr, rkey, r.length, r.flags, op)
             : conn->ops->get(conn, r.local, lmem, r.raddr, rkey, r.length, r.flags, op);
}

// A single attempt, by the conduit itself or over active messages. A source that must be copied is
// a value of a few bytes, which every path copies when it posts.
[[gnu::always_inline]] inline cwy_status post_once(const Resolved& r, cwyc_op* op) {
  std::atomic<cwyc_conn*>& slot = r.operation == Operation::put ? r.peer.put : r.peer.get;
  cwyc_conn* conn = slot.load(std::memory_order_acquire);
  if (__builtin_expect(conn == &r.peer.stub, 0)) {
    const cwy_status status = or_fatal(r.call, [&] { return connect_peer(r.peer); });
    if (status != CWY_OK) return status;
    conn = slot.load(std::memory_order_acquire);
  }
  Connection& c = Connection::of(conn);
  const bool fits = r.length <= c.attr->rma_max && !r.elsewhere;
  // Device memory has no limit of the conduit's and judges for itself what lies where.
  if (__builtin_expect(!fits, 0) && c.device_end) return native(conn, r, nullptr, op);
  // A transfer longer than one operation of the conduit goes in pieces.
  if (__builtin_expect(!fits, 0) && !r.elsewhere && may_cut(c))
    return post_cut(c, r.operation == Operation::put, r.local, r.raddr, r.length, r.flags, op);
  // The attempt of the conduit is inlined at each of the callers: out of line it costs 30
  // instructions of a put.
  return post_native_or_emulated(
      fits, c.rma_over_am,
      [&]() __attribute__((always_inline)) {
        return native(conn, r, c.rkey.load(std::memory_order_acquire), op);
      },
      [&] {
        return emulated_transfer(conn, r.operation == Operation::put, r.local, r.raddr, r.length,
                                 r.flags, op);
      });
}

// Posts until accepted. CWY_OK, CWY_INPROGRESS, or CWY_RETRY when GEX_FLAG_IMMEDIATE allows it.
[[gnu::always_inline]] inline cwy_status post(const Resolved& r, cwyc_op* op) {
  cwy_status status = post_once(r, op);
  if (__builtin_expect(status == CWY_RETRY, 0)) {
    WaiterFor waiter(wait_for(r.call, r.peer));
    while (status == CWY_RETRY) {
      if (r.flags & kImmediate) {
        poll_for_client();
        return CWY_RETRY;
      }
      waiter.step();
      status = post_once(r, op);
    }
  }
  if (is_error(status)) {
    if (status == CWY_ERR_INVALID && !r.elsewhere)
      require_remote_range(r.call, r.peer, reinterpret_cast<void*>(r.raddr), r.length);
    send_failed(r.peer, status);
  }
  cwy_direct_done(__ATOMIC_ACQ_REL);  // if it is CWY_OK: the conduit may have copied
  return status;
}

constexpr uint32_t need_bits(Operation operation) {
  return operation == Operation::put ? CWYC_DONE_LOCAL | CWYC_DONE_REMOTE : CWYC_DONE_REMOTE;
}
constexpr unsigned category_of(Operation operation) {
  return operation == Operation::put ? kCategoryPut : kCategoryGet;
}

void wait_for_flag(const Resolved& r, const std::atomic<uint32_t>& flag) {
  WaiterFor waiter(wait_for(r.call, r.peer));
  while (flag.load(std::memory_order_acquire) == 0) waiter.step();
}

[[gnu::always_inline]] inline int start_nbi(const RmaCall& call, gex_Event_t* lc_opt,
                                            uint32_t extra_flags) {
  const Resolved r = resolve(call, lc_opt, extra_flags);
  if (__builtin_expect(context().checks(), 0)) check_lc_opt(call.name, lc_opt, true);
  ThreadState& thread = thread_state();
  Op* op = thread.ops.take();
  const bool group = lc_opt == GEX_EVENT_GROUP;
  ImplicitOps* set = thread.nbi;
  const unsigned category = category_of(call.operation);
  op->arm_implicit(set, category, group, kCategoryLc, need_bits(call.operation));
  std::atomic<uint32_t> local{0};
  const bool now = lc_opt == GEX_EVENT_NOW;
  if (now) op->local_flag = &local;
  const cwy_status status = post(r, &op->conduit);
  if (status == CWY_INPROGRESS) {
    ++set->initiated[category];
    if (group) ++set->initiated[kCategoryLc];
    if (now) wait_for_flag(r, local);
    return 0;
  }
  thread.ops.give(op);
  return status == CWY_RETRY;
}

[[gnu::always_inline]] inline gex_Event_t start_nb(const RmaCall& call, gex_Event_t* lc_opt,
                                                   uint32_t extra_flags) {
  const Resolved r = resolve(call, lc_opt, extra_flags);
  if (__builtin_expect(context().checks(), 0)) check_lc_opt(call.name, lc_opt, false);
  ThreadState& thread = thread_state();
  Op* op = thread.ops.take();
  op->arm_explicit(need_bits(call.operation));
  const cwy_status status = post(r, &op->conduit);
  if (status != CWY_INPROGRESS) {
    thread.ops.give(op);
    if (status == CWY_RETRY) return GEX_EVENT_NO_OP;
    if (is_leaf_pointer(lc_opt)) *lc_opt = GEX_EVENT_INVALID;
    return GEX_EVENT_INVALID;
  }
  op->is_about(category_of(call.operation), r.peer.rank);
  auto* event = reinterpret_cast<gex_Event_t>(op);
  if (__builtin_expect(context().checks(), 0))
    note_event(call.name, event, is_leaf_pointer(lc_opt) ? GEX_EC_LC : 0);
  if (lc_opt == GEX_EVENT_NOW) {
    WaiterFor waiter(wait_for(r.call, r.peer));
    while (!op->reported(CWYC_DONE_LOCAL)) waiter.step();
  } else if (is_leaf_pointer(lc_opt)) {
    *lc_opt = encode(&op->head, 1 + kCategoryLc);
  }
  return event;
}

}  // namespace

cwy_status rma_post_once(const char* call, Operation operation, Peer& peer, void* local,
                         uint64_t raddr, size_t length, uint32_t flags, cwyc_op* op) {
  // Pieces beyond the bound segment (GEX_FLAG_PEER_SEG_SOME) are for the owner to judge.
  const bool elsewhere = !in_known_segment(peer, raddr, length, flags);
  return post_once({call, peer, local, raddr, length, flags, operation, elsewhere}, op);
}

int rma_blocking(const RmaCall& call) {
  const Resolved r = resolve(call, nullptr, 0);
  ThreadState& thread = thread_state();
  Op* op = thread.ops.take();
  op->arm_explicit(need_bits(call.operation));
  const cwy_status status = post(r, &op->conduit);
  if (status == CWY_INPROGRESS) {
    WaiterFor waiter(wait_for(r.call, r.peer));
    while (!op->complete()) waiter.step();
  }
  thread.ops.give(op);
  return status == CWY_RETRY;
}

int rma_nbi(const RmaCall& call, gex_Event_t* lc_opt) {
  return start_nbi(call, lc_opt, 0);
}
gex_Event_t rma_nb(const RmaCall& call, gex_Event_t* lc_opt) {
  return start_nb(call, lc_opt, 0);
}

// The source lives on the caller's stack: ask for a copy, and make sure there was one.
int rma_nbi_volatile(const RmaCall& call) {
  return start_nbi(call, GEX_EVENT_NOW, CWYC_SRC_VOLATILE);
}
gex_Event_t rma_nb_volatile(const RmaCall& call) {
  return start_nb(call, GEX_EVENT_NOW, CWYC_SRC_VOLATILE);
}

}  // namespace causeway
