// Registrations: of segments, of the conduit's own buffers, and of local buffers on the way.
#include <cerrno>
#include <cstring>

#include "../../common/plugin_error.h"
#include "calls.h"

namespace causeway::verbs {

// What registrations of local buffers allow. An int: the macro ibv_reg_mr compares what it is given
// with another enumeration.
constexpr int local_access = IBV_ACCESS_LOCAL_WRITE;

bool Network::register_slab(cwyc_domain* domain, void* base, size_t length, Registration& out) {
  return fabric::register_with_room(*domain, [&] {
    out.reset(ibv_reg_mr(domain->pd.get(), base, length, local_access));
    return out != nullptr;
  });
}

int Network::register_buffer(cwyc_domain* domain, void* base, size_t length, fabric::Access access,
                             Registration& out) {
  const int wanted = access == fabric::Access::read ? 0 : local_access;
  out.reset(ibv_reg_mr(domain->pd.get(), base, length, wanted));
  return out != nullptr ? 0 : errno != 0 ? errno : ENOMEM;
}

uint32_t Network::key_of(const cwyc_mem& mem) {
  return mem.mr->lkey;
}

void Network::tell_unregistered(const cwyc_ep* ep, size_t length, int error) {
  log(CWY_LOG_ERROR, "%s cannot register a buffer of %zu bytes: %s%s",
      ep->domain->port.name.c_str(), length, std::strerror(error), memlock_advice().c_str());
}

cwyc_rkey Network::rkey_of(const RkeyBlob& blob) {
  return {blob.base, blob.length, blob.rkey, blob.host == 1};
}

cwy_status Network::register_segment(cwyc_domain* domain, const cwy_memref& ref, cwyc_mem& mem,
                                     cwy_err* err) {
  const bool host = ref.form == CWY_FORM_HOST_VA && ref.kind_class == CWY_MEM_HOST;
  const bool device = ref.form == CWY_FORM_DMABUF && domain->dmabuf;
  if (!host && !device)
    return report(err, CWY_ERR_UNSUPPORTED, "%s registers host memory%s", domain->port.name.c_str(),
                  domain->dmabuf ? " and dma-bufs only" : " only");
  int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
  if (domain->port.device.atomic_cap != IBV_ATOMIC_NONE) access |= IBV_ACCESS_REMOTE_ATOMIC;
  // Peers name a dma-buf's bytes by the addresses that its owner uses, too.
  fabric::register_with_room(*domain, [&] {
    mem.mr.reset(
        host ? ibv_reg_mr(domain->pd.get(), reinterpret_cast<void*>(ref.addr), ref.length, access)
             : ibv_reg_dmabuf_mr(domain->pd.get(), ref.offset, ref.length, ref.addr, ref.fd,
                                 access));
    return mem.mr != nullptr || errno == EINVAL;
  });
  if (mem.mr == nullptr)
    return report(err, errno == EINVAL ? CWY_ERR_INVALID : CWY_ERR_NOMEM,
                  "%s cannot register %llu bytes: %s%s", domain->port.name.c_str(),
                  static_cast<unsigned long long>(ref.length), std::strerror(errno),
                  memlock_advice().c_str());
  mem.rkey = {ref.addr, ref.length, mem.mr->rkey, host ? 1u : 0u};
  return CWY_OK;
}

}  // namespace causeway::verbs
