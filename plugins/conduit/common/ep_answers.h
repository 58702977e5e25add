// Writes the answers of ep_query, ep_address and rkey_pack into the core's memory.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <causeway/conduit.h>

#include <cstring>

#include "../../common/known_part.h"
#include "../../common/plugin_error.h"

namespace causeway {

inline cwy_status give_attributes(const cwyc_ep_attr& all, cwyc_ep_attr* attr) {
  give_known_part(all, attr);
  return CWY_OK;
}

// Tells a key that was damaged on its way from a whole one, where nobody on the owner's side looks
// at a key (FNV-1a). It keeps nobody out.
inline uint64_t sum_of(const void* bytes, size_t length, uint64_t sum = 14695981039346656037u) {
  const auto* const at = static_cast<const unsigned char*>(bytes);
  for (size_t i = 0; i < length; ++i) sum = (sum ^ at[i]) * 1099511628211u;
  return sum;
}

// `bytes` of one size; *len is the room there is, and then what they take.
template <class Bytes>
cwy_status give_bytes(const char* what, const Bytes& bytes, void* buf, uint64_t* len,
                      cwy_err* err) {
  const uint64_t room = *len;
  *len = sizeof bytes;
  if (room < sizeof bytes)
    return report(err, CWY_ERR_INVALID, "%s of this conduit needs %zu bytes", what, sizeof bytes);
  std::memcpy(buf, &bytes, sizeof bytes);
  return CWY_OK;
}
template <class Address>
cwy_status give_address(const Address& address, void* buf, uint64_t* len, cwy_err* err) {
  return give_bytes("an address", address, buf, len, err);
}
template <class Rkey>
cwy_status give_rkey(const Rkey& rkey, void* buf, uint64_t* len, cwy_err* err) {
  return give_bytes("an rkey", rkey, buf, len, err);
}

}  // namespace causeway
