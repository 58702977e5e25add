// Registrations: of segments, of the conduit's own buffers, and of local buffers on the way.
#include <rdma/fi_atomic.h>

#include <cstring>

#include "../common/guard.h"
#include "../common/plugin_error.h"
#include "calls.h"

namespace causeway::ofi {
namespace {

constexpr uint64_t segment_access =
    FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE | FI_SEND | FI_RECV;
constexpr uint64_t local_access = FI_READ | FI_WRITE | FI_SEND | FI_RECV;
constexpr uint64_t source_access = FI_WRITE | FI_SEND;

bool hmem_iface(uint32_t kind_class, fi_hmem_iface& out) {
  switch (kind_class) {
    case CWY_MEM_HOST:
      out = FI_HMEM_SYSTEM;
      return true;
    case CWY_MEM_CUDA:
      out = FI_HMEM_CUDA;
      return true;
    case CWY_MEM_HIP:
      out = FI_HMEM_ROCR;
      return true;
    case CWY_MEM_ZE:
      out = FI_HMEM_ZE;
      return true;
    default:
      return false;
  }
}

void set_device(fi_mr_attr& attr, int32_t device) {
  attr.device.reserved = 0;
  if (attr.iface == FI_HMEM_CUDA) attr.device.cuda = device;
  if (attr.iface == FI_HMEM_ZE) attr.device.ze = device;
}

}  // namespace

int register_memory(cwyc_domain* domain, void* base, size_t length, uint64_t access,
                    uint32_t kind_class, int32_t device, Fid<fid_mr>& out) {
  iovec piece{base, length};
  fi_mr_attr attr{};
  attr.mr_iov = &piece;
  attr.iov_count = 1;
  attr.access = access;
  // Ignored where the provider chooses keys.
  attr.requested_key = domain->next_key++;
  if (!hmem_iface(kind_class, attr.iface)) return -FI_EINVAL;
  set_device(attr, device);
  fid_mr* mr = nullptr;
  int error = fi_mr_regattr(domain->domain.get(), &attr, 0, &mr);
  if (error != 0) return error;
  out.reset(mr);
  if (!domain->path.endpoint_mr) return 0;
  // Such memory belongs to one endpoint; ep_open refuses a second one.
  if (domain->eps.empty()) return -FI_EOPBADSTATE;
  error = fi_mr_bind(mr, &domain->eps.front()->datagram->fid, 0);
  return error != 0 ? error : fi_mr_enable(mr);
}

namespace {

void unkeep(KeptLeases& kept, Lease& lease) {
  (lease.older != nullptr ? lease.older->newer : kept.oldest) = lease.newer;
  (lease.newer != nullptr ? lease.newer->older : kept.newest) = lease.older;
  lease.older = lease.newer = nullptr;
  --kept.count;
  kept.bytes -= lease.length;
}

// Ends the registration of a lease without users that is not among those kept.
void end_lease(cwyc_domain* domain, Lease* lease) {
  const auto [first, last] = domain->leases.equal_range(lease->base);
  for (auto at = first; at != last; ++at) {
    if (at->second.get() != lease) continue;
    domain->leases.erase(at);
    return;
  }
}

// Ends the leases longest unused until no more than so many are kept.
void evict(cwyc_domain* domain, uint64_t count, uint64_t bytes) {
  KeptLeases& kept = domain->kept;
  while (kept.count > count || kept.bytes > bytes) {
    Lease* const lease = kept.oldest;
    unkeep(kept, *lease);
    end_lease(domain, lease);
  }
}

// A lease whose last operation has ended stays for the next one.
void keep(cwyc_domain* domain, Lease* lease) {
  KeptLeases& kept = domain->kept;
  lease->older = kept.newest;
  (kept.newest != nullptr ? kept.newest->newer : kept.oldest) = lease;
  kept.newest = lease;
  ++kept.count;
  kept.bytes += lease->length;
  const Options& options = domain->options;
  evict(domain, options.registration_cache_entries, options.registration_cache_bytes);
}

// Registers a buffer; where there is no room for another registration, in place of what is kept
// and not used.
int register_lease(Lease& lease, cwyc_domain* domain, const void* from, uint64_t access) {
  const auto attempt = [&] {
    return register_memory(domain, const_cast<void*>(from), lease.length, access, CWY_MEM_HOST, -1,
                           lease.mr);
  };
  const int error = attempt();
  if (error == 0 || error == -FI_EFAULT || domain->kept.count == 0) return error;
  evict(domain, 0, 0);
  return attempt();
}

}  // namespace

Lease* take_lease(cwyc_domain* domain, const void* base, size_t length, bool write, int& error) {
  const auto begin = reinterpret_cast<uint64_t>(base);
  // Neighbours that begin at or before `begin` are looked at while they are near; a program that
  // reuses buffers meets its lease at once.
  auto at = domain->leases.upper_bound(begin);
  for (int looked = 0; at != domain->leases.begin() && looked < 8; ++looked) {
    --at;
    Lease& lease = *at->second;
    if (begin + length <= lease.base + lease.length && (lease.writable || !write)) {
      if (lease.users++ == 0) unkeep(domain->kept, lease);
      return &lease;
    }
  }
  auto lease = std::make_unique<Lease>();
  const auto attempt = [&](const void* from, uint64_t access) {
    return register_lease(*lease, domain, from, access);
  };
  lease->base = begin;
  lease->length = length;
  error = attempt(base, local_access);
  lease->writable = error == 0;
  if (error != 0 && !write) error = attempt(base, source_access);  // constants
  // `verbs` has the adapter write to whatever is registered, and constants do not allow that.
  if (error != 0 && !write) lease->copy.reset(new (std::nothrow) char[length]);
  if (lease->copy != nullptr) {
    std::memcpy(lease->copy.get(), base, length);
    lease->base = reinterpret_cast<uint64_t>(lease->copy.get());
    error = attempt(lease->copy.get(), local_access);
  }
  if (error != 0) return nullptr;
  lease->users = 1;
  const uint64_t key = lease->base;
  return domain->leases.emplace(key, std::move(lease))->second.get();
}

void give_back_lease(cwyc_domain* domain, Lease* lease) {
  if (--lease->users != 0) return;
  const bool kept = domain->options.registration_cache == RegistrationCache::keep;
  if (kept && lease->copy == nullptr) return keep(domain, lease);
  end_lease(domain, lease);
}

cwy_status mem_reg(cwyc_domain* domain, const cwy_memref* ref, cwyc_mem** out, cwy_err* err) {
  return guarded(err, [&]() -> cwy_status {
    const Pass pass(domain->gate);
    if (!domain->can_put)
      return report(err, CWY_ERR_UNSUPPORTED, "puts go over active messages here (delivery)");
    const bool host = ref->form == CWY_FORM_HOST_VA && ref->kind_class == CWY_MEM_HOST;
    const bool device = ref->form == CWY_FORM_DEVICE_VA && domain->options.hmem &&
                        (domain->path.info->caps & FI_HMEM) != 0;
    if (!host && !device)
      return report(err, CWY_ERR_UNSUPPORTED, "provider %s registers host memory only%s",
                    domain->path.provider.c_str(),
                    domain->options.hmem ? "" : " (device memory was not asked for: hmem: true)");
    auto mem = std::make_unique<cwyc_mem>();
    void* base = reinterpret_cast<void*>(ref->addr);
    if (ref->length == 0) return report(err, CWY_ERR_INVALID, "0 bytes cannot be registered");
    const int error = register_memory(domain, base, ref->length, segment_access, ref->kind_class,
                                      ref->device, mem->mr);
    if (error != 0)
      return report(err, error == -FI_EINVAL ? CWY_ERR_UNSUPPORTED : CWY_ERR_NOMEM,
                    "provider %s cannot register %llu bytes: %s; see ulimit -l",
                    domain->path.provider.c_str(), static_cast<unsigned long long>(ref->length),
                    fi_strerror(-error));
    mem->domain = domain;
    mem->host = host;
    mem->desc = fi_mr_desc(mem->mr.get());
    const bool virtual_address = (domain->path.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0;
    mem->rkey = {ref->addr, ref->length, virtual_address ? ref->addr : 0, fi_mr_key(mem->mr.get()),
                 host ? 1u : 0u};
    domain->mems.push_back(mem.get());
    *out = mem.release();
    return CWY_OK;
  });
}

void mem_release(cwyc_domain* domain, cwyc_mem* mem) {
  if (mem == nullptr) return;
  const Pass pass(domain->gate);
  std::erase(domain->mems, mem);
  delete mem;
}

cwy_status rkey_pack(cwyc_mem* mem, void* buf, uint64_t* len, cwy_err* err) {
  if (*len < sizeof mem->rkey) {
    *len = sizeof mem->rkey;
    return report(err, CWY_ERR_INVALID, "an rkey of this conduit needs %zu bytes",
                  sizeof mem->rkey);
  }
  std::memcpy(buf, &mem->rkey, sizeof mem->rkey);
  *len = sizeof mem->rkey;
  return CWY_OK;
}

cwy_status rkey_open(cwyc_ep* ep, const cwyc_peer_desc* peer, const void* buf, uint64_t len,
                     cwyc_rkey** out, cwy_err* err) {
  RkeyBlob blob;
  if (len != sizeof blob)
    return report(err, CWY_ERR_INVALID, "rank %u gave an rkey of %llu bytes; expected %zu",
                  peer->peer.rank, static_cast<unsigned long long>(len), sizeof blob);
  std::memcpy(&blob, buf, sizeof blob);
  if (blob.length == 0 || blob.base + blob.length < blob.base)
    return report(err, CWY_ERR_INVALID, "rank %u gave an rkey for no memory", peer->peer.rank);
  if (!ep->domain->can_put)
    return report(err, CWY_ERR_UNSUPPORTED, "puts go over active messages here (delivery)");
  *out =
      new (std::nothrow) cwyc_rkey{blob.base, blob.length, blob.origin, blob.key, blob.host == 1};
  return *out != nullptr ? CWY_OK : report(err, CWY_ERR_NOMEM, "no memory for an rkey");
}

void rkey_close(cwyc_ep*, cwyc_rkey* rkey) {
  delete rkey;
}

}  // namespace causeway::ofi
