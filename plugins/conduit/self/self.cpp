// The conduit of a process to itself: memory operations and function calls.
//
// SPDX-License-Identifier: BSD-3-Clause
#include <causeway/conduit.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "../../common/guard.h"
#include "../../common/known_part.h"
#include "../../common/plugin_error.h"
#include "../common/adapter_facts.h"
#include "../common/cpu_atomics.h"
#include "../common/ep_answers.h"
#include "../common/module_table.h"
#include "../common/scatter_gather.h"
#include "../common/thread_counters.h"

CWY_MANIFEST(
    "causeway_manifest: 1\n"
    "kind: conduit\n"
    "name: self\n"
    "version: 1.0.0\n"
    "api: \"2.0\"\n"
    "min_core_minor: 0\n"
    "license: BSD-3-Clause\n"
    "summary: one process talking to itself, by memory operations and function calls\n"
    "options: {}\n");

namespace {

using causeway::report;

// Payloads up to here are copied on the stack, larger ones on the heap.
constexpr size_t stack_payload = 4096;
constexpr size_t medium_max = 64 * 1024;

enum Counter { puts, gets, atomics, shorts, mediums, longs, bytes, counter_count };
constexpr const char* counter_names[counter_count] = {"put",       "get",     "atomic", "am_short",
                                                      "am_medium", "am_long", "bytes"};

}  // namespace

struct cwyc_domain {};

// Ends with the length of its rights set to 0, so that what is not inside them is refused.
struct cwyc_mem {
  char* base;
  size_t length;
  bool allocated;
  uint64_t number = 0;  // never used again
  ~cwyc_mem() {
    if (allocated && base != nullptr) munmap(base, length);
  }
};

struct cwyc_rkey {
  uint64_t base;
  uint64_t length;
  uint64_t number;  // of its cwyc_mem
};

struct cwyc_ep {
  cwyc_ep_params params;
  causeway::ThreadCounters<counter_count> counters;
};

namespace {

bool several_threads(const cwyc_ep* ep) {
  return ep->params.multithreaded != 0;
}

void count(cwyc_ep* ep, Counter counter, size_t amount) {
  if (several_threads(ep))
    ep->counters.add(counter, amount);
  else
    ep->counters.add_alone(counter, amount);
}

// An operation, and its bytes.
void count_with_bytes(cwyc_ep* ep, Counter counter, size_t length) {
  count(ep, counter, 1);
  count(ep, bytes, length);
}

bool inside(const cwyc_rkey* rkey, uint64_t raddr, size_t length) {
  return raddr >= rkey->base && length <= rkey->length &&
         raddr - rkey->base <= rkey->length - length;
}

// The memory that there is, by number, and the rights to it.
struct Registered {
  const cwyc_mem* mem;
  std::vector<cwyc_rkey*> rights;
};
std::mutex memory_lock;
std::map<uint64_t, Registered> registered;

cwyc_rkey right_to(const cwyc_mem& mem) {
  return {reinterpret_cast<uint64_t>(mem.base), mem.length, mem.number};
}

cwy_status enter(std::unique_ptr<cwyc_mem>& mem, cwyc_mem** out, cwy_err* err) {
  return causeway::guarded(err, [&] {
    static uint64_t last = 0;
    const std::lock_guard lock(memory_lock);
    mem->number = ++last;
    registered[mem->number].mem = mem.get();
    *out = mem.release();
    return CWY_OK;
  });
}

void* pointer(uint64_t address) {
  return reinterpret_cast<void*>(address);
}

// ---- one-sided ------------------------------------------------------------------------------

// The table.
struct Conduit {
  static constexpr uint32_t concurrency = CWYC_MULTI;
  static causeway::conduit::Call<&cwyc_module::rkey_close> rkey_close;
  static void disconnect(cwyc_conn*) {}
  static void purge(cwyc_conn*) {}

#include "../common/memory_calls.h"
};

cwy_status Conduit::put(cwyc_conn* conn, const void* src, cwyc_mem*, uint64_t raddr,
                        cwyc_rkey* rkey, size_t length, uint32_t, cwyc_op*) {
  if (length == 0) return CWY_OK;
  if (!inside(rkey, raddr, length)) return CWY_ERR_INVALID;
  std::memmove(pointer(raddr), src, length);  // source and target may overlap: one address space
  count_with_bytes(conn->ep, puts, length);
  return CWY_OK;
}

cwy_status Conduit::get(cwyc_conn* conn, void* dst, cwyc_mem*, uint64_t raddr, cwyc_rkey* rkey,
                        size_t length, uint32_t, cwyc_op*) {
  if (length == 0) return CWY_OK;
  if (!inside(rkey, raddr, length)) return CWY_ERR_INVALID;
  std::memmove(dst, pointer(raddr), length);
  count_with_bytes(conn->ep, gets, length);
  return CWY_OK;
}

template <Counter counter>
cwy_status move_pieces(cwyc_conn* conn, const cwyc_vector& v) {
  const bool all_inside =
      std::all_of(v.remote, v.remote + v.remote_count, [&](const cwyc_riov& piece) {
        return piece.length == 0 || inside(v.rkey, piece.addr, piece.length);
      });
  if (!all_inside) return CWY_ERR_INVALID;
  const bool equal =
      causeway::for_each_common_piece(v, [&](void* local, uint64_t remote, size_t n) {
        void* const there = pointer(remote);
        std::memmove(counter == puts ? there : local, counter == puts ? local : there, n);
        count(conn->ep, bytes, n);
      });
  count(conn->ep, counter, 1);
  return equal ? CWY_OK : CWY_ERR_INVALID;
}

cwy_status Conduit::putv(cwyc_conn* conn, const cwyc_vector* v, uint32_t, cwyc_op*) {
  return move_pieces<puts>(conn, *v);
}

cwy_status Conduit::getv(cwyc_conn* conn, const cwyc_vector* v, uint32_t, cwyc_op*) {
  return move_pieces<gets>(conn, *v);
}

cwy_status Conduit::atomic(cwyc_conn* conn, const cwyc_atomic* a, cwyc_rkey* rkey, uint32_t,
                           cwyc_op*) {
  if (!inside(rkey, a->raddr, causeway::cpu_atomics::width(*a))) return CWY_ERR_INVALID;
  count(conn->ep, atomics, 1);
  return causeway::cpu_atomics::execute(pointer(a->raddr), *a);
}

// ---- active messages ------------------------------------------------------------------------

void deliver(cwyc_conn* conn, uint64_t word, uint32_t kind, const int32_t* args, uint32_t nargs,
             void* payload, size_t length) {
  const cwyc_ep_params& to = conn->ep->params;
  to.deliver(to.core_ep, conn->peer, word, kind, args, nargs, payload, length);
}

// A thread's first one, and those of threads beyond the counters' cells.
__attribute__((noinline)) cwy_status am_short_counted_slowly(cwyc_conn* conn, uint64_t word,
                                                             const int32_t* args, uint32_t nargs) {
  conn->ep->counters.add(shorts, 1);
  deliver(conn, word, CWYC_AM_SHORT, args, nargs, nullptr, 0);
  return CWY_OK;
}

// Counting is all that several threads have in common here: the handler runs in the calling one.
cwy_status Conduit::am_short(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                             uint32_t) {
  if (nargs > CWYC_AM_MAX_ARGS) return CWY_ERR_INVALID;
  if (!several_threads(conn->ep))
    conn->ep->counters.add_alone(shorts, 1);
  else if (__builtin_expect(!conn->ep->counters.add_if_own(shorts, 1), 0))
    return am_short_counted_slowly(conn, word, args, nargs);
  deliver(conn, word, CWYC_AM_SHORT, args, nargs, nullptr, 0);
  return CWY_OK;
}

// The receiver may write into its payload while the sender may still need the source: a copy.
cwy_status Conduit::am_medium(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                              const void* payload, cwyc_mem*, size_t length, uint32_t, cwyc_op*) {
  if (nargs > CWYC_AM_MAX_ARGS || length > medium_max) return CWY_ERR_INVALID;
  alignas(std::max_align_t) char small[stack_payload];
  std::unique_ptr<char, void (*)(void*)> large(nullptr, std::free);
  char* copy = small;
  if (length > sizeof small) {
    large.reset(static_cast<char*>(std::malloc(length)));
    if (!large) return CWY_ERR_NOMEM;
    copy = large.get();
  }
  if (length != 0) std::memcpy(copy, payload, length);
  count_with_bytes(conn->ep, mediums, length);
  deliver(conn, word, CWYC_AM_MEDIUM, args, nargs, copy, length);
  return CWY_OK;
}

cwy_status Conduit::am_long(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                            const void* payload, cwyc_mem*, size_t length, uint64_t raddr,
                            cwyc_rkey* rkey, uint32_t, cwyc_op*) {
  if (nargs > CWYC_AM_MAX_ARGS) return CWY_ERR_INVALID;
  if (length != 0) {
    if (!inside(rkey, raddr, length)) return CWY_ERR_INVALID;
    std::memmove(pointer(raddr), payload, length);
  }
  count_with_bytes(conn->ep, longs, length);
  deliver(conn, word, CWYC_AM_LONG, args, nargs, pointer(raddr), length);
  return CWY_OK;
}

// The negotiated buffer is handed to the receiver as it is: this is the one medium without a copy.
cwy_status Conduit::am_prepare(cwyc_conn*, size_t least, size_t most, uint32_t nargs, uint32_t,
                               cwyc_am_slot* slot) {
  if (nargs > CWYC_AM_MAX_ARGS || least > medium_max || least > most) return CWY_ERR_INVALID;
  const size_t room = most < medium_max ? most : medium_max;
  // malloc: aligned for any type, which is all that is promised, and far quicker than more.
  slot->buffer = std::malloc(room + 1);
  if (slot->buffer == nullptr) return CWY_RETRY;
  slot->length = room;
  return CWY_OK;
}

void Conduit::am_cancel(cwyc_conn*, cwyc_am_slot* slot) {
  std::free(slot->buffer);
  slot->buffer = nullptr;
}

void Conduit::am_commit(cwyc_conn* conn, cwyc_am_slot* slot, uint64_t word, const int32_t* args,
                        uint32_t nargs, size_t length) {
  count_with_bytes(conn->ep, mediums, length);
  deliver(conn, word, CWYC_AM_MEDIUM, args, nargs, slot->buffer, length);
  am_cancel(conn, slot);
}

// ---- cold -----------------------------------------------------------------------------------

cwy_status Conduit::list_devices(const cwy_options*, cwyc_device_fn fn, void* arg, cwy_err*) {
  causeway::AdapterFacts facts;
  facts.state = CWYC_DEVICE_UP;
  causeway::tell_device(fn, arg, "self", "this process", facts);
  return CWY_OK;
}

cwy_status Conduit::domain_open(const cwy_options*, const cwyc_domain_params* params,
                                cwyc_domain** out, cwy_err* err) {
  if (*params->device != '\0' && std::strcmp(params->device, "self") != 0)
    return report(err, CWY_ERR_INVALID, "device '%s' does not exist; the only one is 'self'",
                  params->device);
  *out = new (std::nothrow) cwyc_domain;
  return *out != nullptr ? CWY_OK : report(err, CWY_ERR_NOMEM, "no memory for a domain");
}

cwy_status Conduit::ep_open(cwyc_domain*, const cwyc_ep_params* params, cwyc_ep** out,
                            cwy_err* err) {
  *out = new (std::nothrow) cwyc_ep{};
  if (*out == nullptr) return report(err, CWY_ERR_NOMEM, "no memory for an endpoint");
  (*out)->params = causeway::known_part(*params);
  return CWY_OK;
}

void Conduit::ep_close(cwyc_ep* ep) {
  delete ep;
}

cwy_status Conduit::ep_query(cwyc_ep*, cwyc_ep_attr* attr) {
  cwyc_ep_attr a{};
  a.head = CWY_HEAD(cwyc_ep_attr);
  a.caps = CWYC_CAP_PUT | CWYC_CAP_GET | CWYC_CAP_ATOMIC | CWYC_CAP_VECTOR | CWYC_CAP_AM_LONG |
           CWYC_CAP_AM_PREPARE | CWYC_CAP_DIRECT | CWYC_CAP_MEM_ALLOC | CWYC_CAP_MEM_REG |
           CWYC_CAP_ORDER_PUT_AM | CWYC_CAP_ATOMIC_CPU | CWYC_CAP_NO_PROGRESS;
  a.ep_address_max = 8;
  a.rkey_max = sizeof(cwyc_rkey);
  a.rma_max = UINT64_MAX / 2;
  a.am_medium_max = medium_max;
  a.am_long_max = UINT32_MAX;
  a.iov_max = UINT32_MAX;
  a.mem_forms = CWY_FORM_HOST_VA;
  causeway::cpu_atomics::declare(a.atomic_ops);
  a.speed = 10'000'000'000;
  a.ops_tables = 1;
  return causeway::give_attributes(a, attr);
}

cwy_status Conduit::ep_address(cwyc_ep*, void* buf, uint64_t* len, cwy_err* err) {
  constexpr char name[] = "cwyself";
  return causeway::give_address(name, buf, len, err);
}

cwy_status Conduit::ep_threads(cwyc_ep* ep, uint32_t multithreaded) {
  ep->params.multithreaded = multithreaded;
  return CWY_OK;
}

cwy_status Conduit::reach(cwyc_domain*, const cwyc_peer_desc* peer, cwy_err* err) {
  if (peer->same_process != 0) return CWY_OK;
  return report(err, CWY_ERR_UNREACHABLE, "rank %u is another process", peer->peer.rank);
}

cwy_status Conduit::connect(cwyc_ep*, cwyc_conn*, const cwyc_peer_desc* peer, cwyc_op*,
                            cwy_err* err) {
  return reach(nullptr, peer, err);
}

cwy_status Conduit::mem_alloc(cwyc_domain*, size_t length, void** addr, cwyc_mem** out,
                              cwy_err* err) {
  auto mem = std::unique_ptr<cwyc_mem>(new (std::nothrow) cwyc_mem{nullptr, length, true});
  if (!mem) return report(err, CWY_ERR_NOMEM, "no memory to describe a segment");
  void* base = mmap(*addr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED)
    return report(err, CWY_ERR_NOMEM, "a segment of %zu bytes cannot be mapped: %s", length,
                  std::strerror(errno));
  mem->base = static_cast<char*>(base);
  *addr = base;
  return enter(mem, out, err);
}

cwy_status Conduit::mem_reg(cwyc_domain*, const cwy_memref* ref, cwyc_mem** out, cwy_err* err) {
  if (ref->form != CWY_FORM_HOST_VA || ref->kind_class != CWY_MEM_HOST)
    return report(err, CWY_ERR_UNSUPPORTED, "only host memory can be registered here");
  std::unique_ptr<cwyc_mem> mem(new (std::nothrow) cwyc_mem{
      reinterpret_cast<char*>(ref->addr), static_cast<size_t>(ref->length), false});
  if (!mem) return report(err, CWY_ERR_NOMEM, "no memory for a registration");
  return enter(mem, out, err);
}

void Conduit::mem_release(cwyc_domain*, cwyc_mem* mem) {
  if (mem == nullptr) return;
  {
    const std::lock_guard lock(memory_lock);
    const auto known = registered.find(mem->number);
    for (cwyc_rkey* rkey : known->second.rights) rkey->length = 0;
    registered.erase(known);
  }
  delete mem;
}

cwy_status Conduit::rkey_pack(cwyc_mem* mem, void* buf, uint64_t* len, cwy_err* err) {
  return causeway::give_rkey(right_to(*mem), buf, len, err);
}

cwy_status Conduit::rkey_open(cwyc_ep*, const cwyc_peer_desc* peer, const void* buf, uint64_t len,
                              cwyc_rkey** out, cwy_err* err) {
  if (peer->same_process == 0) return reach(nullptr, peer, err);
  if (len != sizeof(cwyc_rkey))
    return report(err, CWY_ERR_INVALID, "an rkey of this conduit has %zu bytes, not %llu",
                  sizeof(cwyc_rkey), static_cast<unsigned long long>(len));
  return causeway::guarded(err, [&]() -> cwy_status {
    auto rkey = std::make_unique<cwyc_rkey>();
    std::memcpy(rkey.get(), buf, sizeof(cwyc_rkey));
    const std::lock_guard lock(memory_lock);
    if (const auto known = registered.find(rkey->number); known != registered.end()) {
      const cwyc_rkey whole = right_to(*known->second.mem);
      if (std::memcmp(rkey.get(), &whole, sizeof whole) != 0)
        return report(err, CWY_ERR_INVALID, "this is no rkey of memory that is registered here");
      known->second.rights.push_back(rkey.get());
    } else {
      rkey->length = 0;
    }
    *out = rkey.release();
    return CWY_OK;
  });
}

void Conduit::rkey_close(cwyc_ep*, cwyc_rkey* rkey) {
  {
    const std::lock_guard lock(memory_lock);
    const auto known = registered.find(rkey->number);
    if (known != registered.end()) std::erase(known->second.rights, rkey);
  }
  delete rkey;
}

cwy_status Conduit::rkey_direct(cwyc_rkey*, intptr_t* delta) {
  *delta = 0;
  return CWY_OK;
}

uint32_t Conduit::progress(cwyc_ep*, uint32_t, uint32_t) {
  return 0;
}  // all was done by the posting call

void Conduit::ep_stats(cwyc_ep* ep, cwyc_stat_fn fn, void* arg) {
  for (int i = 0; i < counter_count; ++i)
    fn(arg, counter_names[i], ep->counters.read(static_cast<size_t>(i)));
}

void Conduit::ep_traffic(cwyc_ep* ep, cwyc_traffic_fn fn, void* arg) {
  const uint64_t size = ep->counters.read(bytes);  // all bytes arrive here, too
  uint64_t counts[] = {0, size, 0, size};
  for (int i = puts; i < bytes; ++i) {
    const uint64_t n = ep->counters.read(static_cast<size_t>(i));
    counts[CWYC_SENT] += n;
    if (i >= shorts) counts[CWYC_RECEIVED] += n;
  }
  fn(arg, UINT32_MAX, counts, std::size(counts));
}

}  // namespace

extern "C" CWY_EXPORT cwy_status CWY_CONDUIT_INIT(const cwy_services*, const cwyc_module** module,
                                                  cwy_err*) {
  *module = &causeway::conduit::Tables<Conduit>::module;
  return CWY_OK;
}
