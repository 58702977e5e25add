// Stands in front of UCX (LD_PRELOAD) where no transport of its reaches a device: claims the memory
// types of CUDA and ROCm, and holds the conduit to them. Memory of a stand-in's device has to be
// registered as its type, and every buffer that lies there has to be named so; then the operation
// is passed on with the bytes that only the stand-in's driver reaches, as the host's. So the
// conduit's own part runs: what it registers, publishes and says of each buffer, and that it looks
// at none of the bytes itself (device addresses fault). What UCX does with a real device, this does
// not show.
//
// A key carries how far the owner's bytes are from the addresses that its peers use.
//
// SPDX-License-Identifier: BSD-3-Clause
#include <dlfcn.h>
#include <ucp/api/ucp.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "behind.h"

namespace {

template <typename Fn>
Fn* real(const char* name) {
  return behind<Fn>("libucp.so.0", name);
}

[[noreturn]] void refuse(const char* call, const char* what) {
  std::fprintf(stderr, "ucp stand-in: %s: %s\n", call, what);
  std::abort();
}

struct Driver {
  const char* library;
  ucs_memory_type_t type;
};
constexpr Driver drivers[] = {{"libcuda.so.1", UCS_MEMORY_TYPE_CUDA},
                              {"libamdhip64.so.5", UCS_MEMORY_TYPE_ROCM}};

struct Place {
  ucs_memory_type_t type = UCS_MEMORY_TYPE_HOST;
  char* bytes = nullptr;
};

// Where the bytes of a buffer are, and what type of memory it is.
Place find(const char* call, const void* at, size_t length) {
  Place place;
  place.bytes = static_cast<char*>(const_cast<void*>(at));
  if (at == nullptr || length == 0) return place;
  for (const Driver& driver : drivers) {
    void* const library = dlopen(driver.library, RTLD_NOW | RTLD_NOLOAD);
    if (library == nullptr) continue;
    using Bytes = void*(const void*, size_t);
    auto* const bytes = reinterpret_cast<Bytes*>(dlsym(library, "causeway_standin_bytes"));
    void* const found = bytes != nullptr ? bytes(at, length) : place.bytes;
    dlclose(library);
    if (found == nullptr) refuse(call, "the buffer leaves the device's memory");
    if (found == at) continue;
    place.type = driver.type;
    place.bytes = static_cast<char*>(found);
  }
  return place;
}

std::mutex g_mutex;  // of the maps; a test has time
std::map<const void*, int64_t> g_registered, g_rights;

int64_t distance(const std::map<const void*, int64_t>& in, const void* key) {
  const std::lock_guard lock(g_mutex);
  const auto found = in.find(key);
  return found != in.end() ? found->second : 0;
}
void note(std::map<const void*, int64_t>& in, const void* key, int64_t away) {
  const std::lock_guard lock(g_mutex);
  if (away != 0) in[key] = away;
}
void forget(std::map<const void*, int64_t>& in, const void* key) {
  const std::lock_guard lock(g_mutex);
  in.erase(key);
}

// Says, once, what the test looks for.
struct Counts {
  unsigned puts = 0, gets = 0;
} g_counts;
void count(ucs_memory_type_t local, int64_t remote, unsigned Counts::*use) {
  if (local == UCS_MEMORY_TYPE_HOST && remote == 0) return;
  const std::lock_guard lock(g_mutex);
  if (g_counts.*use += 1; g_counts.*use == 1 && g_counts.puts != 0 && g_counts.gets != 0)
    std::fprintf(stderr, "ucp stand-in: puts and gets of device memory\n");
}

// The operation's description as UCX is to have it.
struct Description {
  ucp_request_param_t param;
  Place place;
  Description(const char* call, const void* buffer, size_t length, const ucp_request_param_t* said)
      : param(*said), place(find(call, buffer, length)) {
    const bool named = (param.op_attr_mask & UCP_OP_ATTR_FIELD_MEMORY_TYPE) != 0;
    if (!named && place.type != UCS_MEMORY_TYPE_HOST)
      refuse(call, "a buffer in device memory without a type");
    if (named && length != 0 && param.memory_type != place.type)
      refuse(call, "a buffer of another memory type than was said");
    if (named) param.memory_type = UCS_MEMORY_TYPE_HOST;
  }
};

// A put or get as UCX is to have it, counted.
struct Transfer {
  Description local;
  uint64_t remote;
  Transfer(const char* call, const void* buffer, size_t length, uint64_t raddr, ucp_rkey_h rkey,
           const ucp_request_param_t* said, unsigned Counts::*use)
      : local(call, buffer, length, said) {
    const int64_t away = distance(g_rights, rkey);
    count(local.place.type, away, use);
    remote = raddr + static_cast<uint64_t>(away);
  }
};

}  // namespace

extern "C" {

ucs_status_t ucp_context_query(ucp_context_h context, ucp_context_attr_t* attr) {
  static auto* const next = real<decltype(ucp_context_query)>("ucp_context_query");
  const ucs_status_t status = next(context, attr);
  if (status == UCS_OK && (attr->field_mask & UCP_ATTR_FIELD_MEMORY_TYPES) != 0)
    for (const Driver& driver : drivers) attr->memory_types |= uint64_t{1} << driver.type;
  return status;
}

ucs_status_t ucp_mem_map(ucp_context_h context, const ucp_mem_map_params_t* params,
                         ucp_mem_h* out) {
  static auto* const next = real<decltype(ucp_mem_map)>("ucp_mem_map");
  if ((params->field_mask & UCP_MEM_MAP_PARAM_FIELD_ADDRESS) == 0)
    return next(context, params, out);
  const Place place = find("ucp_mem_map", params->address, params->length);
  ucp_mem_map_params_t passed = *params;
  const bool named = (params->field_mask & UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE) != 0;
  if (place.type != (named ? params->memory_type : UCS_MEMORY_TYPE_HOST))
    refuse("ucp_mem_map", "memory of another type than was said");
  if (named) passed.memory_type = UCS_MEMORY_TYPE_HOST;
  passed.address = place.bytes;
  const ucs_status_t status = next(context, &passed, out);
  if (status == UCS_OK) note(g_registered, *out, place.bytes - static_cast<char*>(params->address));
  return status;
}

ucs_status_t ucp_mem_unmap(ucp_context_h context, ucp_mem_h memory) {
  static auto* const next = real<decltype(ucp_mem_unmap)>("ucp_mem_unmap");
  forget(g_registered, memory);
  return next(context, memory);
}

// Behind the distance comes UCX's own key.
ucs_status_t ucp_rkey_pack(ucp_context_h context, ucp_mem_h memory, void** out, size_t* length) {
  static auto* const next = real<decltype(ucp_rkey_pack)>("ucp_rkey_pack");
  static auto* const release = real<decltype(ucp_rkey_buffer_release)>("ucp_rkey_buffer_release");
  void* key = nullptr;
  size_t bytes = 0;
  const ucs_status_t status = next(context, memory, &key, &bytes);
  if (status != UCS_OK) return status;
  const int64_t away = distance(g_registered, memory);
  auto* const whole = static_cast<char*>(std::malloc(sizeof away + bytes));
  if (whole == nullptr) std::abort();
  std::memcpy(whole, &away, sizeof away);
  std::memcpy(whole + sizeof away, key, bytes);
  release(key);
  *out = whole;
  *length = sizeof away + bytes;
  return UCS_OK;
}

void ucp_rkey_buffer_release(void* key) {
  std::free(key);
}

ucs_status_t ucp_ep_rkey_unpack(ucp_ep_h ep, const void* key, ucp_rkey_h* out) {
  static auto* const next = real<decltype(ucp_ep_rkey_unpack)>("ucp_ep_rkey_unpack");
  int64_t away = 0;
  std::memcpy(&away, key, sizeof away);
  const ucs_status_t status = next(ep, static_cast<const char*>(key) + sizeof away, out);
  if (status == UCS_OK) note(g_rights, *out, away);
  return status;
}

void ucp_rkey_destroy(ucp_rkey_h rkey) {
  static auto* const next = real<decltype(ucp_rkey_destroy)>("ucp_rkey_destroy");
  forget(g_rights, rkey);
  next(rkey);
}

ucs_status_t ucp_rkey_ptr(ucp_rkey_h rkey, uint64_t raddr, void** out) {
  static auto* const next = real<decltype(ucp_rkey_ptr)>("ucp_rkey_ptr");
  return distance(g_rights, rkey) != 0 ? UCS_ERR_UNREACHABLE : next(rkey, raddr, out);
}

ucs_status_ptr_t ucp_put_nbx(ucp_ep_h ep, const void* buffer, size_t length, uint64_t raddr,
                             ucp_rkey_h rkey, const ucp_request_param_t* param) {
  static auto* const next = real<decltype(ucp_put_nbx)>("ucp_put_nbx");
  const Transfer t("ucp_put_nbx", buffer, length, raddr, rkey, param, &Counts::puts);
  return next(ep, t.local.place.bytes, length, t.remote, rkey, &t.local.param);
}

ucs_status_ptr_t ucp_get_nbx(ucp_ep_h ep, void* buffer, size_t length, uint64_t raddr,
                             ucp_rkey_h rkey, const ucp_request_param_t* param) {
  static auto* const next = real<decltype(ucp_get_nbx)>("ucp_get_nbx");
  const Transfer t("ucp_get_nbx", buffer, length, raddr, rkey, param, &Counts::gets);
  return next(ep, t.local.place.bytes, length, t.remote, rkey, &t.local.param);
}

ucs_status_ptr_t ucp_atomic_op_nbx(ucp_ep_h ep, ucp_atomic_op_t op, const void* buffer,
                                   size_t items, uint64_t raddr, ucp_rkey_h rkey,
                                   const ucp_request_param_t* param) {
  static auto* const next = real<decltype(ucp_atomic_op_nbx)>("ucp_atomic_op_nbx");
  const int64_t away = distance(g_rights, rkey);
  return next(ep, op, buffer, items, raddr + static_cast<uint64_t>(away), rkey, param);
}

ucs_status_ptr_t ucp_am_send_nbx(ucp_ep_h ep, unsigned id, const void* header, size_t header_length,
                                 const void* buffer, size_t length,
                                 const ucp_request_param_t* param) {
  static auto* const next = real<decltype(ucp_am_send_nbx)>("ucp_am_send_nbx");
  const Description d("ucp_am_send_nbx", buffer, length, param);
  return next(ep, id, header, header_length, d.place.bytes, length, &d.param);
}

}  // extern "C"
