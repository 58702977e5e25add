// Faults in what cold calls answer (lengths, sizes, texts, counters), and in what stays of peers.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

#include "front.h"

namespace broken {
namespace {

// ---- lengths ----------------------------------------------------------------------------------

// The need is not said.
cwy_status silent_need(cwyc_ep* ep, void* buf, uint64_t* length, cwy_err* err) {
  uint64_t need = *length;
  const cwy_status status = g_inner->ep_address(ep, buf, &need, err);
  if (status == CWY_OK) *length = need;
  return status;
}
cwy_status another_refusal(cwyc_mem* mem, void* buf, uint64_t* length, cwy_err* err) {
  const cwy_status status = g_inner->rkey_pack(mem, buf, length, err);
  return status == CWY_ERR_INVALID ? CWY_ERR_NOMEM : status;
}
// A word more than ep_query says.
cwy_status longer_key(cwyc_mem* mem, void* buf, uint64_t* length, cwy_err* err) {
  const cwy_status status = g_inner->rkey_pack(mem, buf, length, err);
  *length += 8;
  return status;
}
template <uint64_t cwyc_ep_attr::*size>
void huge() {
  g_module.ep_query = [](cwyc_ep* ep, cwyc_ep_attr* attr) {
    const cwy_status status = g_inner->ep_query(ep, attr);
    attr->*size = uint64_t{1} << 40;
    return status;
  };
}

// ---- texts ------------------------------------------------------------------------------------

cwy_status told_of_success(cwyc_domain* domain, const cwyc_peer_desc* peer, cwy_err* err) {
  const cwy_status status = g_inner->reach(domain, peer, err);
  if (status == CWY_OK && err != nullptr) err->text[0] = '\0';
  return status;
}
cwy_status status_of_success(cwyc_domain* domain, const cwyc_peer_desc* peer, cwy_err* err) {
  const cwy_status status = g_inner->reach(domain, peer, err);
  if (status == CWY_OK && err != nullptr) err->status = CWY_OK;
  return status;
}
cwy_status untold(cwyc_ep* ep, void* buf, uint64_t* length, cwy_err*) {
  return g_inner->ep_address(ep, buf, length, nullptr);
}
cwy_status two_lines(cwyc_ep* ep, void* buf, uint64_t* length, cwy_err* err) {
  const cwy_status status = g_inner->ep_address(ep, buf, length, err);
  if (status != CWY_OK && err != nullptr) std::strcat(err->text, "\nas was said before");
  return status;
}
cwy_status text_alone(cwyc_ep* ep, void* buf, uint64_t* length, cwy_err* err) {
  const cwy_status status = g_inner->ep_address(ep, buf, length, err);
  if (status != CWY_OK && err != nullptr) err->status = CWY_OK;
  return status;
}

// ---- counters ---------------------------------------------------------------------------------

void odd_statistics(cwyc_ep*, cwyc_stat_fn fn, void* arg) {
  fn(arg, "Messages sent", tick());
}
void falling_statistics(cwyc_ep*, cwyc_stat_fn fn, void* arg) {
  fn(arg, "room", 1000 - tick());
}
void constant_statistics(cwyc_ep*, cwyc_stat_fn fn, void* arg) {
  fn(arg, "messages", 7);
}

// ---- peers ------------------------------------------------------------------------------------

cwy_status heap_per_connection(cwyc_ep* ep, cwyc_conn* c, const cwyc_peer_desc* peer, cwyc_op* op,
                               cwy_err* err) {
  [[maybe_unused]] static void* volatile kept;
  kept = std::malloc(48);
  return g_inner->connect(ep, c, peer, op, err);
}
// A record of each process that there has ever been.
cwy_status heap_per_epoch(cwyc_ep* ep, cwyc_conn* c, const cwyc_peer_desc* peer, cwyc_op* op,
                          cwy_err* err) {
  static std::map<uint32_t, cwyc_peer_desc> known;
  known[peer->peer.epoch] = *peer;
  return g_inner->connect(ep, c, peer, op, err);
}
// Has not heard that the peer has left.
cwy_status no_goodbye(cwyc_conn* c, uint64_t word, const int32_t* args, uint32_t n,
                      uint32_t flags) {
  const cwy_status status = g_ops->am_short(c, word, args, n, flags);
  return status == CWY_ERR_PEER_FAILED ? CWY_RETRY : status;
}
// Takes the end of a peer for its death.
cwy_status end_reported(cwyc_conn* c, uint64_t word, const int32_t* args, uint32_t n,
                        uint32_t flags) {
  const cwy_status status = g_ops->am_short(c, word, args, n, flags);
  if (status == CWY_ERR_PEER_FAILED)
    g_services.peer_state(nullptr, c->peer, CWY_PEER_FAILED, "its queue is gone");
  return status;
}

// All messages come to the endpoint that was opened first, and so does its room for them run out
// when it makes no progress: nothing forbids it.
cwyc_ep* g_first_ep = nullptr;
void take_turns() {
  g_module.ep_open = [](cwyc_domain* domain, const cwyc_ep_params* params, cwyc_ep** out,
                        cwy_err* err) {
    const cwy_status status = g_inner->ep_open(domain, params, out, err);
    if (status == CWY_OK && g_first_ep == nullptr) g_first_ep = *out;
    return status;
  };
  g_module.ep_close = [](cwyc_ep* ep) {
    if (ep == g_first_ep) g_first_ep = nullptr;
    g_inner->ep_close(ep);
  };
  g_module.ep_query = [](cwyc_ep* ep, cwyc_ep_attr* attr) {
    const cwy_status status = g_inner->ep_query(ep, attr);
    attr->caps &= ~uint64_t{CWYC_CAP_NO_PROGRESS};
    return status;
  };
  g_module.progress = [](cwyc_ep* ep, uint32_t, uint32_t) -> uint32_t {
    if (ep == g_first_ep) g_later.turn();
    return 0;
  };
  g_table.am_short = [](cwyc_conn* c, uint64_t word, const int32_t* args, uint32_t n,
                        uint32_t flags) -> cwy_status {
    if (g_later.size() >= 16) return CWY_RETRY;
    g_later.add(0, [=, copy = std::vector<int32_t>(args, args + n)] {
      return g_ops->am_short(c, word, copy.data(), n, flags) == CWY_OK;
    });
    return CWY_OK;
  };
}

const Faults faults{
    {"silent_need", [] { g_module.ep_address = silent_need; }},
    {"another_refusal", [] { g_module.rkey_pack = another_refusal; }},
    {"longer_key", [] { g_module.rkey_pack = longer_key; }},
    {"huge_connections", huge<&cwyc_ep_attr::conn_size>},
    {"huge_addresses", huge<&cwyc_ep_attr::ep_address_max>},
    {"huge_keys", huge<&cwyc_ep_attr::rkey_max>},
    {"told_of_success", [] { g_module.reach = told_of_success; }},
    {"status_of_success", [] { g_module.reach = status_of_success; }},
    {"untold", [] { g_module.ep_address = untold; }},
    {"two_lines", [] { g_module.ep_address = two_lines; }},
    {"text_alone", [] { g_module.ep_address = text_alone; }},
    {"odd_statistics", [] { g_module.ep_stats = odd_statistics; }},
    {"falling_statistics", [] { g_module.ep_stats = falling_statistics; }},
    {"constant_statistics", [] { g_module.ep_stats = constant_statistics; }},
    {"heap_per_connection", [] { g_module.connect = heap_per_connection; }},
    {"heap_per_epoch", [] { g_module.connect = heap_per_epoch; }},
    {"no_goodbye", [] { g_table.am_short = no_goodbye; }},
    {"end_reported", [] { g_table.am_short = end_reported; }},
    {"one_receiver", take_turns},
};

}  // namespace
}  // namespace broken
