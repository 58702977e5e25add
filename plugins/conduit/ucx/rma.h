// How a posted operation is described to UCX.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ucp/api/ucp.h>

#include "endpoint.h"

namespace causeway::ucx {

// `lmem` says what kind of memory the local buffer is; without it is the host's. Told so, UCX need
// not look.
inline void describe(ucp_request_param_t& param, Slot* slot, const cwyc_mem* lmem) {
  param.op_attr_mask =
      UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_MEMORY_TYPE;
  param.cb.send = slot_done;
  param.user_data = slot;
  param.memory_type = lmem == nullptr ? UCS_MEMORY_TYPE_HOST : lmem->type;
}

// Can the processor read the local buffer?
inline bool is_host(const cwyc_mem* lmem) {
  return lmem == nullptr || lmem->type == UCS_MEMORY_TYPE_HOST;
}
// Bytes of a source that it can read.
inline size_t readable_bytes(const cwyc_mem* lmem, size_t length) {
  return is_host(lmem) ? length : 0;
}

}  // namespace causeway::ucx
