// Faults in what one peer alone is told, and in keys that serve several peers. The conduit behind
// has neither: the good ones are made here.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "front.h"

namespace broken {
namespace {

// ---- wiring ---------------------------------------------------------------------------------

struct Wiring {
  cwy_peer reader;
  uint64_t mood;
};
bool g_moody = false, g_overruns = false, g_believes = false;

cwy_status wiring(cwyc_ep*, cwy_peer peer, void* buf, uint64_t* length, cwy_err* err) {
  const Wiring text{peer, g_moody ? tick() : 0};
  const bool fits = *length >= sizeof text;
  *length = sizeof text;
  if (fits || g_overruns) std::memcpy(buf, &text, sizeof text);
  if (fits || g_overruns) return CWY_OK;
  return refused(err, CWY_ERR_INVALID, "a wiring has 16 bytes");
}
cwy_status wired_connect(cwyc_ep* ep, cwyc_conn* c, const cwyc_peer_desc* peer, cwyc_op* op,
                         cwy_err* err) {
  Wiring text{};
  if (peer->wiring_len == sizeof text) std::memcpy(&text, peer->wiring, sizeof text);
  const cwy_job& job = *g_services.job;
  if (!g_believes && (text.reader.rank != job.rank || text.reader.epoch != job.epoch))
    return refused(err, CWY_ERR_INVALID, "this wiring is for another process");
  return g_inner->connect(ep, c, peer, op, err);
}
void wire() {
  g_module.wiring = wiring;
  g_module.connect = wired_connect;
  g_module.ep_query = [](cwyc_ep* ep, cwyc_ep_attr* attr) {
    const cwy_status status = g_inner->ep_query(ep, attr);
    attr->caps |= CWYC_CAP_WIRING;
    attr->ep_address_max = std::max<uint64_t>(attr->ep_address_max, sizeof(Wiring));
    return status;
  };
}

// ---- keys -----------------------------------------------------------------------------------

// A wished key stands for what the process packed that the connection leads to: it is in a file of
// the session.
struct WishedKey {
  uint64_t number;
  cwyc_peer_desc first;  // with whose descriptor it was opened
};
bool g_own_keys = false, g_first_only = false;
std::map<cwyc_mem*, uint64_t> g_wishes;
std::vector<WishedKey*> g_keys;
std::map<cwyc_conn*, cwyc_peer_desc> g_peers;

std::string file_of(cwy_peer owner, uint64_t number) {
  return std::string(g_services.job->session_dir) + "/key." + std::to_string(owner.rank) + "." +
         std::to_string(owner.epoch) + "." + std::to_string(number);
}

cwy_status pack_wish(cwyc_mem* mem, void* buf, uint64_t* length, cwy_err* err) {
  const auto wish = g_wishes.find(mem);
  if (wish == g_wishes.end()) return g_inner->rkey_pack(mem, buf, length, err);
  std::vector<char> packed(1024);
  uint64_t size = packed.size();
  const cwy_status status = g_inner->rkey_pack(mem, packed.data(), &size, err);
  const cwy_peer own{g_services.job->rank, g_services.job->epoch};
  std::ofstream(file_of(own, wish->second), std::ios::binary).write(packed.data(), size);
  const uint64_t number = g_own_keys ? wish->second + (uint64_t{own.rank + 1} << 32) : wish->second;
  *length = sizeof number;
  std::memcpy(buf, &number, sizeof number);
  return status;
}

cwy_status open_wish(cwyc_ep* ep, const cwyc_peer_desc* peer, const void* buf, uint64_t length,
                     cwyc_rkey** out, cwy_err* err) {
  if (length != sizeof(uint64_t)) return g_inner->rkey_open(ep, peer, buf, length, out, err);
  auto* key = new WishedKey{0, *peer};
  std::memcpy(&key->number, buf, sizeof key->number);
  g_keys.push_back(key);
  *out = reinterpret_cast<cwyc_rkey*>(key);
  return CWY_OK;
}

bool is_wished(const cwyc_rkey* rkey) {
  return std::find(g_keys.begin(), g_keys.end(), reinterpret_cast<const WishedKey*>(rkey)) !=
         g_keys.end();
}

void close_wish(cwyc_ep* ep, cwyc_rkey* rkey) {
  if (!is_wished(rkey)) return g_inner->rkey_close(ep, rkey);
  auto* key = reinterpret_cast<WishedKey*>(rkey);
  g_keys.erase(std::find(g_keys.begin(), g_keys.end(), key));
  delete key;
}

// Runs `call` with the right of the conduit behind.
template <typename Call>
cwy_status with_right(cwyc_conn* c, cwyc_rkey* rkey, Call&& call) {
  if (!is_wished(rkey)) return call(rkey);
  const auto* key = reinterpret_cast<const WishedKey*>(rkey);
  const cwyc_peer_desc& owner = g_first_only ? key->first : g_peers.at(c);
  std::ifstream in(file_of(owner.peer, key->number), std::ios::binary);
  const std::string packed{std::istreambuf_iterator<char>(in), {}};
  cwyc_rkey* right = nullptr;
  const cwy_status status =
      g_inner->rkey_open(c->ep, &owner, packed.data(), packed.size(), &right, nullptr);
  return status == CWY_OK ? call(right) : status;  // open until the process ends
}

void share_keys() {
  g_module.ep_query = [](cwyc_ep* ep, cwyc_ep_attr* attr) {
    const cwy_status status = g_inner->ep_query(ep, attr);
    attr->caps |= CWYC_CAP_SHARED_KEYS;
    return status;
  };
  g_module.connect = [](cwyc_ep* ep, cwyc_conn* c, const cwyc_peer_desc* peer, cwyc_op* op,
                        cwy_err* err) {
    g_peers[c] = *peer;
    return g_inner->connect(ep, c, peer, op, err);
  };
  g_module.mem_reg = [](cwyc_domain* domain, const cwy_memref* ref, cwyc_mem** out, cwy_err* err) {
    const cwy_status status = g_inner->mem_reg(domain, ref, out, err);
    if (status == CWY_OK) g_wishes.erase(*out);
    if (status == CWY_OK && ref->key_wish != 0) g_wishes[*out] = ref->key_wish;
    return status;
  };
  g_module.rkey_pack = pack_wish;
  g_module.rkey_open = open_wish;
  g_module.rkey_close = close_wish;
  g_table.put = [](cwyc_conn* c, const void* src, cwyc_mem* mem, uint64_t raddr, cwyc_rkey* rkey,
                   size_t length, uint32_t flags, cwyc_op* op) {
    return with_right(c, rkey, [&](cwyc_rkey* right) {
      return g_ops->put(c, src, mem, raddr, right, length, flags, op);
    });
  };
  g_table.get = [](cwyc_conn* c, void* dst, cwyc_mem* mem, uint64_t raddr, cwyc_rkey* rkey,
                   size_t length, uint32_t flags, cwyc_op* op) {
    return with_right(c, rkey, [&](cwyc_rkey* right) {
      return g_ops->get(c, dst, mem, raddr, right, length, flags, op);
    });
  };
}

const Faults faults{
    {"honest_wiring", [] { wire(); }},
    {"moody_wiring", [] { wire(), g_moody = true; }},
    {"overrun_wiring", [] { wire(), g_overruns = true; }},
    {"believed_wiring", [] { wire(), g_believes = true; }},
    {"honest_keys", [] { share_keys(); }},
    {"own_keys", [] { share_keys(), g_own_keys = true; }},
    {"first_peers_key", [] { share_keys(), g_first_only = true; }},
};

}  // namespace
}  // namespace broken
