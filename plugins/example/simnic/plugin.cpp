// The plugin: manifest, options, devices, domains, memory, connections, and the functions that
// it exports.
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>

#include "atomic.h"
#include "conduit.h"

CWY_MANIFEST(
    "causeway_manifest: 1\n"
    "kind: conduit\n"
    "name: simnic\n"
    "version: '1.0'\n"
    "api: '2.0'\n"
    "min_core_minor: 0\n"
    "license: BSD-3-Clause\n"
    "summary: A simulated adapter between processes of one host, with what hardware has\n"
    "options:\n"
    "  wiring: {type: enum, choices: [peer, shared], help: 'A queue pair per peer, or one for "
    "all'}\n"
    "  keys: {type: enum, choices: [shared, own], help: 'Keys as the core wishes, or of its own'}\n"
    "  atomics: {type: bool, default: true, help: 'Atomics of 64-bit integers'}\n"
    "  classes: {type: bool, help: 'Connections to odd ranks can do less than others'}\n"
    "  unordered: {type: bool, default: true, help: 'What was posted is sent in any order'}\n"
    "  completions: {type: int, default: 1024, min: 16, max: 65536, help: 'Entries of the "
    "completion "
    "queue'}\n"
    "  sends: {type: int, default: 64, min: 2, max: 4096, help: 'Entries of a send queue'}\n"
    "  registrations: {type: int, default: 64, min: 0, max: 65536, help: 'Most pieces of memory'}\n"
    "  mtu: {type: size, default: 64KiB, min: 8KiB, max: 128KiB, help: 'Most bytes of one "
    "packet'}\n"
    "  placed: {type: size, default: 2KiB, help: 'Messages of so many bytes, or more, are written "
    "to "
    "where the receiver wants them'}\n"
    "  delay: {type: int, default: 0, min: 0, max: 1000, help: 'Turns that a packet waits at "
    "most'}\n"
    "  seed: {type: int, default: 1, min: 0, help: 'Of order and delays'}\n"
    "  fail_after: {type: int, default: 0, min: 0, help: 'Packets until the port fails, 0: "
    "never'}\n"
    "  inject_loss: {type: int, default: 0, min: 0, max: 1000, help: 'Of 1000 packets so many are "
    "lost'}\n"
    "  port_file: {type: string, help: 'The port is down while there is a file of that name'}\n"
    "  pci: {type: string, help: 'PCI address of both devices, without their functions'}\n"
    "  numa_node: {type: int, default: -1, min: -1, max: 1023, help: 'That they are plugged in "
    "at'}\n");

namespace simnic {

cwy_status fail(cwy_err* err, cwy_status status, const std::string& text) {
  if (err != nullptr) {
    err->status = status;
    std::snprintf(err->text, sizeof err->text, "%s", text.c_str());
  }
  return status;
}

namespace {

// ---- devices, domains, memory ---------------------------------------------------------------

constexpr const char* kDevices[] = {"simnic0", "simnic1"};

Traits read_options(const cwy_options* opts) {
  Traits t{};
  const char *wiring = "", *keys = "", *file = "", *pci = "";
  int32_t unordered = 0, atomics = 0, classes = 0;
  services->opt_string(opts, "wiring", &wiring);
  services->opt_string(opts, "keys", &keys);
  services->opt_string(opts, "port_file", &file);
  services->opt_string(opts, "pci", &pci);
  services->opt_bool(opts, "unordered", &unordered);
  services->opt_bool(opts, "atomics", &atomics);
  services->opt_bool(opts, "classes", &classes);
  services->opt_int(opts, "completions", &t.completions);
  services->opt_int(opts, "sends", &t.sends);
  services->opt_int(opts, "registrations", &t.registrations);
  services->opt_int(opts, "delay", &t.delay);
  services->opt_int(opts, "seed", &t.seed);
  services->opt_int(opts, "fail_after", &t.fail_after);
  services->opt_int(opts, "numa_node", &t.numa_node);
  services->opt_int(opts, "inject_loss", &t.inject_loss);
  services->opt_size(opts, "mtu", &t.mtu);
  services->opt_size(opts, "placed", &t.placed);
  t.peer_wiring = std::strcmp(wiring, "peer") == 0;
  t.shared_keys = std::strcmp(keys, "shared") == 0;
  t.unordered = unordered != 0;
  t.atomics = atomics != 0;
  t.classes = classes != 0;
  t.port_file = file;
  t.pci = pci;
  return t;
}

cwy_status list_devices(const cwy_options* opts, cwyc_device_fn fn, void* arg, cwy_err*) {
  const Traits traits = read_options(opts);
  for (uint32_t i = 0; i < 2; ++i) {
    cwyc_device device{};
    device.head = CWY_HEAD(cwyc_device);
    device.name = kDevices[i];
    device.description = "simulated adapter";
    const std::string path = traits.pci.empty() ? "" : traits.pci + "." + std::to_string(i);
    device.path = path.c_str();
    device.speed = 1'000'000'000;
    device.network = 1;  // both reach the same peers
    device.numa_node = static_cast<int32_t>(traits.numa_node);
    device.state = CWYC_DEVICE_UP;
    device.ports = device.port = 1;
    fn(arg, &device);
  }
  return CWY_OK;
}

cwy_status domain_open(const cwy_options* opts, const cwyc_domain_params* params, cwyc_domain** out,
                       cwy_err* err) {
  const std::string device = *params->device != '\0' ? params->device : kDevices[0];
  if (device != kDevices[0] && device != kDevices[1])
    return fail(err, CWY_ERR_INVALID, "no device '" + device + "'; there are simnic0 and simnic1");
  struct stat network;
  if (stat("/proc/self/ns/net", &network) != 0)
    return fail(err, CWY_ERR_UNSUPPORTED,
                "conduit simnic needs /proc to name the network namespace");
  uint64_t key[2];
  std::memcpy(key, params->job_key, sizeof key);
  const Traits traits = read_options(opts);
  const uint64_t vnis = std::hash<std::string>{}(params->vnis);
  *out = new cwyc_domain{
      traits,         device, key[0] ^ mix(key[1]),
      network.st_ino, vnis,   Registrations(static_cast<size_t>(traits.registrations))};
  return CWY_OK;
}

void domain_close(cwyc_domain* domain) {
  delete domain;
}

cwy_status mem_reg(cwyc_domain* domain, const cwy_memref* ref, cwyc_mem** out, cwy_err* err) {
  if (ref->form != CWY_FORM_HOST_VA)
    return fail(err, CWY_ERR_UNSUPPORTED, "conduit simnic registers host memory only");
  const uint64_t wish = domain->traits.shared_keys ? ref->key_wish : 0;
  uint64_t key = 0;
  if (!domain->memory.add(wish, ref->addr, ref->length, &key))
    return fail(err, CWY_ERR_NOMEM,
                "the adapter has " + std::to_string(domain->traits.registrations) +
                    " registrations, and all are in use");
  *out = new cwyc_mem{key};
  return CWY_OK;
}

void mem_release(cwyc_domain* domain, cwyc_mem* mem) {
  domain->memory.remove(mem->key);
  delete mem;
}

// `length` in: room, out: bytes.
template <typename T>
cwy_status write_out(const T& text, void* buf, uint64_t* length, cwy_err* err) {
  const uint64_t room = *length;
  *length = sizeof text;
  if (room < sizeof text)
    return fail(err, CWY_ERR_INVALID, std::to_string(sizeof text) + " bytes are needed");
  std::memcpy(buf, &text, sizeof text);
  return CWY_OK;
}
template <typename T>
bool read_in(const void* buf, uint64_t length, T& text) {
  if (buf == nullptr || length != sizeof text) return false;
  std::memcpy(&text, buf, sizeof text);
  return true;
}

cwy_status rkey_pack(cwyc_mem* mem, void* buf, uint64_t* length, cwy_err* err) {
  return write_out(mem->key, buf, length, err);
}

cwy_status rkey_open(cwyc_ep* ep, const cwyc_peer_desc*, const void* buf, uint64_t length,
                     cwyc_rkey** out, cwy_err* err) {
  cwyc_rkey right{};
  if (!read_in(buf, length, right.key))
    return fail(err, CWY_ERR_INVALID, "a key of simnic has 8 bytes, not " + std::to_string(length));
  *out = new cwyc_rkey(right);
  ++ep->rkeys;
  return CWY_OK;
}

void rkey_close(cwyc_ep*, cwyc_rkey* rkey) {
  delete rkey;
}

// ---- classes --------------------------------------------------------------------------------

// Decides from the rank, which is known before the address.
uint32_t class_of(cwyc_domain* domain, const cwyc_peer_desc* peer) {
  return domain->traits.classes ? peer->peer.rank % 2 : 0;
}

cwy_status class_query(cwyc_ep* ep, uint32_t table, cwyc_class_attr* attr) {
  const Traits& traits = ep->domain.traits;
  cwyc_class_attr a{};
  a.head = attr->head;
  a.caps = CWYC_CAP_PUT | CWYC_CAP_GET | CWYC_CAP_AM_LONG;
  a.rma_max = a.am_long_max = rma_max(traits, table);
  a.am_medium_max = kMediumMax[table];
  // Bits 2 and 3 of CWY_DT_*: integers of 64 bits. The core makes the others, of all types where
  // programs mix them.
  if (traits.atomics && table == 0) {
    a.caps |= CWYC_CAP_ATOMIC;
    a.atomic_ops[2] = a.atomic_ops[3] = kAtomicOps;
  }
  a.speed = table == 0 ? 1'000'000'000 : 125'000'000;
  const size_t room = attr->head.struct_size;
  std::memcpy(attr, &a, room < sizeof a ? room : sizeof a);
  return CWY_OK;
}

// ---- endpoints ------------------------------------------------------------------------------

cwy_status ep_open(cwyc_domain* domain, const cwyc_ep_params* params, cwyc_ep** out, cwy_err* err) {
  cwyc_ep_params known{};
  std::memcpy(&known, params, std::min<size_t>(params->head.struct_size, sizeof known));
  auto ep = std::make_unique<cwyc_ep>(*domain, known);
  std::string why = ep->adapter.open();
  if (why.empty() && !domain->traits.peer_wiring) {
    ep->shared = ep->adapter.create_pair({UINT32_MAX, 0});
    if (ep->shared == nullptr) why = std::strerror(errno);
  }
  if (!why.empty()) return fail(err, CWY_ERR_NOMEM, "adapter " + domain->device + ": " + why);
  *out = ep.release();
  return CWY_OK;
}

void ep_close(cwyc_ep* ep) {
  ep->flush();
  delete ep;
}

cwy_status ep_query(cwyc_ep* ep, cwyc_ep_attr* attr) {
  const Traits& traits = ep->domain.traits;
  cwyc_ep_attr a{};
  a.head = attr->head;
  a.caps = CWYC_CAP_MEM_REG | CWYC_CAP_WAIT_FD;  // class_query tells the rest
  if (traits.peer_wiring) a.caps |= CWYC_CAP_WIRING;
  if (traits.shared_keys) a.caps |= CWYC_CAP_SHARED_KEYS;
  a.conn_size = sizeof(Link);
  a.ep_address_max = sizeof(Address);
  a.rkey_max = sizeof(uint64_t);
  a.mem_forms = CWY_FORM_HOST_VA;
  a.ops_tables = traits.classes ? 2 : 1;
  const size_t room = attr->head.struct_size;
  std::memcpy(attr, &a, room < sizeof a ? room : sizeof a);
  return CWY_OK;
}

cwy_status ep_address(cwyc_ep* ep, void* buf, uint64_t* length, cwy_err* err) {
  const cwyc_domain& domain = ep->domain;
  const Address address{ep->shared != nullptr ? ep->shared->number : 0, domain.network,
                        domain.virtual_network};
  return write_out(address, buf, length, err);
}

cwy_status wiring(cwyc_ep* ep, cwy_peer peer, void* buf, uint64_t* length, cwy_err* err) {
  const QueuePair* pair = ep->pair_for(peer, err);
  if (pair == nullptr) return CWY_ERR_NOMEM;
  return write_out(Wiring{pair->number, ep->check_of(pair->number, peer)}, buf, length, err);
}

cwy_status reach(cwyc_domain* domain, const cwyc_peer_desc* peer, cwy_err* err) {
  const std::string host = peer->hostname != nullptr ? peer->hostname : "another host";
  if (!peer->same_host)
    return fail(err, CWY_ERR_UNREACHABLE,
                "a simulated adapter ends at this host, the peer is on " + host);
  if (peer->address == nullptr) return CWY_OK;
  Address address{};
  if (!read_in(peer->address, peer->address_len, address))
    return fail(err, CWY_ERR_UNREACHABLE, "the peer runs another version of conduit simnic");
  if (address.network != domain->network)
    return fail(err, CWY_ERR_UNREACHABLE,
                "the peer is in another network namespace (another container)");
  if (address.virtual_network != domain->virtual_network)
    return fail(err, CWY_ERR_UNREACHABLE,
                "the peer is in another virtual network (its SLINGSHOT_VNIS differs)");
  if ((address.number == 0) != domain->traits.peer_wiring)
    return fail(err, CWY_ERR_UNREACHABLE, "the peer has another value of the option wiring");
  return CWY_OK;
}

cwy_status connect_peer(cwyc_ep* ep, cwyc_conn* conn, const cwyc_peer_desc* peer, cwyc_op*,
                        cwy_err* err) {
  const cwy_status status = reach(&ep->domain, peer, err);
  if (status != CWY_OK) return status;
  if (ep->failed)
    return fail(err, CWY_ERR_DEVICE_FAILED, "adapter " + ep->domain.device + " is down");
  uint64_t to = 0;
  if (ep->shared == nullptr) {
    Wiring wired{};
    const cwy_peer self{services->job->rank, services->job->epoch};
    if (!read_in(peer->wiring, peer->wiring_len, wired) ||
        wired.check != ep->check_of(wired.number, self))
      return fail(err, CWY_ERR_INVALID, "the peer's wiring is not for this process");
    to = wired.number;
  } else {
    Address address{};
    if (!read_in(peer->address, peer->address_len, address))
      return fail(err, CWY_ERR_INVALID, "no address of the peer");
    to = address.number;
  }
  cwy_err why{CWY_HEAD(cwy_err), CWY_ERR_NOMEM, 0, {}};
  QueuePair* pair = ep->pair_for(peer->peer, &why);
  if (pair == nullptr) return fail(err, why.status, why.text);
  ep->flows.push_back(
      std::make_unique<Flow>(peer->peer, to, pair, static_cast<size_t>(ep->domain.traits.sends)));
  pair->meet(to);
  link_of(conn) = {ep->flows.back().get(), false};
  conn->table = class_of(&ep->domain, peer);
  return CWY_OK;
}

// Messages that were accepted are still sent.
void disconnect(cwyc_conn* conn) {
  link_of(conn).flow->owned = false;
}

void purge(cwyc_conn* conn) {
  Link& link = link_of(conn);
  if (link.purged) return;
  link.purged = true;
  for (SendQueue& queue : link.flow->queue) queue.drop();
  if (link.flow->from != nullptr) conn->ep->adapter.forget(*link.flow->from, link.flow->to);
  link.flow->from = nullptr;
  conn->ep->end_all(link.flow, CWY_ERR_PEER_FAILED);
  conn->ep->give_up(conn, nullptr, CWY_ERR_PEER_FAILED, nullptr);
}

cwy_status wait_fd(cwyc_ep* ep, int* fd) {
  *fd = ep->adapter.wait_fd();
  return CWY_OK;
}

void ep_stats(cwyc_ep* ep, cwyc_stat_fn fn, void* arg) {
  fn(arg, "sent", ep->adapter.sent);
  fn(arg, "received", ep->adapter.received);
  fn(arg, "dropped", ep->adapter.dropped);
  fn(arg, "placed", ep->adapter.placed);
  fn(arg, "lost", ep->adapter.lost);
  fn(arg, "sent_again", ep->adapter.again);
  fn(arg, "doorbells", ep->adapter.doorbells);
  fn(arg, "completed", ep->adapter.completed);
  fn(arg, "most_under_way", ep->most_under_way);
  fn(arg, "retries", ep->retries);
  fn(arg, "rkeys", ep->rkeys);
}

void ep_traffic(cwyc_ep* ep, cwyc_traffic_fn fn, void* arg) {
  for (uint32_t rank = 0; rank < ep->traffic.size(); ++rank) {
    uint64_t counts[CWYC_RETRIES + 1], any = 0;
    for (uint32_t what = 0; what <= CWYC_RETRIES; ++what)
      any |= counts[what] = ep->traffic[rank].counts[what].load(std::memory_order_relaxed);
    if (any != 0) fn(arg, rank, counts, CWYC_RETRIES + 1);
  }
}

cwy_status am_retain(cwyc_ep* ep, void* payload, void** kept) {
  *kept = ep->adapter.keep(payload);
  return *kept != nullptr ? CWY_OK : CWY_ERR_UNSUPPORTED;
}

void am_release(cwyc_ep*, void* kept) {
  delete static_cast<std::vector<char>*>(kept);
}

cwyc_module make_module() {
  static const cwyc_ops* const tables[] = {&operations[0], &operations[1]};
  cwyc_module m{};
  m.head = CWY_HEAD(cwyc_module);
  m.ops_count = 2;
  m.ops = tables;
  m.list_devices = list_devices;
  m.domain_open = domain_open;
  m.domain_close = domain_close;
  m.ep_open = ep_open;
  m.ep_close = ep_close;
  m.ep_query = ep_query;
  m.ep_address = ep_address;
  m.reach = reach;
  m.connect = connect_peer;
  m.disconnect = disconnect;
  m.purge = purge;
  m.mem_reg = mem_reg;
  m.mem_release = mem_release;
  m.rkey_pack = rkey_pack;
  m.rkey_open = rkey_open;
  m.rkey_close = rkey_close;
  m.progress = [](cwyc_ep* ep, uint32_t budget, uint32_t lane) {
    return ep->progress(budget, lane);
  };
  m.wait_fd = wait_fd;
  m.arm = [](cwyc_ep* ep) { return ep->arm(); };
  m.ep_stats = ep_stats;
  m.ep_traffic = ep_traffic;
  m.am_retain = am_retain;
  m.am_release = am_release;
  m.class_query = class_query;
  m.class_of = class_of;
  m.wiring = wiring;
  return m;
}

const cwyc_module the_module = make_module();

}  // namespace
}  // namespace simnic

// Shapes outside of the interface's freeze.
extern "C" CWY_EXPORT const void* CWYX_LOOKUP(const char* name, uint32_t revision) {
  if (revision != CWYX_REVISION) return nullptr;
  const std::string wanted = name;
  if (wanted == "counters") return &simnic::counters;
  if (wanted == "immediate") return &simnic::immediates;
  return nullptr;
}

extern "C" CWY_EXPORT cwy_status CWY_CONDUIT_INIT(const cwy_services* from_core,
                                                  const cwyc_module** module, cwy_err*) {
  simnic::services = from_core;
  *module = &simnic::the_module;
  return CWY_OK;
}
