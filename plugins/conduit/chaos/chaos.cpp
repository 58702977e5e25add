// The conduit `chaos`: stands in front of another one and injects whatever faults its interface
// allows.
//
// SPDX-License-Identifier: BSD-3-Clause
#include <causeway/conduit.h>
#include <sched.h>

#include <memory>

#include "../../common/guard.h"
#include "../../common/plugin_error.h"
#include "front.h"

CWY_MANIFEST(
    "causeway_manifest: 1\n"
    "kind: conduit\n"
    "name: chaos\n"
    "version: 1.0.0\n"
    "api: '2.0'\n"
    "min_core_minor: 0\n"
    "summary: in front of another conduit, injects back-pressure, delay, disorder and death\n"
    "license: BSD-3-Clause\n"
    "options:\n"
    "  over: {type: string, default: shm, help: 'the conduit behind: a configured name, or a "
    "plugin'}\n"
    "  seed: {type: int, default: 1, min: 0, help: 'the same seed injects the same; 0: from the "
    "job'}\n"
    "  retry: {type: int, default: 50, min: 0, max: 1000, help: 'posts refused, of 1000'}\n"
    "  delay: {type: int, default: 100, min: 0, max: 1000, help: 'completions held back, of "
    "1000'}\n"
    "  reorder: {type: int, default: 100, min: 0, max: 1000, help: 'received messages held back, "
    "of "
    "1000'}\n"
    "  shorten: {type: int, default: 100, min: 0, max: 1000, help: 'calls of progress that do "
    "little "
    "or nothing, of 1000'}\n"
    "  hold: {type: int, default: 8, min: 1, max: 1000000, help: 'calls of progress that something "
    "is held back for at most'}\n"
    "  fail_at: {type: int, default: 0, min: 0, help: 'the peer of this operation is reported "
    "dead; "
    "0: none'}\n"
    "  die_at: {type: int, default: 0, min: 0, help: 'the process kills itself at this operation; "
    "0: never'}\n"
    "  victim: {type: int, default: -1, min: -1, help: 'the rank that fail_at and die_at are for; "
    "-1: every rank'}\n"
    "  direct: {type: bool, default: false, help: 'leave loads and stores to mapped peers, which "
    "nothing is injected into'}\n");

namespace causeway::chaos {

wrapping::EndpointTable<Endpoint> endpoints;

namespace {

// More empty polls in a row would look like a conduit that has stopped.
constexpr uint32_t most_empty_polls = 8;

using Fronts = wrapping::Fronts<ChaosFront>;

// The lane of the progress that this thread is in. A message that the conduit behind delivers
// while only replies are wanted is a reply that somebody waits for.
thread_local bool tls_replies_only = false;

// ---- receiving ------------------------------------------------------------------------------

void deliver(void* core_ep, cwy_peer from, uint64_t word, uint32_t kind, const int32_t* args,
             uint32_t nargs, void* payload, size_t length) {
  Endpoint& ep = endpoints.by_core_ep(core_ep);
  uint64_t n = 0;
  {
    const std::lock_guard lock(ep.received_mutex);
    n = ep.received[from.rank]++;
  }
  const uint32_t hold = tls_replies_only ? 0 : ep.front->plan.reorder(from.rank, n);
  if (hold != 0) {
    HeldMessage message{from, word, ep.poll_number() + hold, kind, nargs, {}, payload, length, {}};
    if (copy_message(message, args, payload) && ep.messages.hold(std::move(message))) {
      ep.kept.fetch_add(1, std::memory_order_relaxed);
      return;
    }
  }
  ep.deliver(core_ep, from, word, kind, args, nargs, payload, length);
}

uint32_t deliver_due(Endpoint& ep, uint64_t now) {
  uint32_t delivered = 0;
  HeldMessage m;
  while (!ep.messages.empty() && ep.messages.take_due(now, m)) {
    ep.deliver(ep.core_ep, m.from, m.word, m.kind, m.args, m.nargs, m.payload, m.length);
    ++delivered;
  }
  return delivered;
}

uint32_t behind(Endpoint& ep, cwyc_ep* raw, uint32_t budget, uint32_t lane) {
  const bool outer = tls_replies_only;
  tls_replies_only = lane == CWYC_PROGRESS_REPLIES;
  const uint32_t found = ep.front->module().progress(raw, budget, lane);
  tls_replies_only = outer;
  return found;
}

uint32_t progress(cwyc_ep* raw, uint32_t budget, uint32_t lane) {
  Endpoint& ep = endpoints.by_ep(raw);
  const uint64_t n = ep.polls.fetch_add(1, std::memory_order_relaxed) + 1;
  const Poll poll = ep.front->plan.poll(n);
  if (poll != Poll::whole) ep.shortened.fetch_add(1, std::memory_order_relaxed);
  if (poll == Poll::empty && ep.in_a_row.fetch_add(1, std::memory_order_relaxed) < most_empty_polls)
    return 0;
  ep.in_a_row.store(0, std::memory_order_relaxed);
  uint32_t found = behind(ep, raw, poll == Poll::one ? 1 : budget, lane);
  if (!ep.reports.empty()) found += ep.reports.release(n);
  if (lane == CWYC_PROGRESS_ALL) found += deliver_due(ep, n);
  return found;
}

bool holds_something(const Endpoint& ep) {
  return !ep.reports.empty() || !ep.messages.empty();
}

// Nobody sleeps on what is held back: only progress brings it forward.
cwy_status arm(cwyc_ep* raw) {
  Endpoint& ep = endpoints.by_ep(raw);
  return holds_something(ep) ? CWY_RETRY : ep.front->module().arm(raw);
}

void nap(cwyc_ep* raw, uint64_t max_ns) {
  Endpoint& ep = endpoints.by_ep(raw);
  if (holds_something(ep)) {
    sched_yield();
    return;
  }
  ep.front->module().nap(raw, max_ns);
}

// ---- objects --------------------------------------------------------------------------------

uint64_t own_offset(uint64_t inner_size) {
  constexpr uint64_t unit = alignof(std::max_align_t);
  return (inner_size + unit - 1) / unit * unit;
}

void read_attributes(Endpoint& ep, cwyc_ep* raw) {
  cwyc_ep_attr attr{};
  attr.head = CWY_HEAD(cwyc_ep_attr);
  ep.front->module().ep_query(raw, &attr);
  ep.state_offset = own_offset(attr.conn_size);
  ep.medium_max = attr.am_medium_max;
  ep.long_max = attr.am_long_max;
  ep.rma_max = attr.rma_max;
  if (ep.front->module().class_query == nullptr) return;
  ep.medium_max = ep.long_max = ep.rma_max = 0;
  // The largest: the conduit behind refuses what is beyond those of a connection itself.
  for (uint32_t table = 0; table < attr.ops_tables; ++table) {
    cwyc_class_attr one{};
    one.head = CWY_HEAD(cwyc_class_attr);
    ep.front->module().class_query(raw, table, &one);
    ep.medium_max = std::max(ep.medium_max, one.am_medium_max);
    ep.long_max = std::max(ep.long_max, one.am_long_max);
    ep.rma_max = std::max(ep.rma_max, one.rma_max != 0 ? one.rma_max : UINT64_MAX);
  }
}

cwy_status ep_open(cwyc_domain* domain, const cwyc_ep_params* params, cwyc_ep** out, cwy_err* err) {
  return Fronts::open(endpoints, "chaos", deliver, domain, params, out, err,
                      [params](Endpoint& ep, cwyc_ep* raw) {
                        ep.peer_state = wrapping::TableCopy(params).table().peer_state;
                        if (ep.peer_state == nullptr) ep.peer_state = services->peer_state;
                        read_attributes(ep, raw);
                      });
}

void ep_close(cwyc_ep* raw) {
  Fronts::close(endpoints, raw);
}

// Promises that chaos does not know may be of an order, or of a time, that it breaks.
constexpr uint64_t kKnownCaps = CWYC_CAP_PUT | CWYC_CAP_GET | CWYC_CAP_ATOMIC | CWYC_CAP_VECTOR |
                                CWYC_CAP_AM_LONG | CWYC_CAP_AM_PREPARE | CWYC_CAP_DIRECT |
                                CWYC_CAP_ORDER_PUT_AM | CWYC_CAP_ATOMIC_CPU | CWYC_CAPS_OF_EP;

cwy_status ep_query(cwyc_ep* raw, cwyc_ep_attr* attr) {
  Endpoint& ep = endpoints.by_ep(raw);
  const cwy_status status = ep.front->module().ep_query(raw, attr);
  if (status != CWY_OK) return status;
  attr->conn_size = ep.state_offset + sizeof(ConnState);
  attr->caps &= kKnownCaps & ~CWYC_CAP_NO_PROGRESS;  // what is held back comes by progress
  if (!ep.front->settings.direct) attr->caps &= ~uint64_t{CWYC_CAP_DIRECT};
  return status;
}

cwy_status class_query(cwyc_ep* raw, uint32_t table, cwyc_class_attr* attr) {
  const Endpoint& ep = endpoints.by_ep(raw);
  const cwy_status status = ep.front->module().class_query(raw, table, attr);
  attr->caps &= kKnownCaps;
  if (!ep.front->settings.direct) attr->caps &= ~uint64_t{CWYC_CAP_DIRECT};
  return status;
}

void ep_stats(cwyc_ep* raw, cwyc_stat_fn fn, void* arg) {
  const Endpoint& ep = endpoints.by_ep(raw);
  if (ep.front->module().ep_stats != nullptr) ep.front->module().ep_stats(raw, fn, arg);
  fn(arg, "chaos_refusals", ep.refusals.load(std::memory_order_relaxed));
  fn(arg, "chaos_delayed", ep.delayed.load(std::memory_order_relaxed));
  fn(arg, "chaos_messages_held", ep.kept.load(std::memory_order_relaxed));
  fn(arg, "chaos_polls_shortened", ep.shortened.load(std::memory_order_relaxed));
}

// ---- connections ----------------------------------------------------------------------------

// Once, by the first rank, when a job really begins.
void announce(ChaosFront& front) {
  if (services->job->rank != 0 || front.announced.exchange(true)) return;
  const Settings& s = front.settings;
  char text[200];
  std::snprintf(
      text, sizeof text,
      "in front of %s with seed %llu: retry %u, delay %u, reorder %u, shorten %u, hold %u",
      front.plugin(), static_cast<unsigned long long>(s.seed), s.rates.retry, s.rates.delay,
      s.rates.reorder, s.rates.shorten, s.rates.hold);
  services->log("chaos", CWY_LOG_WARN, text);
}

cwy_status connect(cwyc_ep* raw, cwyc_conn* conn, const cwyc_peer_desc* peer, cwyc_op* op,
                   cwy_err* err) {
  Endpoint& ep = endpoints.by_ep(raw);
  announce(*ep.front);
  return ep.front->module().connect(raw, conn, peer, op, err);
}

void disconnect(cwyc_conn* conn) {
  Endpoint& ep = endpoints.by_ep(conn->ep);
  ep.reports.release(conn, CWY_OK);  // none, if the caller kept the rules
  ep.front->module().disconnect(conn);
}

void purge(cwyc_conn* conn) {
  Endpoint& ep = endpoints.by_ep(conn->ep);
  ep.state(conn).failed.store(1, std::memory_order_relaxed);
  ep.front->module().purge(conn);
  ep.reports.release(conn, CWY_ERR_PEER_FAILED);
  ep.messages.drop_from(conn->peer);
}

// ---- configuring ----------------------------------------------------------------------------

uint32_t rate(const cwy_options* opts, const char* key) {
  int64_t value = 0;
  services->opt_int(opts, key, &value);
  return static_cast<uint32_t>(value);
}

uint64_t seed_of_job() {
  uint64_t h = 14695981039346656037u;  // FNV-1a: the same on every rank
  for (const char* c = services->job->job_id; c != nullptr && *c != '\0'; ++c)
    h = (h ^ static_cast<unsigned char>(*c)) * 1099511628211u;
  return h % 1000000007u + 1;
}

Settings read_settings(const cwy_options* opts) {
  Settings s;
  int64_t seed = 0, fail_at = 0, die_at = 0;
  int32_t direct = 0;
  services->opt_int(opts, "seed", &seed);
  services->opt_int(opts, "fail_at", &fail_at);
  services->opt_int(opts, "die_at", &die_at);
  services->opt_int(opts, "victim", &s.victim);
  services->opt_bool(opts, "direct", &direct);
  s.seed = seed != 0 ? static_cast<uint64_t>(seed) : seed_of_job();
  s.rates = {rate(opts, "retry"), rate(opts, "delay"), rate(opts, "reorder"), rate(opts, "shorten"),
             rate(opts, "hold")};
  s.fail_at = static_cast<uint64_t>(fail_at);
  s.die_at = static_cast<uint64_t>(die_at);
  s.direct = direct != 0;
  return s;
}

void replace_entries(ChaosFront& front) {
  replace_operations(front);
  front.replace(&cwyc_module::ep_open, ep_open);
  front.replace(&cwyc_module::ep_close, ep_close);
  front.replace(&cwyc_module::ep_query, ep_query);
  front.replace(&cwyc_module::class_query, class_query);
  front.replace(&cwyc_module::connect, connect);
  front.replace(&cwyc_module::disconnect, disconnect);
  front.replace(&cwyc_module::purge, purge);
  front.replace(&cwyc_module::progress, progress);
  front.replace(&cwyc_module::arm, arm);
  front.replace(&cwyc_module::nap, nap);
  front.add(&cwyc_module::ep_stats, ep_stats);
  if (!front.settings.direct) front.replace(&cwyc_module::rkey_direct, wrapping::no_direct_rights);
}

cwy_status configure(const cwy_options* opts, const cwyc_module** out, cwy_err* err) {
  return guarded(err, [&] {
    cwy_wrapped wrapped;
    const cwy_status status = wrapping::wrap(*services, opts, "over", wrapped, err);
    if (status != CWY_OK) return status;
    auto front = std::make_unique<ChaosFront>(wrapped, read_settings(opts), services->job->rank);
    replace_entries(*front);
    Fronts::keep(opts, std::move(front), out);
    return status;
  });
}

using Idle = conduit::Tables<wrapping::Unconfigured<configure, Fronts::fini>>;

}  // namespace
}  // namespace causeway::chaos

extern "C" CWY_EXPORT cwy_status CWY_CONDUIT_INIT(const cwy_services* core,
                                                  const cwyc_module** module, cwy_err*) {
  return causeway::chaos::Idle::start(core, "chaos", module);
}
