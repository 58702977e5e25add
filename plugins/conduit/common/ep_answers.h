// Writes the answers of ep_query and ep_address into the core's memory.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <causeway/conduit.h>

#include <cstring>

#include "../../common/plugin_error.h"

namespace causeway {

// As much of `all` as the caller's structure has room for; one that names no size is of ours.
inline cwy_status give_attributes(const cwyc_ep_attr& all, cwyc_ep_attr* attr) {
  const size_t room = attr->head.struct_size;
  std::memcpy(attr, &all, room != 0 && room < sizeof all ? room : sizeof all);
  return CWY_OK;
}

// An address of one size; *len is the room there is, and then what the address takes.
template <class Address>
cwy_status give_address(const Address& address, void* buf, uint64_t* len, cwy_err* err) {
  const uint64_t room = *len;
  *len = sizeof address;
  if (room < sizeof address)
    return report(err, CWY_ERR_INVALID, "an address of this conduit needs %zu bytes",
                  sizeof address);
  std::memcpy(buf, &address, sizeof address);
  return CWY_OK;
}

}  // namespace causeway
