// Segments, registrations and rkeys.
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <cstddef>
#include <memory>
#include <utility>

#include "../../common/guard.h"
#include "../../common/plugin_error.h"
#include "../common/ep_answers.h"
#include "address.h"
#include "endpoint.h"
#include "numa.h"
#include "rma.h"

namespace causeway::shm {

uint64_t probe_word;

uint64_t random_word() {
  uint64_t word = 0;
  if (getrandom(&word, sizeof word, GRND_NONBLOCK) != sizeof word)
    word = services->now() ^ static_cast<uint64_t>(getpid()) << 32;
  return word | 1;
}

cwy_status Conduit::mem_alloc(cwyc_domain* domain, size_t length, void** addr, cwyc_mem** out,
                              cwy_err* err) {
  return guarded(err, [&]() -> cwy_status {
    const Options& options = domain->options;
    auto mem = std::make_unique<cwyc_mem>();
    bool huge_missing = false;
    const ObjectRequest request{length,          domain->posix,         options.huge_pages,
                                options.reserve, services->job->job_id, "a segment"};
    cwy_status status = Object::create(request, mem->object, huge_missing, err);
    if (status == CWY_OK) status = mem->object.map(*addr, mem->mapping, err);
    if (status != CWY_OK) return status;
    if (huge_missing && !domain->warned_huge.exchange(true, std::memory_order_relaxed))
      log(CWY_LOG_WARN,
          "no huge pages for a segment of %zu bytes; ordinary pages are used "
          "(raise /proc/sys/vm/nr_hugepages, or set huge_pages: never)",
          length);
    mem->base = static_cast<char*>(mem->mapping.base());
    mem->length = length;
    mem->allocated = true;
    if (options.huge_pages != HugePages::never && !mem->object.huge())
      madvise(mem->base, mem->mapping.length(), MADV_HUGEPAGE);  // where shmem_enabled permits it
    if (options.numa == Numa::interleave) interleave_nodes(mem->base, mem->mapping.length());
    if (options.numa == Numa::local) prefer_local_node(mem->base, mem->mapping.length());
    *addr = mem->base;
    *out = mem.release();
    return CWY_OK;
  });
}

cwy_status Conduit::mem_reg(cwyc_domain*, const cwy_memref* ref, cwyc_mem** out, cwy_err* err) {
  return guarded(err, [&]() -> cwy_status {
    if (ref->form != CWY_FORM_HOST_VA || ref->kind_class != CWY_MEM_HOST)
      return report(err, CWY_ERR_UNSUPPORTED, "only host memory can be registered here");
    auto mem = std::make_unique<cwyc_mem>();
    mem->base = reinterpret_cast<char*>(ref->addr);
    mem->length = ref->length;
    *out = mem.release();
    return CWY_OK;
  });
}

void Conduit::mem_release(cwyc_domain*, cwyc_mem* mem) {
  delete mem;
}

uint64_t rkey_max() {
  return sizeof(RkeyBlob);
}

cwy_status Conduit::rkey_pack(cwyc_mem* mem, void* buf, uint64_t* len, cwy_err* err) {
  RkeyBlob blob{};
  blob.magic = layout_magic;
  blob.base = reinterpret_cast<uint64_t>(mem->base);
  blob.length = mem->length;
  blob.pid = static_cast<uint32_t>(getpid());
  blob.mappable = mem->allocated ? 1 : 0;
  blob.probe_address = reinterpret_cast<uint64_t>(&probe_word);
  blob.probe_value = probe_word;
  if (mem->allocated) blob.object = mem->object.address();
  blob.sum = sum_of(&blob, travelling_bytes(blob));
  return give_travelling("an rkey", blob, buf, len, err);
}

namespace {

// Client's memory: by the kernel, if it lets us. Where it does not, the rkey is still good: its
// operations answer UNSUPPORTED and the core takes messages instead.
cwy_status open_cross_memory(const cwyc_ep* ep, const RkeyBlob& blob, cwyc_rkey& rkey,
                             cwy_err* err) {
  rkey.pid = blob.pid;
  const Cma wanted = ep->domain->options.cma;
  uint64_t seen = 0;
  if (wanted != Cma::never)
    rkey.cross_memory = cross_read(blob.pid, blob.probe_address, &seen, sizeof seen) == CWY_OK &&
                        seen == blob.probe_value;
  if (wanted == Cma::require && !rkey.cross_memory)
    return report(err, CWY_ERR_UNREACHABLE,
                  "memory of process %u cannot be read by cross-memory attach (see "
                  "/proc/sys/kernel/yama/ptrace_scope); set cma: auto to use messages instead",
                  blob.pid);
  return CWY_OK;
}

}  // namespace

cwy_status Conduit::rkey_open(cwyc_ep* ep, const cwyc_peer_desc* peer, const void* buf,
                              uint64_t len, cwyc_rkey** out, cwy_err* err) {
  return guarded(err, [&]() -> cwy_status {
    RkeyBlob blob;
    const bool shaped = take_travelling(buf, len, blob);
    const uint64_t sum = std::exchange(blob.sum, 0);
    if (!shaped || sum != sum_of(&blob, travelling_bytes(blob)) || blob.magic != layout_magic ||
        (blob.mappable != 0 && blob.object.length < blob.length))
      return report(err, CWY_ERR_INVALID, "rank %u sent an rkey that is not one of this conduit",
                    peer->peer.rank);
    auto rkey = std::make_unique<cwyc_rkey>();
    rkey->base = blob.base;
    rkey->length = blob.length;
    cwy_status status = CWY_OK;
    if (peer->same_process != 0) {
      rkey->mapped = true;
    } else if (blob.mappable != 0) {
      status = map_peer_object(blob.object, rkey->mapping, err);
      rkey->mapped = status == CWY_OK;
      rkey->delta =
          static_cast<intptr_t>(reinterpret_cast<uint64_t>(rkey->mapping.base()) - blob.base);
    } else {
      status = open_cross_memory(ep, blob, *rkey, err);
    }
    if (status == CWY_OK) *out = rkey.release();
    return status;
  });
}

cwy_status Conduit::rkey_direct(cwyc_rkey* rkey, intptr_t* delta) {
  if (!rkey->mapped) return CWY_ERR_UNSUPPORTED;
  *delta = rkey->delta;
  return CWY_OK;
}

}  // namespace causeway::shm
