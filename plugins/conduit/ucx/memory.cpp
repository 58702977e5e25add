// Segments, registrations and packed keys.
#include <cstddef>
#include <cstring>
#include <memory>

#include "../common/ep_answers.h"
#include "domain.h"
#include "endpoint.h"
#include "guard.h"
#include "services.h"
#include "wire.h"

namespace causeway::ucx {
namespace {

cwy_status map(cwyc_domain* domain, const ucp_mem_map_params_t& params, cwyc_mem& mem,
               const char* purpose, cwy_err* err) {
  mem.domain = domain;
  forget_complaint();
  const ucs_status_t status = ucp_mem_map(domain->context, &params, &mem.handle);
  if (status == UCS_OK) return CWY_OK;
  const cwy_status answer = to_cwy(status);
  return report(err, answer == CWY_ERR_PEER_FAILED ? CWY_ERR_NOMEM : answer,
                "UCX cannot %s %zu bytes: %s", purpose, params.length, explain(status).c_str());
}

bool memory_type_of(uint32_t kind_class, ucs_memory_type_t& out) {
  switch (kind_class) {
    case CWY_MEM_HOST:
      out = UCS_MEMORY_TYPE_HOST;
      return true;
    case CWY_MEM_CUDA:
      out = UCS_MEMORY_TYPE_CUDA;
      return true;
    case CWY_MEM_HIP:
      out = UCS_MEMORY_TYPE_ROCM;
      return true;
    default:
      return false;
  }
}

}  // namespace

cwy_status Conduit::mem_alloc(cwyc_domain* domain, size_t length, void** addr, cwyc_mem** out,
                              cwy_err* err) {
  return guarded(err, [&]() -> cwy_status {
    const cwy_status allowed = demand_file_size(*domain, length, err);
    if (allowed != CWY_OK) return allowed;
    auto mem = std::make_unique<cwyc_mem>();
    ucp_mem_map_params_t params{};
    params.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS;
    params.length = length;
    params.flags = UCP_MEM_MAP_ALLOCATE;
    const cwy_status status = map(domain, params, *mem, "allocate", err);
    if (status != CWY_OK) return status;
    ucp_mem_attr_t attr{};
    attr.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS | UCP_MEM_ATTR_FIELD_LENGTH;
    if (ucp_mem_query(mem->handle, &attr) != UCS_OK || attr.length < length) {
      ucp_mem_unmap(domain->context, mem->handle);
      return report(err, CWY_ERR_NOMEM, "UCX does not say where its %zu bytes lie", length);
    }
    mem->base = reinterpret_cast<uint64_t>(attr.address);
    mem->length = length;
    if (domain->shared_memory) mem->object = shared_object_at(attr.address);
    *addr = attr.address;
    *out = mem.release();
    return CWY_OK;
  });
}

cwy_status Conduit::mem_reg(cwyc_domain* domain, const cwy_memref* ref, cwyc_mem** out,
                            cwy_err* err) {
  return guarded(err, [&]() -> cwy_status {
    auto mem = std::make_unique<cwyc_mem>();
    if ((ref->form != CWY_FORM_HOST_VA && ref->form != CWY_FORM_DEVICE_VA) ||
        !memory_type_of(ref->kind_class, mem->type) || (domain->memory_types >> mem->type & 1) == 0)
      return report(err, CWY_ERR_UNSUPPORTED,
                    "this build of UCX does not reach memory of that kind in that form");
    mem->base = ref->addr;
    mem->length = ref->length;
    ucp_mem_map_params_t params{};
    params.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                        UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE;
    params.address = reinterpret_cast<void*>(ref->addr);
    params.length = ref->length;
    params.memory_type = mem->type;
    const cwy_status status = map(domain, params, *mem, "register", err);
    if (status == CWY_OK) *out = mem.release();
    return status;
  });
}

void Conduit::mem_release(cwyc_domain* domain, cwyc_mem* mem) {
  if (mem == nullptr) return;
  const SignalsBlocked blocked;
  ucp_mem_unmap(domain->context, mem->handle);
  delete mem;
}

uint64_t sum_of_key(const RkeyHeader& header, const void* key) {
  return sum_of(key, header.ucx_length, sum_of(&header, offsetof(RkeyHeader, sum)));
}

cwy_status Conduit::rkey_pack(cwyc_mem* mem, void* buf, uint64_t* len, cwy_err* err) {
  return guarded(err, [&]() -> cwy_status {
    void* key = nullptr;
    size_t length = 0;
    forget_complaint();
    const ucs_status_t status = ucp_rkey_pack(mem->domain->context, mem->handle, &key, &length);
    if (status != UCS_OK)
      return report(err, CWY_ERR_UNSUPPORTED, "UCX cannot pack the key of this memory: %s",
                    explain(status).c_str());
    const uint64_t room = *len;
    *len = sizeof(RkeyHeader) + length;
    cwy_status answer = CWY_OK;
    if (room < *len) {
      answer = report(err, CWY_ERR_INVALID, "this key needs %llu bytes, not %llu",
                      static_cast<unsigned long long>(*len), static_cast<unsigned long long>(room));
    } else {
      RkeyHeader header{wire_magic,
                        static_cast<uint32_t>(length),
                        mem->base,
                        mem->length,
                        mem->type == UCS_MEMORY_TYPE_HOST ? 1u : 0u,
                        mem->object,
                        0};
      header.sum = sum_of_key(header, key);
      std::memcpy(buf, &header, sizeof header);
      std::memcpy(static_cast<char*>(buf) + sizeof header, key, length);
    }
    ucp_rkey_buffer_release(key);
    return answer;
  });
}

}  // namespace causeway::ucx
