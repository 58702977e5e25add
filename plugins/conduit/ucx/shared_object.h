// The object behind memory that UCX shares, as processes of its host see it.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace causeway::ucx {

struct SharedObject {
  uint64_t inode = 0;       // 0: not known, or memory of another kind
  uint64_t descriptor = 0;  // of the owner, by which UCX finds it
};

// Of this process's memory.
SharedObject shared_object_at(const void* address);
// Whether process `pid` still has it.
bool has_object(uint32_t pid, const SharedObject& object);

}  // namespace causeway::ucx
