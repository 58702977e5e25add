// Hot operations: each is refused as often as the plan says, then passed on, and its completion
// held back as long as the plan says.
#include <causeway/operations.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <tuple>
#include <utility>

#include "front.h"

namespace causeway::chaos {
namespace {

using wrapping::local_bit;
using wrapping::remote_bit;

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
  ep.peer_state(ep.core_ep, conn->peer, CWY_PEER_FAILED, why);
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
  if (wrapping::accepted(status)) count_operation(ep, conn, state);
  return status;
}

// Passes on what was admitted as operation `n`. `whole`: its completion may be held back.
template <class Call>
cwy_status pass(Endpoint& ep, ConnState& state, cwyc_conn* conn, bool whole, uint32_t reports,
                uint32_t flags, cwyc_op* theirs, Call&& call) {
  const uint64_t n = state.accepted.load(std::memory_order_relaxed);
  const uint32_t at_once = (flags & CWYC_SRC_VOLATILE) != 0 ? reports & local_bit : 0;
  uint32_t hold = theirs != nullptr && whole ? ep.front->plan.delay(conn->peer.rank, n) : 0;
  if (at_once == reports) hold = 0;
  const uint32_t last_bit = (reports & remote_bit) != 0 ? remote_bit : local_bit;
  Relay* relay = hold != 0 ? relay_for(ep, conn, theirs, last_bit, hold) : nullptr;
  if (relay != nullptr) relay->at_once = at_once;
  cwy_status status = call(ep.front->ops(conn), relay != nullptr ? &relay->op : theirs);
  // After INPROGRESS the relay may be somebody else's already.
  if (relay != nullptr && status != CWY_INPROGRESS) {
    ep.relays.give(relay);
    if (status == CWY_OK) {  // it is complete; only the report is late
      if (at_once != 0) theirs->fn(theirs, at_once, CWY_OK, nullptr);
      ep.delayed.fetch_add(1, std::memory_order_relaxed);
      ep.reports.hold(conn, theirs, reports & ~at_once, CWY_OK, ep.poll_number() + hold);
      status = CWY_INPROGRESS;
    }
  }
  if (wrapping::accepted(status)) count_operation(ep, conn, state);
  return status;
}

bool fits(uint64_t length, uint64_t most) {
  return most == 0 || length <= most;
}

// May the conduit behind accept the operation? What it must refuse is not ours to hide, and an
// operation that is not named here is always in order.
template <auto Entry>
struct Valid {
  template <typename... Args>
  static bool ask(const Endpoint&, Args...) {
    return true;
  }
};
template <>
struct Valid<&cwyc_ops::put> {
  static bool ask(const Endpoint& ep, const void*, cwyc_mem*, uint64_t, cwyc_rkey*, size_t length,
                  uint32_t, cwyc_op*) {
    return fits(length, ep.rma_max);
  }
};
template <>
struct Valid<&cwyc_ops::get> : Valid<&cwyc_ops::put> {};
template <>
struct Valid<&cwyc_ops::am_short> {
  static bool ask(const Endpoint&, uint64_t, const int32_t*, uint32_t nargs, uint32_t) {
    return nargs <= CWYC_AM_MAX_ARGS;
  }
};
template <>
struct Valid<&cwyc_ops::am_medium> {
  static bool ask(const Endpoint& ep, uint64_t, const int32_t*, uint32_t nargs, const void*,
                  cwyc_mem*, size_t length, uint32_t, cwyc_op*) {
    return nargs <= CWYC_AM_MAX_ARGS && length <= ep.medium_max;
  }
};
template <>
struct Valid<&cwyc_ops::am_long> {
  static bool ask(const Endpoint& ep, uint64_t, const int32_t*, uint32_t nargs, const void*,
                  cwyc_mem*, size_t length, uint64_t, cwyc_rkey*, uint32_t, cwyc_op*) {
    return nargs <= CWYC_AM_MAX_ARGS && length <= ep.long_max;
  }
};
template <>
struct Valid<&cwyc_ops::am_prepare> {
  static bool ask(const Endpoint& ep, size_t least, size_t most, uint32_t nargs, uint32_t,
                  cwyc_am_slot*) {
    return least <= most && nargs <= CWYC_AM_MAX_ARGS && least <= ep.medium_max;
  }
};

// ---- the operations -------------------------------------------------------------------------

// Passes an operation with a completion on; its flags stand before the core's operation.
template <auto Entry, typename... Args>
cwy_status completing(cwyc_conn* c, Args... args) {
  constexpr uint32_t kReports = operation_of<Entry>().reports;
  Endpoint& ep = endpoints.by_ep(c->ep);
  ConnState& state = ep.state(c);
  const bool valid = Valid<Entry>::ask(ep, args...);
  if (valid) {
    const cwy_status status = admit(ep, c, state);
    if (status != CWY_OK) return status;
  }
  const auto all = std::tie(args...);
  constexpr size_t kLast = sizeof...(Args) - 1;
  // A source matters where the operation has a local completion.
  uint32_t flags = 0;
  if constexpr ((kReports & local_bit) != 0) flags = std::get<kLast - 1>(all);
  return [&]<size_t... I>(std::index_sequence<I...>) {
    return pass(
        ep, state, c, valid, kReports, flags, std::get<kLast>(all),
        [&](const cwyc_ops& o, cwyc_op* mine) { return (o.*Entry)(c, std::get<I>(all)..., mine); });
  }
  (std::make_index_sequence<kLast>());
}

template <auto Entry, typename... Args>
void disturb(ChaosFront& front, cwy_status (*cwyc_ops::*)(cwyc_conn*, Args...)) {
  if constexpr (operation_of<Entry>().reports != 0) {
    front.replace(Entry, completing<Entry, Args...>);
  } else {
    front.replace(
        Entry, +[](cwyc_conn* c, Args... args) -> cwy_status {
          const bool valid = Valid<Entry>::ask(endpoints.by_ep(c->ep), args...);
          return plain(c, valid, [&](const cwyc_ops& o) { return (o.*Entry)(c, args...); });
        });
  }
}
// Commit and cancel cannot fail and pass untouched.
template <auto Entry, typename... Args>
void disturb(ChaosFront&, void (*cwyc_ops::*)(cwyc_conn*, Args...)) {}

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

void report_through(cwyc_op* op, uint32_t what, cwy_status status, const cwy_detail* detail) {
  auto* relay = reinterpret_cast<Relay*>(op);
  Endpoint& ep = *relay->ep;
  cwyc_op* theirs = relay->theirs;
  const cwyc_conn* conn = relay->conn;
  const uint32_t hold = relay->hold, at_once = relay->at_once;
  if (status != CWY_OK || (what & relay->last_bit) != 0) ep.relays.give(relay);
  if (status != CWY_OK) {
    // With an error all bits come together, those that were held back too.
    what |= ep.reports.take(theirs);
    theirs->fn(theirs, what, status, detail);
    return;
  }
  if (const uint32_t now = what & at_once; now != 0) theirs->fn(theirs, now, status, nullptr);
  what &= ~at_once;
  if (what == 0) return;
  ep.delayed.fetch_add(1, std::memory_order_relaxed);
  ep.reports.hold(conn, theirs, what, status, ep.poll_number() + hold);
}

void replace_operations(ChaosFront& front) {
  for_each_operation(
      [&]<typename Each>(const Each&) { disturb<Each::member>(front, Each::member); });
}

}  // namespace causeway::chaos
