// Registered memory of the core's, and rights to peers'.
#include <cerrno>
#include <cstring>
#include <new>

#include "../common/guard.h"
#include "../common/plugin_error.h"
#include "calls.h"

namespace causeway::verbs {

cwy_status mem_reg(cwyc_domain* domain, const cwy_memref* ref, cwyc_mem** out, cwy_err* err) {
  return guarded(err, [&]() -> cwy_status {
    const Pass pass(domain->gate);
    const bool host = ref->form == CWY_FORM_HOST_VA && ref->kind_class == CWY_MEM_HOST;
    const bool device = ref->form == CWY_FORM_DMABUF && domain->dmabuf;
    if (!host && !device)
      return report(err, CWY_ERR_UNSUPPORTED, "%s registers host memory%s",
                    domain->port.name.c_str(), domain->dmabuf ? " and dma-bufs only" : " only");
    if (ref->length == 0) return report(err, CWY_ERR_INVALID, "0 bytes cannot be registered");
    int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
    if (domain->port.device.atomic_cap != IBV_ATOMIC_NONE) access |= IBV_ACCESS_REMOTE_ATOMIC;
    auto mem = std::make_unique<cwyc_mem>();
    // Peers name a dma-buf's bytes by the addresses that its owner uses, too.
    mem->mr.reset(
        host ? ibv_reg_mr(domain->pd.get(), reinterpret_cast<void*>(ref->addr), ref->length, access)
             : ibv_reg_dmabuf_mr(domain->pd.get(), ref->offset, ref->length, ref->addr, ref->fd,
                                 access));
    if (mem->mr == nullptr)
      return report(err, errno == EINVAL ? CWY_ERR_INVALID : CWY_ERR_NOMEM,
                    "%s cannot register %llu bytes: %s%s", domain->port.name.c_str(),
                    static_cast<unsigned long long>(ref->length), std::strerror(errno),
                    memlock_advice().c_str());
    mem->rkey = {ref->addr, ref->length, mem->mr->rkey, host ? 1u : 0u};
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

cwy_status rkey_open(cwyc_ep*, const cwyc_peer_desc* peer, const void* buf, uint64_t len,
                     cwyc_rkey** out, cwy_err* err) {
  RkeyBlob blob;
  if (len != sizeof blob)
    return report(err, CWY_ERR_INVALID, "rank %u gave an rkey of %llu bytes; expected %zu",
                  peer->peer.rank, static_cast<unsigned long long>(len), sizeof blob);
  std::memcpy(&blob, buf, sizeof blob);
  if (blob.length == 0 || blob.base + blob.length < blob.base)
    return report(err, CWY_ERR_INVALID, "rank %u gave an rkey for no memory", peer->peer.rank);
  *out = new (std::nothrow) cwyc_rkey{blob.base, blob.length, blob.rkey, blob.host == 1};
  return *out != nullptr ? CWY_OK : report(err, CWY_ERR_NOMEM, "no memory for an rkey");
}

void rkey_close(cwyc_ep*, cwyc_rkey* rkey) {
  delete rkey;
}

}  // namespace causeway::verbs
