// A conduit whose atomics are an adapter's: coherent with each other and not with processors. It
// is the shm conduit with one operation exchanged: a fetch, the arithmetic and a store, under a
// lock that only this conduit knows. An atomic of a processor between the two is lost, so a domain
// that mixes mechanisms fails the tests that count.
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstring>
#include <mutex>

#include "../../../../plugins/conduit/common/cpu_atomics.h"

CWY_MANIFEST(
    "causeway_manifest: 1\n"
    "kind: conduit\n"
    "name: adapter\n"
    "version: 1.0.0\n"
    "api: '2.0'\n"
    "min_core_minor: 0\n"
    "summary: shared memory with atomics that no processor is coherent with; for tests\n"
    "license: BSD-3-Clause\n");

namespace {

constexpr uint32_t kTables = 4;
const cwyc_module* shm;
cwyc_module module;
cwyc_ops tables[kTables];
const cwyc_ops* table_pointers[kTables];
cwy_services services;

// Between processes the lock of the plugin's file, between threads of one a mutex.
class AdapterLock {
 public:
  AdapterLock() : guard_(mutex_) {
    static const int fd = ::open(ADAPTER_FILE, O_RDONLY | O_CLOEXEC);
    fd_ = fd;
    while (::flock(fd_, LOCK_EX) != 0) {
    }
  }
  ~AdapterLock() { ::flock(fd_, LOCK_UN); }

 private:
  inline static std::mutex mutex_;
  std::lock_guard<std::mutex> guard_;
  int fd_;
};

cwy_status atomic(cwyc_conn* conn, const cwyc_atomic* a, cwyc_rkey* rkey, uint32_t flags,
                  cwyc_op* op) {
  const cwyc_ops& by = *shm->ops[conn->table];
  const size_t size = causeway::cpu_atomics::width(*a);
  const AdapterLock lock;
  alignas(8) unsigned char word[8];
  cwy_status status = by.get(conn, word, nullptr, a->raddr, rkey, size, flags, op);
  if (status != CWY_OK) return status;
  ::sched_yield();
  status = causeway::cpu_atomics::execute(word, *a);
  if (status != CWY_OK || a->opcode == 1u << causeway::cpu_atomics::op_get) return status;
  return by.put(conn, word, nullptr, a->raddr, rkey, size, flags, op);
}

cwy_status ep_query(cwyc_ep* ep, cwyc_ep_attr* attr) {
  const cwy_status status = shm->ep_query(ep, attr);
  attr->caps &= ~static_cast<uint64_t>(CWYC_CAP_ATOMIC_CPU);
  // MULT is not among what this adapter does.
  for (uint64_t& ops : attr->atomic_ops)
    ops &= ~((1ull << causeway::cpu_atomics::op_mult) |
             (1ull << (causeway::cpu_atomics::op_mult + causeway::cpu_atomics::fetching)));
  return status;
}

// The options of the conduit underneath keep their defaults.
cwy_status opt_string(const cwy_options*, const char* key, const char** out) {
  const bool never = std::strcmp(key, "huge_pages") == 0, numa = std::strcmp(key, "numa") == 0;
  *out = never ? "never" : numa ? "first_touch" : "auto";
  return CWY_OK;
}
cwy_status opt_size(const cwy_options*, const char*, uint64_t* out) {
  *out = 0;
  return CWY_OK;
}
cwy_status opt_int(const cwy_options*, const char*, int64_t* out) {
  *out = 0;
  return CWY_OK;
}

}  // namespace

extern "C" CWY_EXPORT cwy_status cwy_conduit_init_v2(const cwy_services* core,
                                                     const cwyc_module** out, cwy_err* err) {
  void* const library = ::dlopen(ADAPTER_WRAPS, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return CWY_ERR_UNSUPPORTED;
  const auto init = reinterpret_cast<cwy_conduit_init_fn>(::dlsym(library, CWY_CONDUIT_INIT_NAME));
  if (init == nullptr) return CWY_ERR_UNSUPPORTED;
  services = *core;
  services.opt_string = opt_string;
  services.opt_size = opt_size;
  services.opt_int = opt_int;
  const cwy_status status = init(&services, &shm, err);
  if (status != CWY_OK) return status;
  if (shm->ops_count > kTables) return CWY_ERR_UNSUPPORTED;
  module = *shm;
  for (uint32_t i = 0; i < shm->ops_count; ++i) {
    tables[i] = *shm->ops[i];
    tables[i].atomic = atomic;
    table_pointers[i] = &tables[i];
  }
  module.ops = table_pointers;
  module.ep_query = ep_query;
  *out = &module;
  return CWY_OK;
}
