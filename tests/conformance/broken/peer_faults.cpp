// Faults in making and ending connections, and in what becomes of peers that die or are replaced.
#include <signal.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "front.h"

namespace broken {
namespace {

// ---- connecting

// Waits for something that the peer never does.
cwy_status never_up(cwyc_ep* ep, cwyc_conn* c, const cwyc_peer_desc* peer, cwyc_op* op,
                    cwy_err* err) {
  const cwy_status status = g_inner->connect(ep, c, peer, op, err);
  return status == CWY_OK ? CWY_INPROGRESS : status;
}

// Takes the silence of a process that computes, here its own, for the peer's end.
cwy_status impatient(cwyc_ep* ep, cwyc_conn* c, const cwyc_peer_desc* peer, cwyc_op* op,
                     cwy_err* err) {
  const cwy_status status = g_inner->connect(ep, c, peer, op, err);
  if (status != CWY_OK) return status;
  const uint64_t ends = g_services.now() + 1'500'000'000;
  g_later.add(0, [=] {
    op->fn(op, CWYC_DONE_REMOTE, g_services.now() > ends ? CWY_ERR_TIMEOUT : CWY_OK, nullptr);
    return true;
  });
  return CWY_INPROGRESS;
}

// A table of connections that nothing is taken out of.
cwy_status table_full(cwyc_ep* ep, cwyc_conn* c, const cwyc_peer_desc* peer, cwyc_op* op,
                      cwy_err* err) {
  if (tick() > 20) return refused(err, CWY_ERR_NOMEM, "no place for another connection");
  return g_inner->connect(ep, c, peer, op, err);
}

cwy_status wrong_refusal(cwyc_ep* ep, cwyc_conn* c, const cwyc_peer_desc* peer, cwyc_op* op,
                         cwy_err* err) {
  if (kill(static_cast<pid_t>(peer->pid), 0) != 0) return refused(err, CWY_ERR_INVALID, "gone");
  return g_inner->connect(ep, c, peer, op, err);
}

cwy_status late_refusal(cwyc_ep* ep, cwyc_conn* c, const cwyc_peer_desc* peer, cwyc_op* op,
                        cwy_err* err) {
  if (kill(static_cast<pid_t>(peer->pid), 0) == 0) return g_inner->connect(ep, c, peer, op, err);
  g_later.add(0, [op] { return op->fn(op, CWYC_DONE_REMOTE, CWY_ERR_UNREACHABLE, nullptr), true; });
  return CWY_INPROGRESS;
}

std::map<uint32_t, uint32_t> g_newest, g_oldest;  // epochs by rank
const cwyc_conn* g_first = nullptr;
unsigned g_connected = 0;
pid_t g_newest_process = 0;

cwy_status connect_noted(cwyc_ep* ep, cwyc_conn* c, const cwyc_peer_desc* peer, cwyc_op* op,
                         cwy_err* err) {
  const cwy_status status = g_inner->connect(ep, c, peer, op, err);
  if (status < 0) return status;
  uint32_t& newest = g_newest[peer->peer.rank];
  if (newest < peer->peer.epoch) newest = peer->peer.epoch;
  g_oldest.emplace(peer->peer.rank, peer->peer.epoch);
  if (g_first == nullptr) g_first = c;
  ++g_connected;
  g_newest_process = static_cast<pid_t>(peer->pid);
  return status;
}
void disconnect_noted(cwyc_conn* c) {
  --g_connected;
  g_inner->disconnect(c);
}

// A rank has its connection once and for all.
cwy_status rank_taken(cwyc_ep* ep, cwyc_conn* c, const cwyc_peer_desc* peer, cwyc_op* op,
                      cwy_err* err) {
  const auto known = g_newest.find(peer->peer.rank);
  if (known != g_newest.end() && known->second != peer->peer.epoch)
    return refused(err, CWY_ERR_UNREACHABLE, "the rank has another epoch");
  return connect_noted(ep, c, peer, op, err);
}

void purge_newest_only(cwyc_conn* c) {
  if (c->peer.epoch >= g_newest[c->peer.rank]) g_inner->purge(c);
}

// Memory is reached through the first connection alone.
cwy_status first_connection_only(cwyc_conn* c, const void* src, cwyc_mem* mem, uint64_t raddr,
                                 cwyc_rkey* rkey, size_t length, uint32_t flags, cwyc_op* op) {
  if (c != g_first) return CWY_ERR_INVALID;
  return g_ops->put(c, src, mem, raddr, rkey, length, flags, op);
}

// What UCX 1.13 makes of a peer that ends before it was introduced.
uint32_t abort_beside_the_dead(cwyc_ep* ep, uint32_t budget, uint32_t lane) {
  if (g_newest_process != 0 && kill(g_newest_process, 0) != 0) std::abort();
  return g_inner->progress(ep, budget, lane);
}

// Whoever finds the endpoint belongs to the job.
cwy_status any_key(const cwy_options* options, const cwyc_domain_params* params, cwyc_domain** out,
                   cwy_err* err) {
  cwyc_domain_params ours = *params;
  std::memset(ours.job_key, 1, sizeof ours.job_key);
  return g_inner->domain_open(options, &ours, out, err);
}

// ---- delivering

// Whoever has the rank is taken for the first one that had it.
void as_the_first(void* core_ep, cwy_peer from, uint64_t word, uint32_t kind, const int32_t* args,
                  uint32_t n, void* payload, size_t length) {
  const auto known = g_oldest.find(from.rank);
  if (known != g_oldest.end()) from.epoch = known->second;
  deliver_on(core_ep, from, word, kind, args, n, payload, length);
}

// What the one before has sent still comes.
void and_of_the_first(void* core_ep, cwy_peer from, uint64_t word, uint32_t kind,
                      const int32_t* args, uint32_t n, void* payload, size_t length) {
  const auto known = g_oldest.find(from.rank);
  if (known != g_oldest.end() && known->second != from.epoch)
    as_the_first(core_ep, from, word % 1000, kind, args, n, payload, length);
  deliver_on(core_ep, from, word, kind, args, n, payload, length);
}

void to_its_neighbour(void* core_ep, cwy_peer from, uint64_t word, uint32_t kind,
                      const int32_t* args, uint32_t n, void* payload, size_t length) {
  void* const to = g_previous_endpoint != nullptr ? g_previous_endpoint : core_ep;
  deliver_on(to, from, word, kind, args, n, payload, length);
}

void while_connected(void* core_ep, cwy_peer from, uint64_t word, uint32_t kind,
                     const int32_t* args, uint32_t n, void* payload, size_t length) {
  if (g_connected != 0) deliver_on(core_ep, from, word, kind, args, n, payload, length);
}

// ---- failures

void say_nothing(void*, cwy_peer, cwy_peer_state, const char*) {}

// Knows the way of the services alone.
cwy_status open_untold(cwyc_domain* domain, const cwyc_ep_params* params, cwyc_ep** out,
                       cwy_err* err) {
  cwyc_ep_params own = *params;
  own.peer_state = nullptr;
  return g_inner->ep_open(domain, &own, out, err);
}

const Faults faults{
    {"untold_front", [] { g_module.ep_open = open_untold; }},
    {"never_up", [] { g_module.connect = never_up; }},
    {"purge_forgets_connect", [] { g_module.connect = never_up; }},
    {"impatient", [] { use_later(), g_module.connect = impatient; }},
    {"table_full", [] { g_module.connect = table_full; }},
    {"wrong_refusal", [] { g_module.connect = wrong_refusal; }},
    {"late_refusal", [] { use_later(), g_module.connect = late_refusal; }},
    {"abort_beside_the_dead",
     [] { g_module.connect = connect_noted, g_module.progress = abort_beside_the_dead; }},
    {"rank_taken", [] { g_module.connect = rank_taken; }},
    {"purge_newest_only",
     [] { g_module.connect = connect_noted, g_module.purge = purge_newest_only; }},
    {"first_connection_only",
     [] { g_module.connect = connect_noted, g_table.put = first_connection_only; }},
    {"epochs_ignored", [] { g_module.connect = connect_noted, take_deliveries(as_the_first); }},
    {"old_epoch_delivered",
     [] { g_module.connect = connect_noted, take_deliveries(and_of_the_first); }},
    {"wrong_endpoint", [] { take_deliveries(to_its_neighbour); }},
    {"deaf_after_disconnect",
     [] {
       g_module.connect = connect_noted;
       g_module.disconnect = disconnect_noted;
       take_deliveries(while_connected);
     }},
    {"any_key", [] { g_module.domain_open = any_key; }},
    {"silent_death", [] { g_services.peer_state = say_nothing; }},
    {"silent_while_asleep", [] { g_services.peer_state = say_nothing; }},
};

}  // namespace
}  // namespace broken
