// Endpoints: opening, describing, closing.
#include "endpoint.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "../../common/guard.h"
#include "../../common/known_part.h"
#include "../../common/plugin_error.h"
#include "../common/cpu_atomics.h"
#include "../common/ep_answers.h"
#include "../common/shared_room.h"
#include "address.h"
#include "numa.h"
#include "sleep.h"

namespace causeway::shm {
namespace {

cwy_status choose_wakeup(cwyc_ep* ep, cwy_err* err) {
  const Wakeup wanted = ep->domain->options.wakeup;
  ep->membarrier = wanted != Wakeup::bounded && register_membarrier();
  if (wanted == Wakeup::membarrier && !ep->membarrier)
    return report(err, CWY_ERR_UNSUPPORTED,
                  "wakeup: membarrier is asked for, but this kernel does not offer it; set "
                  "wakeup: auto");
  return CWY_OK;
}

cwy_status make_control(cwyc_ep* ep, cwy_err* err) {
  const Options& options = ep->domain->options;
  const uint32_t local = services->job->local_count;
  const uint64_t ring_bytes =
      options.ring_bytes != 0 ? options.ring_bytes : default_ring_bytes(local);
  const uint32_t first =
      options.connections != 0 ? options.connections : default_connections(local);
  const uint32_t slots = std::min(first + default_side_slots(local, ring_bytes), slots_max);
  // Ahead for POSIX only, where lack of room is SIGBUS; else rings of silent peers cost nothing.
  const ObjectRequest request{control_bytes(slots, ring_bytes),
                              ep->domain->posix,
                              HugePages::never,
                              ep->domain->posix ? Reserve::always : Reserve::never,
                              services->job->job_id,
                              "message queues"};
  bool huge_missing = false;
  cwy_status status = Object::create(request, ep->object, huge_missing, err);
  if (status == CWY_OK) status = ep->object.map(nullptr, ep->mapping, err);
  if (status != CWY_OK) return status;
  prefer_local_node(ep->mapping.base(), ep->mapping.length());  // the receiver polls

  auto* control = static_cast<ControlHeader*>(ep->mapping.base());  // zeroed by the kernel
  control->magic = layout_magic;
  control->version = layout_version;
  control->slot_count = slots;
  control->first_count = first;
  control->ring_bytes = ring_bytes;
  control->nonce = random_word();
  control->total_bytes = ep->object.length();
  control->pid = static_cast<uint32_t>(getpid());
  control->medium_max = static_cast<uint32_t>(medium_max_of(ring_bytes));
  ep->control = control;
  ep->slot_count = slots;
  ep->medium_max = control->medium_max;
  if (ep->domain->posix) {
    const uint64_t free = room_in(posix_directory), others = (local - 1) * ep->object.length();
    ep->mem_room = std::max<uint64_t>((free - std::min(free, others)) / local, 1);
  }
  ep->receivers = std::make_unique<std::unique_ptr<Receiver>[]>(slots);
  ep->polled = std::make_unique<Receiver*[]>(slots);
  return CWY_OK;
}

}  // namespace

cwy_status Conduit::ep_open(cwyc_domain* domain, const cwyc_ep_params* params, cwyc_ep** out,
                            cwy_err* err) {
  return guarded(err, [&]() -> cwy_status {
    auto ep = std::make_unique<cwyc_ep>();
    ep->domain = domain;
    ep->params = known_part(*params);
    ep_threads(ep.get(), params->multithreaded);
    cwy_status status = choose_wakeup(ep.get(), err);
    if (status == CWY_OK) status = make_control(ep.get(), err);
    if (status == CWY_OK) *out = ep.release();
    return status;
  });
}

void Conduit::ep_close(cwyc_ep* ep) {
  // Release: our last stores come before the farewell.
  ep->control->closed.store(1, std::memory_order_release);
  delete ep;
}

cwy_status Conduit::ep_query(cwyc_ep* ep, cwyc_ep_attr* attr) {
  cwyc_ep_attr a{};
  a.head = CWY_HEAD(cwyc_ep_attr);
  a.caps = CWYC_CAP_PUT | CWYC_CAP_GET | CWYC_CAP_ATOMIC | CWYC_CAP_VECTOR | CWYC_CAP_AM_LONG |
           CWYC_CAP_AM_PREPARE | CWYC_CAP_DIRECT | CWYC_CAP_MEM_ALLOC | CWYC_CAP_MEM_REG |
           CWYC_CAP_ORDER_PUT_AM | CWYC_CAP_NAP | CWYC_CAP_PEER_FAILURE | CWYC_CAP_ATOMIC_CPU |
           CWYC_CAP_REACHES_RELEASED;  // the kernel knows no registrations
  a.conn_size = sizeof(Connection);
  a.ep_address_max = sizeof(EndpointAddress);
  a.rkey_max = rkey_max();
  a.rma_max = UINT64_MAX / 2;
  // Peers may have been configured with smaller rings, but not within one job: options are the
  // job's.
  a.am_medium_max = ep->medium_max;
  a.am_long_max = 1u << 30;
  a.iov_max = UINT32_MAX;
  a.mem_forms = CWY_FORM_HOST_VA;
  cpu_atomics::declare(a.atomic_ops);
  a.speed = 10'000'000'000;
  a.ops_tables = 1;
  a.mem_room = ep->mem_room;
  return give_attributes(a, attr);
}

cwy_status Conduit::ep_address(cwyc_ep* ep, void* buf, uint64_t* len, cwy_err* err) {
  EndpointAddress address{};
  address.magic = layout_magic;
  address.version = layout_version;
  address.uid = geteuid();
  address.nonce = ep->control->nonce;
  address.pid_namespace = ep->domain->pid_namespace;
  address.object = ep->object.address();
  return give_travelling("an address", address, buf, len, err);
}

cwy_status Conduit::ep_threads(cwyc_ep* ep, uint32_t multithreaded) {
  ep->multithreaded.store(multithreaded != 0, std::memory_order_relaxed);
  ep->idle_polls.store(multithreaded != 0 ? idle_polls_per_look : 0, std::memory_order_relaxed);
  return CWY_OK;
}

// ---- statistics -----------------------------------------------------------------------------

void Totals::add(const Connection& c) {
  const uint32_t ways = c.ways();
  for (uint32_t i = 0; i < lane_count * ways; ++i) {
    const uint32_t which = i % lane_count;
    const TxLane& lane = c.lane_of(i / lane_count, which);
    for (uint32_t kind = 0; kind < 3; ++kind) messages[which][kind] += lane.messages[kind];
    bytes[which] += lane.bytes;
    retries[which] += lane.retries;
  }
  wakes += c.wakes;
}

namespace {

constexpr const char* sent_names[lane_count][5] = {
    {"request_short_sent", "request_medium_sent", "request_long_sent", "request_bytes_sent",
     "request_retries"},
    {"reply_short_sent", "reply_medium_sent", "reply_long_sent", "reply_bytes_sent",
     "reply_retries"}};
constexpr const char* received_names[lane_count][4] = {
    {"request_short_received", "request_medium_received", "request_long_received",
     "request_bytes_received"},
    {"reply_short_received", "reply_medium_received", "reply_long_received",
     "reply_bytes_received"}};

constexpr const char* one_sided_names[one_sided_counts] = {"put", "put_bytes", "get", "get_bytes",
                                                           "atomic"};

void received_stats(const cwyc_ep* ep, uint32_t lane, cwyc_stat_fn fn, void* arg) {
  uint64_t sums[4] = {};
  const uint32_t count = ep->polled_count.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count; ++i) {
    const RxLane& from = ep->polled[i]->lane[lane];
    for (uint32_t kind = 0; kind < 3; ++kind) sums[kind] += from.messages[kind];
    sums[3] += from.bytes;
  }
  for (uint32_t i = 0; i < 4; ++i) fn(arg, received_names[lane][i], sums[i]);
}

}  // namespace

void Conduit::ep_stats(cwyc_ep* ep, cwyc_stat_fn fn, void* arg) {
  Totals t;
  {
    const std::lock_guard lock(ep->connections_mutex);
    t = ep->retired;
    for (const Connection* c : ep->connections) t.add(*c);
  }
  for (uint32_t lane = 0; lane < lane_count; ++lane) {
    for (uint32_t kind = 0; kind < 3; ++kind)
      fn(arg, sent_names[lane][kind], t.messages[lane][kind]);
    fn(arg, sent_names[lane][3], t.bytes[lane]);
    fn(arg, sent_names[lane][4], t.retries[lane]);
    received_stats(ep, lane, fn, arg);
  }
  for (size_t i = 0; i < one_sided_counts; ++i) fn(arg, one_sided_names[i], ep->one_sided.read(i));
  fn(arg, "naps", ep->naps);
  fn(arg, "wakes", t.wakes);
}

void Conduit::ep_traffic(cwyc_ep* ep, cwyc_traffic_fn fn, void* arg) {
  const auto tell = [&](uint32_t rank, std::array<uint64_t, CWYC_RETRIES + 1> counts) {
    fn(arg, rank, counts.data(), counts.size());
  };
  const auto sum = [](const auto& counters) {
    uint64_t total = 0;
    for (const Count& count : counters) total += count;
    return total;
  };
  const auto sent = [&](uint32_t rank, const Totals& t) {
    uint64_t messages = 0;
    for (const auto& lane : t.messages) messages += lane[0] + lane[1] + lane[2];
    static_assert(lane_count == 2);
    tell(rank, {messages, t.bytes[0] + t.bytes[1], 0, 0, t.retries[0] + t.retries[1]});
  };
  const auto& one = ep->one_sided;
  tell(UINT32_MAX, {one.read(count_puts) + one.read(count_gets) + one.read(count_atomics),
                    one.read(count_put_bytes), 0, one.read(count_get_bytes), 0});
  const uint32_t count = ep->polled_count.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count; ++i) {
    const Receiver& from = *ep->polled[i];
    const uint64_t owner = from.owner.load(std::memory_order_relaxed);
    for (const RxLane& lane : from.lane)
      tell(owner != 0 ? unpack(owner).sender.rank : UINT32_MAX,
           {0, 0, sum(lane.messages), lane.bytes, 0});
  }
  const std::lock_guard lock(ep->connections_mutex);
  sent(UINT32_MAX, ep->retired);
  for (const Connection* c : ep->connections) {
    Totals totals;
    totals.add(*c);
    sent(c->conn->peer.rank, totals);
  }
}

}  // namespace causeway::shm
