// Hot operations: each is refused as often as the plan says, then passed on, and its completion
// held back as long as the plan says.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "front.h"

namespace causeway::chaos {
namespace {

using wrapping::both_bits;
using wrapping::local_bit;
using wrapping::remote_bit;

// How a kind of operation completes.
struct Kind {
  uint32_t bits;      // reported after INPROGRESS
  uint32_t last_bit;  // after which it is over
};
constexpr Kind put_kind{both_bits, remote_bit};
constexpr Kind fetch_kind{remote_bit, remote_bit};
constexpr Kind am_kind{local_bit, local_bit};

// Counts an operation that was accepted, and carries out what is planned for its number.
void count_operation(Endpoint& ep, cwyc_conn* conn, ConnState& state) {
  state.refused.store(0, std::memory_order_relaxed);
  state.accepted.fetch_add(1, std::memory_order_relaxed);
  const uint64_t n = ep.operations.fetch_add(1, std::memory_order_relaxed) + 1;
  const Settings& s = ep.front->settings;
  if (s.victim >= 0 && static_cast<uint32_t>(s.victim) != services->job->rank) return;
  if (n == s.die_at) kill(getpid(), SIGKILL);
  if (n != s.fail_at) return;
  state.failed.store(1, std::memory_order_relaxed);
  char why[80];
  std::snprintf(why, sizeof why, "chaos lets the peer fail at operation %llu",
                static_cast<unsigned long long>(n));
  services->peer_state(ep.core_ep, conn->peer, CWY_PEER_FAILED, why);
}

// CWY_OK: the operation may go on.
cwy_status admit(Endpoint& ep, cwyc_conn* conn, ConnState& state) {
  if (state.failed.load(std::memory_order_relaxed) != 0) return CWY_ERR_PEER_FAILED;
  const uint64_t n = state.accepted.load(std::memory_order_relaxed);
  const uint32_t times = ep.front->plan.refusals(conn->peer.rank, n);
  if (state.refused.load(std::memory_order_relaxed) >= times) return CWY_OK;
  state.refused.fetch_add(1, std::memory_order_relaxed);
  ep.refusals.fetch_add(1, std::memory_order_relaxed);
  return CWY_RETRY;
}

// `valid`: the conduit behind may accept it. What it must refuse is not ours to hide.
template <class Call>
cwy_status plain(cwyc_conn* conn, bool valid, Call&& call) {
  Endpoint& ep = endpoints.by_ep(conn->ep);
  ConnState& state = ep.state(conn);
  if (valid) {
    const cwy_status status = admit(ep, conn, state);
    if (status != CWY_OK) return status;
  }
  const cwy_status status = call(ep.front->ops(conn));
  if (status >= 0) count_operation(ep, conn, state);
  return status;
}

// Passes on what was admitted as operation `n`. `whole`: its completion may be held back.
template <class Call>
cwy_status pass(Endpoint& ep, ConnState& state, cwyc_conn* conn, bool whole, const Kind& kind,
                uint32_t flags, cwyc_op* theirs, Call&& call) {
  const uint64_t n = state.accepted.load(std::memory_order_relaxed);
  const uint32_t at_once = (flags & CWYC_SRC_VOLATILE) != 0 ? kind.bits & local_bit : 0;
  uint32_t hold = theirs != nullptr && whole ? ep.front->plan.delay(conn->peer.rank, n) : 0;
  if (at_once == kind.bits) hold = 0;
  Relay* relay = hold != 0 ? relay_for(ep, conn, theirs, kind.last_bit, hold) : nullptr;
  if (relay != nullptr) relay->at_once = at_once;
  cwy_status status = call(ep.front->ops(conn), relay != nullptr ? &relay->op : theirs);
  // After INPROGRESS the relay may be somebody else's already.
  if (relay != nullptr && status != CWY_INPROGRESS) {
    ep.relays.give(relay);
    if (status == CWY_OK) {  // it is complete; only the report is late
      if (at_once != 0) theirs->fn(theirs, at_once, CWY_OK);
      ep.delayed.fetch_add(1, std::memory_order_relaxed);
      ep.reports.hold(conn, theirs, kind.bits & ~at_once, CWY_OK, ep.poll_number() + hold);
      status = CWY_INPROGRESS;
    }
  }
  if (status >= 0) count_operation(ep, conn, state);
  return status;
}

template <class Call>
cwy_status completing(cwyc_conn* conn, bool valid, const Kind& kind, uint32_t flags,
                      cwyc_op* theirs, Call&& call) {
  Endpoint& ep = endpoints.by_ep(conn->ep);
  ConnState& state = ep.state(conn);
  if (valid) {
    const cwy_status status = admit(ep, conn, state);
    if (status != CWY_OK) return status;
  }
  return pass(ep, state, conn, valid, kind, flags, theirs, std::forward<Call>(call));
}

bool fits(uint64_t length, uint64_t most) {
  return most == 0 || length <= most;
}
bool message_fits(const Endpoint& ep, uint32_t nargs, size_t length) {
  return nargs <= CWYC_AM_MAX_ARGS && length <= ep.medium_max;
}

// ---- the operations -------------------------------------------------------------------------

cwy_status put_small(cwyc_conn* c, const void* src, uint64_t raddr, cwyc_rkey* rkey, size_t length,
                     uint32_t flags, cwyc_op* op) {
  return completing(c, true, fetch_kind, 0, op, [&](const cwyc_ops& o, cwyc_op* mine) {
    return o.put_small(c, src, raddr, rkey, length, flags, mine);
  });
}

cwy_status put(cwyc_conn* c, const void* src, cwyc_mem* lmem, uint64_t raddr, cwyc_rkey* rkey,
               size_t length, uint32_t flags, cwyc_op* op) {
  const bool valid = fits(length, endpoints.by_ep(c->ep).rma_max);
  return completing(c, valid, put_kind, flags, op, [&](const cwyc_ops& o, cwyc_op* mine) {
    return o.put(c, src, lmem, raddr, rkey, length, flags, mine);
  });
}

cwy_status get(cwyc_conn* c, void* dst, cwyc_mem* lmem, uint64_t raddr, cwyc_rkey* rkey,
               size_t length, uint32_t flags, cwyc_op* op) {
  const bool valid = fits(length, endpoints.by_ep(c->ep).rma_max);
  return completing(c, valid, fetch_kind, 0, op, [&](const cwyc_ops& o, cwyc_op* mine) {
    return o.get(c, dst, lmem, raddr, rkey, length, flags, mine);
  });
}

cwy_status put_notify(cwyc_conn* c, const void* src, cwyc_mem* lmem, uint64_t raddr,
                      cwyc_rkey* rkey, size_t length, uint64_t naddr, cwyc_rkey* nrkey,
                      uint64_t value, uint32_t flags, cwyc_op* op) {
  return completing(c, naddr % 8 == 0, put_kind, flags, op, [&](const cwyc_ops& o, cwyc_op* mine) {
    return o.put_notify(c, src, lmem, raddr, rkey, length, naddr, nrkey, value, flags, mine);
  });
}

cwy_status putv(cwyc_conn* c, const cwyc_iov* src, size_t nsrc, cwyc_mem* lmem,
                const cwyc_riov* dst, size_t ndst, cwyc_rkey* rkey, uint32_t flags, cwyc_op* op) {
  return completing(c, true, put_kind, flags, op, [&](const cwyc_ops& o, cwyc_op* mine) {
    return o.putv(c, src, nsrc, lmem, dst, ndst, rkey, flags, mine);
  });
}

cwy_status getv(cwyc_conn* c, const cwyc_iov* dst, size_t ndst, cwyc_mem* lmem,
                const cwyc_riov* src, size_t nsrc, cwyc_rkey* rkey, uint32_t flags, cwyc_op* op) {
  return completing(c, true, fetch_kind, 0, op, [&](const cwyc_ops& o, cwyc_op* mine) {
    return o.getv(c, dst, ndst, lmem, src, nsrc, rkey, flags, mine);
  });
}

cwy_status atomic(cwyc_conn* c, const cwyc_atomic* a, cwyc_rkey* rkey, uint32_t flags,
                  cwyc_op* op) {
  return completing(c, true, fetch_kind, 0, op, [&](const cwyc_ops& o, cwyc_op* mine) {
    return o.atomic(c, a, rkey, flags, mine);
  });
}

cwy_status am_short(cwyc_conn* c, uint64_t word, const int32_t* args, uint32_t nargs,
                    uint32_t flags) {
  return plain(c, nargs <= CWYC_AM_MAX_ARGS,
               [&](const cwyc_ops& o) { return o.am_short(c, word, args, nargs, flags); });
}

cwy_status am_medium(cwyc_conn* c, uint64_t word, const int32_t* args, uint32_t nargs,
                     const void* payload, cwyc_mem* lmem, size_t length, uint32_t flags,
                     cwyc_op* op) {
  const bool valid = message_fits(endpoints.by_ep(c->ep), nargs, length);
  return completing(c, valid, am_kind, flags, op, [&](const cwyc_ops& o, cwyc_op* mine) {
    return o.am_medium(c, word, args, nargs, payload, lmem, length, flags, mine);
  });
}

cwy_status am_long(cwyc_conn* c, uint64_t word, const int32_t* args, uint32_t nargs,
                   const void* payload, cwyc_mem* lmem, size_t length, uint64_t raddr,
                   cwyc_rkey* rkey, uint32_t flags, cwyc_op* op) {
  const bool valid = nargs <= CWYC_AM_MAX_ARGS && length <= endpoints.by_ep(c->ep).long_max;
  return completing(c, valid, am_kind, flags, op, [&](const cwyc_ops& o, cwyc_op* mine) {
    return o.am_long(c, word, args, nargs, payload, lmem, length, raddr, rkey, flags, mine);
  });
}

// Commit and cancel cannot fail and pass untouched.
cwy_status am_prepare(cwyc_conn* c, size_t least, size_t most, uint32_t nargs, uint32_t flags,
                      cwyc_am_slot* slot) {
  const bool valid = least <= most && message_fits(endpoints.by_ep(c->ep), nargs, least);
  return plain(c, valid,
               [&](const cwyc_ops& o) { return o.am_prepare(c, least, most, nargs, flags, slot); });
}

cwy_status flush(cwyc_conn* c, uint32_t flags, cwyc_op* op) {
  return completing(c, true, fetch_kind, 0, op,
                    [&](const cwyc_ops& o, cwyc_op* mine) { return o.flush(c, flags, mine); });
}

// Its answer may be late, but it is never refused: callers ask once per second and no more.
cwy_status check(cwyc_conn* c, cwyc_op* op) {
  Endpoint& ep = endpoints.by_ep(c->ep);
  ConnState& state = ep.state(c);
  if (state.failed.load(std::memory_order_relaxed) != 0) return CWY_ERR_PEER_FAILED;
  return pass(ep, state, c, true, fetch_kind, 0, op,
              [&](const cwyc_ops& o, cwyc_op* mine) { return o.check(c, mine); });
}

}  // namespace

Relay* relay_for(Endpoint& ep, const cwyc_conn* conn, cwyc_op* theirs, uint32_t last_bit,
                 uint32_t hold) {
  Relay* relay = ep.relays.take();
  if (relay == nullptr) return nullptr;
  relay->op.fn = report_through;
  relay->theirs = theirs;
  relay->ep = &ep;
  relay->conn = conn;
  relay->last_bit = last_bit;
  relay->hold = hold;
  relay->at_once = 0;
  return relay;
}

void report_through(cwyc_op* op, uint32_t what, cwy_status status) {
  auto* relay = reinterpret_cast<Relay*>(op);
  Endpoint& ep = *relay->ep;
  cwyc_op* theirs = relay->theirs;
  const cwyc_conn* conn = relay->conn;
  const uint32_t hold = relay->hold, at_once = relay->at_once;
  if (status < 0 || (what & relay->last_bit) != 0) ep.relays.give(relay);
  if (status < 0) {
    // With an error all bits come together, those that were held back too.
    what |= ep.reports.take(theirs);
    theirs->fn(theirs, what, status);
    return;
  }
  if (const uint32_t now = what & at_once; now != 0) theirs->fn(theirs, now, status);
  what &= ~at_once;
  if (what == 0) return;
  ep.delayed.fetch_add(1, std::memory_order_relaxed);
  ep.reports.hold(conn, theirs, what, status, ep.poll_number() + hold);
}

void replace_operations(ChaosFront& front) {
  front.replace(&cwyc_ops::put_small, put_small);
  front.replace(&cwyc_ops::put, put);
  front.replace(&cwyc_ops::get, get);
  front.replace(&cwyc_ops::put_notify, put_notify);
  front.replace(&cwyc_ops::putv, putv);
  front.replace(&cwyc_ops::getv, getv);
  front.replace(&cwyc_ops::atomic, atomic);
  front.replace(&cwyc_ops::am_short, am_short);
  front.replace(&cwyc_ops::am_medium, am_medium);
  front.replace(&cwyc_ops::am_long, am_long);
  front.replace(&cwyc_ops::am_prepare, am_prepare);
  front.replace(&cwyc_ops::flush, flush);
  front.replace(&cwyc_ops::check, check);
}

}  // namespace causeway::chaos
