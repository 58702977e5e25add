// Registrations: of segments, of the conduit's own buffers, and of local buffers on the way.
#include <rdma/fi_atomic.h>

#include <cstdlib>

#include "../../common/plugin_error.h"
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

bool Network::register_slab(cwyc_domain* domain, void* base, size_t length, Registration& out) {
  return !domain->path.local_mr || fabric::register_with_room(*domain, [&] {
    return register_memory(domain, base, length, local_access, CWY_MEM_HOST, -1, out) == 0;
  });
}

int Network::register_buffer(cwyc_domain* domain, void* base, size_t length, fabric::Access access,
                             Registration& out) {
  const uint64_t wanted = access == fabric::Access::read ? source_access : local_access;
  return register_memory(domain, base, length, wanted, CWY_MEM_HOST, -1, out);
}

void* Network::key_of(const cwyc_mem& mem) {
  return mem.desc;
}

void Network::tell_unregistered(const cwyc_ep* ep, size_t length, int error) {
  log(CWY_LOG_ERROR, "provider %s cannot register a buffer of %zu bytes: %s; see ulimit -l",
      ep->domain->path.provider.c_str(), length, fi_strerror(std::abs(error)));
}

cwy_status Network::may_register(const cwyc_domain* domain, cwy_err* err) {
  if (domain->can_put) return CWY_OK;
  return report(err, CWY_ERR_UNSUPPORTED, "puts go over active messages here (delivery)");
}

cwyc_rkey Network::rkey_of(const RkeyBlob& blob) {
  return {blob.base, blob.length, blob.origin, blob.key, blob.host == 1};
}

cwy_status Network::register_segment(cwyc_domain* domain, const cwy_memref& ref, cwyc_mem& mem,
                                     cwy_err* err) {
  const bool host = ref.form == CWY_FORM_HOST_VA && ref.kind_class == CWY_MEM_HOST;
  const bool device = ref.form == CWY_FORM_DEVICE_VA && domain->options.hmem &&
                      (domain->path.info->caps & FI_HMEM) != 0;
  if (!host && !device)
    return report(err, CWY_ERR_UNSUPPORTED, "provider %s registers host memory only%s",
                  domain->path.provider.c_str(),
                  domain->options.hmem ? "" : " (device memory was not asked for: hmem: true)");
  void* base = reinterpret_cast<void*>(ref.addr);
  int error = 0;
  fabric::register_with_room(*domain, [&] {
    error = register_memory(domain, base, ref.length, segment_access, ref.kind_class, ref.device,
                            mem.mr);
    return error == 0 || error == -FI_EINVAL;
  });
  if (error != 0)
    return report(err, error == -FI_EINVAL ? CWY_ERR_UNSUPPORTED : CWY_ERR_NOMEM,
                  "provider %s cannot register %llu bytes: %s; see ulimit -l",
                  domain->path.provider.c_str(), static_cast<unsigned long long>(ref.length),
                  fi_strerror(-error));
  mem.desc = fi_mr_desc(mem.mr.get());
  const bool virtual_address = (domain->path.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0;
  mem.rkey = {ref.addr, ref.length, virtual_address ? ref.addr : 0, fi_mr_key(mem.mr.get()),
              host ? 1u : 0u};
  return CWY_OK;
}

}  // namespace causeway::ofi
