#include "atomics/atomic.h"

#include "am/internal.h"
#include "am/send.h"
#include "atomics/cpu_atomic.h"
#include "atomics/domain.h"
#include "atomics/emulated_atomic.h"
#include "atomics/names.h"
#include "base/call_arguments.h"
#include "base/context.h"
#include "base/fatal.h"
#include "base/flags.h"
#include "connection/job.h"
#include "object/connect.h"
#include "object/endpoint.h"
#include "object/local.h"
#include "object/team.h"
#include "progress/poll.h"
#include "progress/waiter.h"
#include "thread/event_checks.h"

namespace causeway {
namespace {

// A call whose arguments are resolved.
struct Resolved {
  const AtomicCall& call;
  AtomicDomain& domain;
  gex_Rank_t rank;  // in the domain's team
  Peer& peer;
  void* result;  // NULL for operations that fetch nothing
  void* addr;    // the owner's
};

// Job rank to team rank; the world's ranks are job ranks, so that is tried first.
gex_Rank_t team_rank(const char* name, const Team& team, gex_Rank_t jobrank) {
  if (jobrank < team.size() && team.job_rank(jobrank) == jobrank) return jobrank;
  for (gex_Rank_t r = 0; r < team.size(); ++r)
    if (team.job_rank(r) == jobrank) return r;
  fatal(name, "job rank {} is not a member of the atomic domain's team", jobrank);
}

// ---- with `checks: full` ----

void require_known_domain(const AtomicCall& call) {
  const AtomicDomain& domain = *AtomicDomain::of(call.ad);
  if (call.dt != domain.dt()) {
    fatal(call.name, "the call is for {}, but the atomic domain was created for {}",
          dt_word(call.dt), dt_word(domain.dt()));
  }
  if (!std::has_single_bit(call.opcode))
    fatal(call.name, "opcode {} is not one GEX_OP_* constant", op_word(call.opcode));
  if (!(call.opcode & domain.ops())) {
    fatal(call.name, "{} is not among the operations the atomic domain was created for, {}",
          op_word(call.opcode), op_word(domain.ops()));
  }
  constexpr gex_Flags_t kKnown = GEX_FLAG_IMMEDIATE | GEX_FLAG_AD_MY_RANK | GEX_FLAG_AD_MY_NBRHD |
                                 GEX_FLAG_AD_ACQ | GEX_FLAG_AD_REL | GEX_FLAG_RANK_IS_JOBRANK |
                                 GEX_FLAG_SELF_SEG_OFFSET | GEX_FLAG_PEER_SEG_OFFSET;
  const gex_Flags_t unknown = flags_of_call(call.name, call.flags, kKnown) & ~kKnown;
  if (unknown != 0) fatal(call.name, "unknown flags {:#x}", unknown);
  constexpr gex_Flags_t kPlaces = GEX_FLAG_AD_MY_RANK | GEX_FLAG_AD_MY_NBRHD;
  if ((call.flags & kPlaces) == kPlaces)
    fatal(call.name, "GEX_FLAG_AD_MY_RANK and GEX_FLAG_AD_MY_NBRHD exclude each other");
  if ((call.opcode & kFetchingOps) && call.result == nullptr &&
      !(call.flags & GEX_FLAG_SELF_SEG_OFFSET))
    fatal(call.name, "result_p is NULL, but {} fetches", op_word(call.opcode));
  if (!(call.flags & GEX_FLAG_RANK_IS_JOBRANK))
    require_rank(call.name, domain.team().handle(), call.rank);
}

void require_true_assertions(const Resolved& r) {
  if ((r.call.flags & GEX_FLAG_AD_MY_RANK) && r.rank != r.domain.team().rank()) {
    fatal(r.call.name, "GEX_FLAG_AD_MY_RANK was passed for rank {}, but this is rank {}", r.rank,
          r.domain.team().rank());
  }
  if ((r.call.flags & GEX_FLAG_AD_MY_NBRHD) && !context().job().in_nbrhd(r.peer.rank)) {
    fatal(r.call.name, "GEX_FLAG_AD_MY_NBRHD was passed, but rank {} is in another neighborhood",
          r.rank);
  }
}

void require_memory(const Resolved& r) {
  const size_t size = dt_size(r.call.dt);
  if (reinterpret_cast<uintptr_t>(r.addr) % size != 0) {
    fatal(r.call.name, "target {} is not aligned for {} ({} bytes)", r.addr, dt_word(r.call.dt),
          size);
  }
  require_remote_range(r.call.name, r.peer, r.addr, size);
  if (r.result != nullptr)
    require_local_range(r.call.name, *r.peer.ep, r.call.flags, r.result, size);
}

Resolved resolve(const AtomicCall& call) {
  note_call(call.name, "ad, result_p, tgt_rank, tgt_addr, opcode, operand1, operand2, flags",
            call.ad, call.result, call.rank, call.addr, call.opcode, call.operand1, call.operand2,
            call.flags);
  require_client_context(call.name, thread_state());
  const bool checks = context().checks();
  if (__builtin_expect(checks, 0)) require_known_domain(call);
  AtomicDomain& domain = *AtomicDomain::of(call.ad);
  const Team& team = domain.team();
  const gex_Rank_t rank =
      call.flags & GEX_FLAG_RANK_IS_JOBRANK ? team_rank(call.name, team, call.rank) : call.rank;
  Peer& peer = team.member(rank);
  void* const result = call.opcode & kFetchingOps
                           ? const_cast<void*>(local_address(team, call.result, call.flags))
                           : nullptr;
  const Resolved r{call, domain, rank, peer, result, remote_address(peer, call.addr, call.flags)};
  if (__builtin_expect(checks, 0)) {
    require_true_assertions(r);
    require_memory(r);
  }
  return r;
}

// ---- the mechanisms ----

cwyc_atomic request_for(const Resolved& r) {
  cwyc_atomic a{};
  a.head = CWY_HEAD(cwyc_atomic);
  a.raddr = reinterpret_cast<uint64_t>(r.addr);
  a.operand1 = r.call.operand1;
  a.operand2 = r.call.operand2;
  a.result = r.result;
  a.dt = r.call.dt;
  a.opcode = r.call.opcode;
  return a;
}

// Does the conduit perform it as the owner's processor would? Then it mixes with processors.
bool performs_like_processor(const Connection& c, const Resolved& r, const cwyc_rkey* rkey) {
  constexpr uint64_t kBoth = CWYC_CAP_ATOMIC | CWYC_CAP_ATOMIC_CPU;
  return (c.attr->caps & kBoth) == kBoth &&
         (c.attr->atomic_ops[std::countr_zero(r.call.dt)] & r.call.opcode) != 0 && rkey != nullptr;
}

cwy_status post_by_processor(const Resolved& r, cwyc_op* op) {
  cwyc_conn* conn = r.peer.atomic.load(std::memory_order_acquire);
  if (__builtin_expect(conn == &r.peer.stub, 0)) {
    const cwy_status status = or_fatal(r.call.name, [&] { return connect_peer(r.peer); });
    if (status != CWY_OK) return status;
    conn = r.peer.atomic.load(std::memory_order_acquire);
  }
  const Connection& c = Connection::of(conn);
  cwyc_rkey* const rkey = c.rkey.load(std::memory_order_acquire);
  const cwyc_atomic a = request_for(r);
  if (performs_like_processor(c, r, rkey)) {
    const cwy_status status = conn->ops->atomic(conn, &a, rkey, 0, op);
    if (status != CWY_ERR_UNSUPPORTED) return status;  // else memory that it does not map
  }
  return emulated_atomic(conn, &a, nullptr, 0, op);
}

cwy_status post_by_adapter(const Resolved& r, cwyc_op* op) {
  Connection* c = nullptr;
  const cwy_status connected =
      or_fatal(r.call.name, [&] { return r.domain.connection_to(r.rank, &c); });
  if (connected != CWY_OK) return connected;
  cwyc_rkey* const rkey = c->rkey.load(std::memory_order_acquire);
  if (rkey == nullptr) {
    fatal(r.call.name,
          "conduit {}, which performs this atomic domain, has no right to memory of rank {}: bind "
          "and publish a segment there, or set atomics.mechanism to cpu",
          c->cep->conduit->name(), r.peer.rank);
  }
  const cwyc_atomic a = request_for(r);
  return c->conn.ops->atomic(&c->conn, &a, rkey, 0, op);
}

cwy_status post_once(const Resolved& r, cwyc_op* op) {
  return r.domain.adapter() != nullptr ? post_by_adapter(r, op) : post_by_processor(r, op);
}

// CWY_OK, CWY_INPROGRESS, or CWY_RETRY when GEX_FLAG_IMMEDIATE allows it.
cwy_status post(const Resolved& r, cwyc_op* op) {
  // An explicit fence where the operation itself gives no release: an adapter's, and every fetch.
  if (r.call.flags & GEX_FLAG_AD_REL) __sync_synchronize();
  cwy_status status = post_once(r, op);
  if (__builtin_expect(status == CWY_RETRY, 0)) {
    WaiterFor waiter(wait_for(r.call.name, r.peer));
    while (status == CWY_RETRY) {
      if (r.call.flags & GEX_FLAG_IMMEDIATE) {
        poll_for_client();
        return CWY_RETRY;
      }
      waiter.step();
      status = post_once(r, op);
    }
  }
  if (__builtin_expect(is_error(status), 0)) {
    if (status == CWY_ERR_INVALID) {
      fatal(r.call.name, "target {} of rank {} is misaligned for {} or outside of its segment",
            r.addr, r.peer.rank, dt_word(r.call.dt));
    }
    send_failed(r.peer, status);
  }
  if (status == CWY_OK && (r.call.flags & GEX_FLAG_AD_ACQ)) __sync_synchronize();
  return status;
}

// Performs an operation whose opcode the compiler does not know, on memory that is mapped here. A
// window that is not empty also says that nothing is to be checked.
bool perform_here(const AtomicCall& call, gex_Rank_t rank, void* addr, void* result) {
  // The test costs one instruction, of a register that is there, and comes before all checks.
  if (__builtin_expect(call.ad == GEX_AD_INVALID, 0))
    fatal(call.name, "the atomic domain is GEX_AD_INVALID");
  const intptr_t delta = cwy_direct_delta(call.ad->window, rank, 0);
  if (!cwy_is_direct(delta)) return false;
  if (call.flags & GEX_FLAG_AD_REL) __sync_synchronize();  // a fetch does not order earlier stores
  const uint64_t old =
      cpu_atomic(call.dt, call.opcode, cwy_translate(addr, delta), call.operand1, call.operand2);
  if (call.opcode & kFetchingOps) {
    if (dt_size(call.dt) == 4)
      std::memcpy(result, &old, 4);
    else
      std::memcpy(result, &old, 8);
  }
  return true;
}

// The same before the arguments are resolved, where ranks and addresses need no translation.
bool perform_at_once(const AtomicCall& call) {
  constexpr gex_Flags_t kIndirect =
      GEX_FLAG_RANK_IS_JOBRANK | GEX_FLAG_SELF_SEG_OFFSET | GEX_FLAG_PEER_SEG_OFFSET;
  return !(call.flags & kIndirect) && perform_here(call, call.rank, call.addr, call.result);
}
bool perform_here(const Resolved& r) {
  return perform_here(r.call, r.rank, r.addr, r.result);
}

unsigned category_of(gex_OP_t opcode) {
  if (opcode == GEX_OP_SET) return kCategoryPut;
  return opcode == GEX_OP_GET ? kCategoryGet : kCategoryRmw;
}

}  // namespace

gex_Event_t atomic_nb(const AtomicCall& call) {
  if (perform_at_once(call)) return GEX_EVENT_INVALID;
  const Resolved r = resolve(call);
  if (perform_here(r)) return GEX_EVENT_INVALID;
  ThreadState& thread = thread_state();
  Op* op = thread.ops.take();
  op->arm_explicit(CWYC_DONE_REMOTE);
  const cwy_status status = post(r, &op->conduit);
  if (status == CWY_INPROGRESS) {
    op->is_about(category_of(call.opcode), r.peer.rank);
    auto* const event = reinterpret_cast<gex_Event_t>(op);
    if (__builtin_expect(context().checks(), 0)) note_event(call.name, event, 0);
    return event;
  }
  thread.ops.give(op);
  return status == CWY_RETRY ? GEX_EVENT_NO_OP : GEX_EVENT_INVALID;
}

int atomic_nbi(const AtomicCall& call) {
  if (perform_at_once(call)) return 0;
  const Resolved r = resolve(call);
  if (perform_here(r)) return 0;
  ThreadState& thread = thread_state();
  Op* op = thread.ops.take();
  ImplicitOps* set = thread.nbi;
  const unsigned category = category_of(call.opcode);
  op->arm_implicit(set, category, false, kCategoryLc, CWYC_DONE_REMOTE);
  const cwy_status status = post(r, &op->conduit);
  if (status == CWY_INPROGRESS) {
    ++set->initiated[category];
    return 0;
  }
  thread.ops.give(op);
  return status == CWY_RETRY;
}

}  // namespace causeway
