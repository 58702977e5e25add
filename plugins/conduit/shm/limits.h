// The shared memory that this machine, its control groups and the user's limits allow.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace causeway::shm {

// False, with the reason in `why`, when a file may not grow to `length` bytes: trying would raise
// SIGXFSZ. Shared memory is a file to the kernel.
bool file_size_allowed(size_t length, char* why, size_t why_size);

// False, with the reason in `why`, when `length` bytes can never be had. `directory` is the file
// system the memory comes from, or NULL for a memfd.
bool memory_suffices(size_t length, const char* directory, char* why, size_t why_size);

// Bytes of the default huge page, 0 when the kernel has none.
size_t huge_page_bytes();

}  // namespace causeway::shm
