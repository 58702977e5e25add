#include "object/connect.h"

#include <causeway/operations.h>

#include <cstring>
#include <mutex>
#include <new>

#include "base/clock.h"
#include "base/context.h"
#include "base/fatal.h"
#include "base/invariant.h"
#include "base/log.h"
#include "base/process_end.h"
#include "config/config.h"
#include "config/peer_rules.h"
#include "connection/conduit_set.h"
#include "connection/fallbacks.h"
#include "connection/job.h"
#include "connection/peer_classes.h"
#include "connection/wiring_exchange.h"
#include "connection/word.h"
#include "loader/one_line.h"
#include "loader/plugin_call.h"
#include "object/client.h"
#include "object/endpoint.h"
#include "object/publication.h"

namespace causeway {
namespace {

// The table of stub connections: each operation connects, then forwards. A peer that cannot be
// reached ends the job with the reasons, or counts as failed where failures are survived.
Peer& stub_peer(cwyc_conn* conn) {
  return *static_cast<Peer*>(conn->core);
}

cwy_status connect_or_end(Peer& peer) {
  if (!context().survives_failures())
    return or_fatal("connecting", [&] { return connect_peer(peer); });
  try {
    return connect_peer(peer);
  } catch (const Error& e) {
    log_warn("rank {} is not reached: {}", peer.rank, e.text());
    return CWY_ERR_PEER_FAILED;
  }
}

// The peer's pointer by which operations of that kind go.
constexpr std::atomic<cwyc_conn*> Peer::*slot_of(Lane lane) {
  return lane == Lane::put      ? &Peer::put
         : lane == Lane::get    ? &Peer::get
         : lane == Lane::atomic ? &Peer::atomic
                                : &Peer::am;
}

template <auto Entry, typename... Args>
void connect_first(cwy_status (*&entry)(cwyc_conn*, Args...)) {
  entry = [](cwyc_conn* stub, Args... args) -> cwy_status {
    Peer& peer = stub_peer(stub);
    const cwy_status status = connect_or_end(peer);
    if (status != CWY_OK) return status;
    constexpr auto kSlot = slot_of(operation_of<Entry>().lane);
    cwyc_conn* conn = (peer.*kSlot).load(std::memory_order_acquire);
    return (conn->ops->*Entry)(conn, args...);
  };
}
// No prepare has answered OK on a stub.
template <auto Entry, typename... Args>
void connect_first(void (*&entry)(cwyc_conn*, Args...)) {
  entry = [](cwyc_conn*, Args...) {
    fatal("negotiated send", "committed on a connection that prepared nothing");
  };
}

const cwyc_ops kStubTable = [] {
  cwyc_ops ops{};
  ops.head = CWY_HEAD(cwyc_ops);
  ops.concurrency = CWYC_MULTI;
  for_each_operation(
      [&]<typename Each>(const Each&) { connect_first<Each::member>(ops.*Each::member); });
  ops.am_cancel = [](cwyc_conn*, cwyc_am_slot*) {};
  return ops;
}();

void refit(Connection& c) {
  c.device_end = (c.base != nullptr || c.split != nullptr) && has_device_end(*c.peer);
  if (c.base == nullptr) return;
  const std::vector<cwyc_ops>& tables = c.device_end ? c.cep->device : c.cep->alias;
  const cwyc_ops* const ops = &tables[c.base->table];
  // The endpoint is idle while what is bound changes; what did not change is not written.
  if (c.conn.ops != ops) c.conn.ops = ops;
}

[[noreturn]] void connect_failed(const Peer& peer, const PeerFacts& facts, const Conduit& conduit,
                                 cwy_status status, const std::string& why) {
  const pid_t pid = static_cast<pid_t>(context().job().pid_here(peer.rank));
  const bool parted = status == CWY_ERR_UNREACHABLE || status == CWY_ERR_TIMEOUT;
  const bool ended = parted && pid != 0 && has_ended(pid);
  if (ended) status = CWY_ERR_PEER_FAILED;
  const Error error(
      status, "rank {} on host {}: conduit {} cannot connect: {}{}", peer.rank, facts.host,
      conduit.name(), why.empty() ? reason({}, status) : why,
      ended    ? ": its process has ended"
      : parted ? "; unless that rank has ended, look for a firewall or a wrong device, or name "
                 "another conduit in peers (causeway explain says which rule has chosen this one)"
               : "");
  // A peer that is gone, or does not answer, may have left in good order. Survivors find the reason
  // in the caller's answer.
  const bool gone = status == CWY_ERR_PEER_FAILED || status == CWY_ERR_UNREACHABLE;
  if (gone && !context().survives_failures())
    context().note_loss(peer.rank, peer.epoch.load(std::memory_order_relaxed), error.text());
  throw error;
}

// NULL: another thread is inside the conduit, which is SERIAL or behind a lock of its own. A wait
// for it here could last for ever, since its handlers may want to connect too. Or what the peer
// tells this process alone has not come yet.
Connection* start_connection(Peer& peer, Conduit& conduit) {
  ConduitEp* cep = peer.ep->conduit_ep(&conduit);
  std::unique_lock<EntryLock> lock(cep->mutex, std::defer_lock);
  if (cep->serial && !lock.try_lock()) return nullptr;
  PeerFacts facts = context().job().facts_of(peer.rank, &conduit);
  std::optional<std::string> wiring;
  if (cep->caps & CWYC_CAP_WIRING) {
    wiring = wiring_from(*cep, facts.desc.peer);
    if (!wiring) return nullptr;
    facts.desc.wiring = wiring->data();
    facts.desc.wiring_len = wiring->size();
  }
  const bool counts = note_growth(cep);
  Connection* c = Connection::make(&peer, cep);
  cwy_err err{CWY_HEAD(cwy_err), CWY_OK, 0, {}};
  c->connect_op.op.fn = ConnectOp::report;
  const cwyc_conn before = c->conn;
  const cwy_status status = plugin_call({"conduit", conduit.name()}, "connect", [&] {
    return conduit.module().connect(cep->ep, &c->conn, &facts.desc, &c->connect_op.op, &err);
  });
  if (std::memcmp(&before, &c->conn, offsetof(cwyc_conn, priv)) != 0)
    fatal("communication",
          "conduit {}: connect to rank {} has written over the core's members of cwyc_conn",
          conduit.name(), peer.rank);
  if (status == CWY_RETRY) c->destroy();
  if (status != CWY_INPROGRESS) note_growth(nullptr);
  if (status == CWY_RETRY) return nullptr;
  cep->asked_wirings.erase(peer.rank);
  if (status != CWY_OK && status != CWY_INPROGRESS) {
    c->destroy();
    connect_failed(peer, facts, conduit, status, text_of(err));
  }
  if (status == CWY_OK) c->connect_op.status.store(CWY_OK, std::memory_order_release);
  c->connect_op.patience_until_ns = now_ns() + context().config().timeouts.start_ns;
  cep->connections.fetch_add(1, std::memory_order_relaxed);
  cep->counted += counts;
  return c;
}

// The peer may be busy for that long; a conduit that reports nothing is not told from it.
void tell_slow_connect(Connection& c) {
  if (now_ns() < c.connect_op.patience_until_ns) return;
  c.connect_op.patience_until_ns = UINT64_MAX;
  log_warn(
      "conduit {} has reported nothing of its connection to rank {} for the time of "
      "timeouts.start; this rank goes on waiting",
      c.cep->conduit->name(), c.peer->rank);
}

// The connection in `conduit`, made if need be. CWY_RETRY while it is being wired up.
cwy_status connection_for(Peer& peer, Conduit* conduit, Connection** out) {
  Connection* c = connection_in(peer, conduit);
  if (c == nullptr) {
    Peer& base = base_peer(peer);
    if (&base == &peer) {
      c = start_connection(peer, *conduit);
      if (c == nullptr) return CWY_RETRY;
    } else {
      Connection* real = nullptr;
      if (connection_for(base, conduit, &real) == CWY_RETRY) return CWY_RETRY;
      c = Connection::make_alias(&peer, *real);
    }
    peer.connections.push_back(c);
  }
  *out = c;
  if (c->base != nullptr) return CWY_OK;  // made when the base was up
  const cwy_status status = c->connect_op.status.load(std::memory_order_acquire);
  note_growth(status == CWY_INPROGRESS ? c->cep : nullptr);
  if (status == CWY_INPROGRESS) {
    tell_slow_connect(*c);
    return CWY_RETRY;
  }
  if (status != CWY_OK) {
    const std::string why = c->connect_op.why;
    std::erase(peer.connections, c);
    // A connection that never came up is not disconnected, but one that was purged is: at the end,
    // since the conduit might wait here for a thread that waits for the connect mutex.
    if (c->purged)
      peer.former.push_back(c);
    else
      c->destroy();
    connect_failed(peer, context().job().facts_of(peer.rank, conduit), *conduit, status, why);
  }
  ConduitEp* cep = c->cep;
  if (c->conn.table >= cep->ops.size()) {
    throw Error(CWY_ERR_INVALID, "conduit {} names op table {}, but has {}", conduit->name(),
                c->conn.table, cep->ops.size());
  }
  // Once: when another endpoint's alias comes to it, other threads use the connection already.
  const cwyc_ops* const ops = &cep->ops[c->conn.table];
  if (c->conn.ops != ops) c->conn.ops = ops;
  if (const auto* const attr = &cep->classes[c->conn.table]; c->attr != attr) c->attr = attr;
  return CWY_OK;
}

// The right to what was published last. Its owner may have destroyed that since (RemoteSegment),
// and a connection may come up just then, for a message: what cannot be opened any more is no
// fault, and memory that is named all the same is for its owner to judge, over messages.
cwyc_rkey* right_if_open(const Peer& peer, ConduitEp& cep) {
  try {
    return peer.segment.publication->right(cep, peer.rank);
  } catch (const Error& e) {
    log_info("{}; using active messages", e.text());
    return nullptr;
  }
}

// `may_be_gone`: the publication may be an old one. Where none is known the owner judges, over
// messages, what lies at an address.
void open_right(Peer& peer, Connection& c, bool may_be_gone) {
  if (c.split != nullptr) return;  // its members have their own
  if (c.rkey.load(std::memory_order_acquire) != nullptr) return;
  const bool known = peer.segment.size.load(std::memory_order_acquire) != 0;
  cwyc_rkey* rkey = !known        ? nullptr
                    : may_be_gone ? right_if_open(peer, *c.cep)
                                  : peer.segment.publication->right(*c.cep, peer.rank);
  // Transfers with device memory choose their way themselves.
  c.rma_over_am.store(rkey == nullptr && !c.device_end, std::memory_order_relaxed);
  c.rkey.store(rkey, std::memory_order_release);
}

}  // namespace

Connection* Connection::make_alias(Peer* peer, Connection& base) {
  auto* c = new (std::align_val_t{alignof(Connection)}) Connection;
  c->peer = peer;
  c->cep = base.cep;
  c->attr = base.attr;
  c->base = &base.conn;
  c->route = route_bits({peer->ep->client()->id(), peer->ep->index(), peer->ep_index});
  c->conn.core = c;
  c->conn.ep = base.conn.ep;
  c->conn.peer = base.conn.peer;
  c->conn.table = base.conn.table;
  refit(*c);
  return c;
}

Connection* Connection::make_split(Peer* peer, ConduitEp* cep, std::unique_ptr<Split> split) {
  auto* c = new (std::align_val_t{alignof(Connection)}) Connection;
  c->peer = peer;
  c->cep = cep;
  c->attr = &cep->classes[0];
  c->split = std::move(split);
  c->conn.ops = fallbacks.split;
  refit(*c);
  c->conn.core = c;
  c->conn.peer = {peer->rank, peer->epoch};
  return c;
}

// Release: who goes on to connect finds the peer complete.
static void name_stub(Peer& peer) {
  for (auto slot : {&Peer::am, &Peer::put, &Peer::get, &Peer::atomic})
    (peer.*slot).store(&peer.stub, std::memory_order_release);
}

void init_peer(Peer& peer, Endpoint* ep, uint32_t rank, uint16_t index) {
  peer.ep = ep;
  peer.rank = rank;
  peer.ep_index = index;
  peer.epoch = context().job().epoch(rank);
  peer.stub.ops = &kStubTable;
  peer.stub.core = &peer;
  peer.stub.peer = {rank, peer.epoch};
  name_stub(peer);
}

void renew_peer(Peer& peer) {
  publish_wirings(peer.ep->conduit_eps(), {{peer.rank, context().job().epoch(peer.rank)}});
  const std::lock_guard lock(peer.ep->connect_mutex());
  name_stub(peer);
  peer.connected = false;
  peer.former.insert(peer.former.end(), peer.connections.begin(), peer.connections.end());
  peer.connections.clear();
  peer.medium_max.store(0, std::memory_order_relaxed);
  peer.long_max.store(0, std::memory_order_relaxed);
  // Release: who reads the new epoch finds the stub, and the card that it stands for.
  peer.epoch.store(context().job().epoch(peer.rank), std::memory_order_release);
}

bool has_device_end(const Peer& peer) {
  if (peer.segment.device != nullptr) return true;
  const Segment* segment = peer.ep->segment();
  return segment != nullptr && segment->device() != nullptr;
}

bool is_stub(const cwyc_conn* conn) {
  return conn->ops == &kStubTable;
}

Peer& base_peer(const Peer& peer) {
  return context().base_endpoint().peer(peer.rank);
}

Connection* connection_in(Peer& peer, const Conduit* conduit) {
  for (Connection* c : peer.connections)
    if (c->split == nullptr && c->cep->conduit == conduit) return c;
  return nullptr;
}

namespace {

using Spans = std::vector<SizeSpan>;

// Connects to every conduit that the spans name. CWY_RETRY: some are still being wired up.
cwy_status connect_all(Peer& peer, const Spans& spans) {
  cwy_status out = CWY_OK;
  for (const SizeSpan& span : spans) {
    for (Conduit* conduit : span.carrier.conduits) {
      Connection* made = nullptr;
      if (connection_for(peer, conduit, &made) == CWY_RETRY) out = CWY_RETRY;
    }
  }
  return out;
}

double speed_of(const Connection& c) {
  const uint64_t told = c.attr->speed;
  return told != 0 ? static_cast<double>(told) : 1e9;  // the same for all that say nothing
}

void fill_part(Peer& peer, const SizeSpan& span, OperationKind kind, SplitPart& part) {
  part.to = span.to;
  double sum = 0;
  const RailSpec* rail = span.carrier.rail;
  for (const Conduit* conduit : span.carrier.conduits) {
    part.members.push_back(connection_in(peer, conduit));
    const bool weighted = rail != nullptr && rail->by_bandwidth;
    part.shares.push_back(weighted ? speed_of(*part.members.back()) : 1.0);
    sum += part.shares.back();
  }
  for (double& share : part.shares) share /= sum;
  const bool stripes = kind == OperationKind::put || kind == OperationKind::get;
  if (span.carrier.is_rail() && stripes) part.stripe_above = rail->stripe_above;
}

// The connection that serves one kind of operation, once everything is connected.
Connection* connection_over(Peer& peer, const Spans& spans, OperationKind kind) {
  if (spans.size() == 1 && !spans[0].carrier.is_rail())
    return connection_in(peer, spans[0].carrier.conduits[0]);
  auto split = std::make_unique<Split>();
  split->count = static_cast<uint32_t>(spans.size());
  split->parts = std::make_unique<SplitPart[]>(spans.size());
  for (size_t i = 0; i < spans.size(); ++i) fill_part(peer, spans[i], kind, split->parts[i]);
  const uint64_t medium = largest_message(spans, [&](const Conduit& conduit) {
    return connection_in(peer, &conduit)->attr->am_medium_max;
  });
  Connection* c = Connection::make_split(&peer, peer.ep->split_ep(medium), std::move(split));
  peer.connections.push_back(c);
  return c;
}

}  // namespace

cwy_status connect_peer(Peer& peer) {
  std::unique_lock lock(peer.ep->connect_mutex());
  if (peer.connected) return CWY_OK;
  const Choice choice = choice_for(peer.rank);
  bool waiting = false;
  for (const Spans& spans : choice.spans) waiting |= connect_all(peer, spans) == CWY_RETRY;
  if (waiting) return CWY_RETRY;
  Connection* made[kOperationKinds];
  for (size_t kind = 0; kind < kOperationKinds; ++kind)
    made[kind] = connection_over(peer, choice.spans[kind], static_cast<OperationKind>(kind));
  for (Connection* c : peer.connections) open_right(peer, *c, true);
  log_debug("connection: rank {} ({}): {} by {}", peer.rank,
            locality_word(context().job().locality(peer.rank)), choice.summary(),
            choice.rule->label);
  const auto conn_of = [&](OperationKind kind) { return &made[static_cast<size_t>(kind)]->conn; };
  for (const Connection* c : made) {
    ensure("every operation of a connected peer has a connection that is up", [&] {
      return c->base != nullptr || c->split != nullptr ||
             c->connect_op.status.load(std::memory_order_relaxed) == CWY_OK;
    });
  }
  // Release: whoever loads a pointer sees the connection behind it complete. Messages first: what
  // a conduit cannot do of the others is done over them.
  peer.am.store(conn_of(OperationKind::am), std::memory_order_release);
  peer.put.store(conn_of(OperationKind::put), std::memory_order_release);
  peer.get.store(conn_of(OperationKind::get), std::memory_order_release);
  peer.atomic.store(conn_of(OperationKind::atomic), std::memory_order_release);
  peer.connected = true;
  lock.unlock();    // the mutex of publications comes first
  is_mapped(peer);  // the right is open: mapping costs little more, and saves operations the call
  return CWY_OK;
}

cwy_status connect_peer_in(Peer& peer, Conduit* conduit, Connection** out) {
  const std::lock_guard lock(peer.ep->connect_mutex());
  const cwy_status status = connection_for(peer, conduit, out);
  if (status == CWY_OK) open_right(peer, **out, true);
  return status;
}

const cwyc_ops& host_table(const Connection& alias) {
  if (alias.base == nullptr) return *alias.conn.ops;
  return alias.cep->alias[alias.base->table];
}

void refit_connections(Peer& peer) {
  const std::lock_guard lock(peer.ep->connect_mutex());
  for (Connection* c : peer.connections) {
    refit(*c);
    if (c->device_end) c->rma_over_am.store(false, std::memory_order_relaxed);
  }
}

void open_rights(Peer& peer) {
  const std::lock_guard lock(peer.ep->connect_mutex());
  for (Connection* c : peer.connections) {
    refit(*c);
    open_right(peer, *c, false);
  }
}

void drop_rights(Peer& peer) {
  const std::lock_guard lock(peer.ep->connect_mutex());
  for (Connection* c : peer.connections) {
    c->rkey.store(nullptr, std::memory_order_release);
    refit(*c);
    c->rma_over_am.store(!c->device_end, std::memory_order_relaxed);
  }
}

// The conduit has said that the connect failed, and has forgotten the connection.
static bool is_dead(const Connection& c) {
  const cwy_status up = c.connect_op.status.load(std::memory_order_acquire);
  return up != CWY_OK && up != CWY_INPROGRESS && !c.purged;
}

void purge_connections(Peer& peer) {
  std::vector<Connection*> purged;
  {
    const std::lock_guard lock(peer.ep->connect_mutex());
    for (Connection* c : peer.connections) {
      if (c->base != nullptr || c->split != nullptr || is_dead(*c)) continue;
      c->purged = true;
      purged.push_back(c);
    }
  }
  for (Connection* c : purged) {
    // A conduit that one thread may enter at a time is entered under its mutex, cold calls too.
    std::unique_lock<EntryLock> enter(c->cep->mutex, std::defer_lock);
    if (c->cep->serial) enter.lock();
    c->cep->conduit->module().purge(&c->conn);
  }
}

void destroy_peer(Peer& peer) {
  peer.connections.insert(peer.connections.end(), peer.former.begin(), peer.former.end());
  peer.former.clear();
  for (Connection* c : peer.connections) {
    if (c->base == nullptr && c->split == nullptr && !is_dead(*c)) {
      const cwyc_module& module = c->cep->conduit->module();
      const cwy_status up = c->connect_op.status.load(std::memory_order_acquire);
      if (up == CWY_INPROGRESS) module.purge(&c->conn);  // it is not quiet
      module.disconnect(&c->conn);
    }
    c->destroy();
  }
  peer.connections.clear();
}

}  // namespace causeway
