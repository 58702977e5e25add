// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace causeway::shm {

// Lets other processes' membarriers reach this one. False where the kernel has none.
bool register_membarrier();

}  // namespace causeway::shm
