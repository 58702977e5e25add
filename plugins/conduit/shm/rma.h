// Moving bytes to and from a peer's memory: through the mapping, or by cross-memory attach.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>

#include "endpoint.h"

namespace causeway::shm {

// A span that does not lie in the rkey's memory is the caller's mistake, never a stray store.
inline bool inside(const cwyc_rkey& rkey, uint64_t raddr, size_t length) {
  const uint64_t offset = raddr - rkey.base;
  return offset <= rkey.length && length <= rkey.length - offset;
}

inline char* local_pointer(const cwyc_rkey& rkey, uint64_t raddr) {
  return reinterpret_cast<char*>(raddr + static_cast<uint64_t>(rkey.delta));
}

// Cross-memory attach; all of it or an error.
cwy_status cross_write(uint32_t pid, uint64_t raddr, const void* src, size_t length);
cwy_status cross_read(uint32_t pid, uint64_t raddr, void* dst, size_t length);

inline cwy_status write_remote(const cwyc_rkey& rkey, uint64_t raddr, const void* src,
                               size_t length) {
  if (__builtin_expect(!inside(rkey, raddr, length), 0)) return CWY_ERR_INVALID;
  if (__builtin_expect(rkey.mapped, 1)) {  // a peer may be oneself: the two may overlap
    std::memmove(local_pointer(rkey, raddr), src, length);
    return CWY_OK;
  }
  return rkey.cross_memory ? cross_write(rkey.pid, raddr, src, length) : CWY_ERR_UNSUPPORTED;
}

inline cwy_status read_remote(const cwyc_rkey& rkey, uint64_t raddr, void* dst, size_t length) {
  if (__builtin_expect(!inside(rkey, raddr, length), 0)) return CWY_ERR_INVALID;
  if (__builtin_expect(rkey.mapped, 1)) {
    std::memmove(dst, local_pointer(rkey, raddr), length);
    return CWY_OK;
  }
  return rkey.cross_memory ? cross_read(rkey.pid, raddr, dst, length) : CWY_ERR_UNSUPPORTED;
}

}  // namespace causeway::shm
