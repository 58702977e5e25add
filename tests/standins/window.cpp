// Conduit `window`: stands in front of another one (shm) and registers dma-bufs, as an adapter with
// peer memory does: it maps the descriptor, which a stand-in's driver makes, and lets the conduit
// behind read and write there. So the core's own part of native transfers runs without an adapter:
// which form is chosen, what is registered and published, that the bytes go by the conduit's put
// and get, and that a get is flushed. What an adapter's library does, it does not show.
//
// SPDX-License-Identifier: BSD-3-Clause
#include <causeway/conduit.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "../../plugins/conduit/common/wrapping.h"

CWY_MANIFEST(
    "causeway_manifest: 1\n"
    "kind: conduit\n"
    "name: window\n"
    "version: 1.0.0\n"
    "api: '2.0'\n"
    "min_core_minor: 0\n"
    "summary: in front of another conduit, registers dma-bufs\n"
    "license: BSD-3-Clause\n"
    "options:\n"
    "  over: {type: string, default: shm, help: 'the conduit behind'}\n");

namespace causeway::window {
namespace {

struct Front : wrapping::Front {
  using wrapping::Front::Front;
};
using Fronts = wrapping::Fronts<Front>;

using conduit::services;
Front* g_front = nullptr;  // one conduit of the plugin is enough

// Device memory as its owner names it, and where it is mapped (registrations) or where the owner
// has it mapped (rights).
struct Range {
  uint64_t base = 0, length = 0, seen = 0;
  void* mapping = nullptr;
  size_t mapped = 0;
  uint64_t translated(uint64_t addr) const {
    return length != 0 && addr >= base && addr - base < length ? addr - base + seen : addr;
  }
};
std::mutex g_mutex;  // of the maps; a test has time
std::map<const void*, Range> g_registered, g_rights;
unsigned g_puts = 0, g_gets = 0;

Range find(const std::map<const void*, Range>& in, const void* key) {
  const std::lock_guard lock(g_mutex);
  const auto found = in.find(key);
  return found != in.end() ? found->second : Range{};
}
// Says, once, what the test looks for.
void count(const Range& local, const Range& remote, unsigned& counter) {
  const std::lock_guard lock(g_mutex);
  if (local.length == 0 && remote.length == 0) return;
  if (counter++ == 0 && g_puts != 0 && g_gets != 0) {
    std::fprintf(stderr, "window: rank %u: puts and gets of device memory\n", services->job->rank);
  }
}

// WINDOW_FAIL=RANK: the first put of that rank of 4 KiB or more to another one fails,
// though its peer lives.
bool fails_now(const cwyc_conn* c, size_t length) {
  static std::atomic<bool> failed{false};
  static const char* const who = std::getenv("WINDOW_FAIL");
  const uint32_t rank = services->job->rank;
  return who != nullptr && length >= 4096 && c->peer.rank != rank &&
         static_cast<uint32_t>(std::atoi(who)) == rank && !failed.exchange(true);
}

cwy_status put(cwyc_conn* c, const void* src, cwyc_mem* lmem, uint64_t raddr, cwyc_rkey* rkey,
               size_t length, uint32_t flags, cwyc_op* op) {
  if (fails_now(c, length)) return CWY_ERR_TIMEOUT;
  const Range local = find(g_registered, lmem), remote = find(g_rights, rkey);
  if (local.length != 0 && (flags & CWYC_SRC_VOLATILE) != 0) return CWY_ERR_INVALID;
  count(local, remote, g_puts);
  const auto from = local.translated(reinterpret_cast<uint64_t>(src));
  return g_front->ops(c).put(c, reinterpret_cast<const void*>(from), lmem, remote.translated(raddr),
                             rkey, length, flags, op);
}
cwy_status get(cwyc_conn* c, void* dst, cwyc_mem* lmem, uint64_t raddr, cwyc_rkey* rkey,
               size_t length, uint32_t flags, cwyc_op* op) {
  const Range local = find(g_registered, lmem), remote = find(g_rights, rkey);
  count(local, remote, g_gets);
  const auto to = local.translated(reinterpret_cast<uint64_t>(dst));
  return g_front->ops(c).get(c, reinterpret_cast<void*>(to), lmem, remote.translated(raddr), rkey,
                             length, flags, op);
}

// WINDOW_MAPS=BYTES: each connection takes so much memory of its own, and twice as much
// that is shared; nothing is touched.
cwy_status connect(cwyc_ep* ep, cwyc_conn* conn, const cwyc_peer_desc* peer, cwyc_op* op,
                   cwy_err* err) {
  if (const char* const bytes = std::getenv("WINDOW_MAPS"); bytes != nullptr) {
    const size_t size = std::strtoul(bytes, nullptr, 10);
    for (const int kind : {MAP_PRIVATE, MAP_SHARED})
      if (mmap(nullptr, kind == MAP_SHARED ? 2 * size : size, PROT_READ | PROT_WRITE,
               kind | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
        return report(err, CWY_ERR_NOMEM, "window: mmap failed");
  }
  return g_front->module().connect(ep, conn, peer, op, err);
}

cwy_status ep_query(cwyc_ep* ep, cwyc_ep_attr* attr) {
  const cwy_status status = g_front->module().ep_query(ep, attr);
  attr->mem_forms |= CWY_FORM_DMABUF;
  attr->rkey_max += sizeof(Range);
  return status;
}

cwy_status mem_reg(cwyc_domain* domain, const cwy_memref* ref, cwyc_mem** out, cwy_err* err) {
  if (ref->form == CWY_FORM_HOST_VA) return g_front->module().mem_reg(domain, ref, out, err);
  if (ref->form != CWY_FORM_DMABUF || ref->fd < 0 || ref->length == 0)
    return report(err, CWY_ERR_INVALID, "window: form %u was not asked for", ref->form);
  Range range;
  range.base = ref->addr;
  range.length = ref->length;
  range.mapped = ref->offset + ref->length;
  range.mapping = mmap(nullptr, range.mapped, PROT_READ | PROT_WRITE, MAP_SHARED, ref->fd, 0);
  if (range.mapping == MAP_FAILED) return report(err, CWY_ERR_NOMEM, "window: mmap failed");
  range.seen = reinterpret_cast<uint64_t>(range.mapping) + ref->offset;
  cwy_memref host = *ref;
  host.form = CWY_FORM_HOST_VA;
  host.kind_class = CWY_MEM_HOST;
  host.addr = range.seen;
  host.fd = -1;
  host.offset = 0;
  const cwy_status status = g_front->module().mem_reg(domain, &host, out, err);
  if (status != CWY_OK) {
    munmap(range.mapping, range.mapped);
    return status;
  }
  const std::lock_guard lock(g_mutex);
  g_registered[*out] = range;
  return CWY_OK;
}
void mem_release(cwyc_domain* domain, cwyc_mem* mem) {
  const Range range = find(g_registered, mem);
  {
    const std::lock_guard lock(g_mutex);
    g_registered.erase(mem);
  }
  g_front->module().mem_release(domain, mem);
  if (range.mapping != nullptr) munmap(range.mapping, range.mapped);
}

// A right of the conduit behind, and the range.
cwy_status rkey_pack(cwyc_mem* mem, void* buf, uint64_t* len, cwy_err* err) {
  uint64_t theirs = *len > sizeof(Range) ? *len - sizeof(Range) : 0;
  const cwy_status status = g_front->module().rkey_pack(mem, buf, &theirs, err);
  *len = theirs + sizeof(Range);
  if (status != CWY_OK) return status;
  Range range = find(g_registered, mem);
  range.mapping = nullptr;
  std::memcpy(static_cast<char*>(buf) + theirs, &range, sizeof range);
  return CWY_OK;
}
cwy_status rkey_open(cwyc_ep* ep, const cwyc_peer_desc* peer, const void* buf, uint64_t len,
                     cwyc_rkey** out, cwy_err* err) {
  if (len <= sizeof(Range)) return report(err, CWY_ERR_INVALID, "window: no right");
  const uint64_t theirs = len - sizeof(Range);
  const cwy_status status = g_front->module().rkey_open(ep, peer, buf, theirs, out, err);
  if (status != CWY_OK) return status;
  Range range;
  std::memcpy(&range, static_cast<const char*>(buf) + theirs, sizeof range);
  const std::lock_guard lock(g_mutex);
  if (range.length != 0) g_rights[*out] = range;
  return CWY_OK;
}
void rkey_close(cwyc_ep* ep, cwyc_rkey* rkey) {
  {
    const std::lock_guard lock(g_mutex);
    g_rights.erase(rkey);
  }
  g_front->module().rkey_close(ep, rkey);
}

cwy_status configure(const cwy_options* opts, const cwyc_module** out, cwy_err* err) {
  return guarded(err, [&]() -> cwy_status {
    cwy_wrapped wrapped;
    const cwy_status status = wrapping::wrap(*services, opts, "over", wrapped, err);
    if (status != CWY_OK) return status;
    auto front = std::make_unique<Front>(wrapped);
    g_front = front.get();
    front->replace(&cwyc_ops::put, put);
    front->replace(&cwyc_ops::get, get);
    front->replace(&cwyc_module::ep_query, ep_query);
    front->replace(&cwyc_module::connect, connect);
    front->replace(&cwyc_module::mem_reg, mem_reg);
    front->replace(&cwyc_module::mem_release, mem_release);
    front->replace(&cwyc_module::rkey_pack, rkey_pack);
    front->replace(&cwyc_module::rkey_open, rkey_open);
    front->replace(&cwyc_module::rkey_close, rkey_close);
    Fronts::keep(opts, std::move(front), out);
    return CWY_OK;
  });
}

using Idle = conduit::Tables<wrapping::Unconfigured<configure, Fronts::fini>>;

}  // namespace
}  // namespace causeway::window

extern "C" CWY_EXPORT cwy_status CWY_CONDUIT_INIT(const cwy_services* core,
                                                  const cwyc_module** module, cwy_err*) {
  return causeway::window::Idle::start(core, "window", module);
}
