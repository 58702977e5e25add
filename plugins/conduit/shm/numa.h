// Where pages of a mapping come from, by system call (the kernel's library is not needed).
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace causeway::shm {

// Both do nothing on machines with one node, and never fail: placement is only a preference.
void prefer_local_node(void* base, size_t length);
void interleave_nodes(void* base, size_t length);

}  // namespace causeway::shm
