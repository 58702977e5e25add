// Telling threads apart, cheaply: without a call, a table or storage of a thread's own.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <pthread.h>

#include <cstdint>

namespace causeway {

// Differs from that of every other thread that runs now, and is never 0. A thread may get that of one
// that has ended.
inline uintptr_t thread_handle() {
#if defined(__x86_64__)
  uintptr_t self;
  asm("mov %%fs:0, %0" : "=r"(self));  // the address of the thread's own block, as the ABI says
  return self;
#else
  return reinterpret_cast<uintptr_t>(pthread_self());
#endif
}

// A small number below `count`, by which tables of hints and statistics are shared out among
// threads. Several threads may have the same one.
inline uint32_t thread_number(uintptr_t handle, uint32_t count) {
  constexpr uintptr_t page = 4096;  // or more: threads' blocks lie at the ends of stacks
  return static_cast<uint32_t>(handle / page) % count;
}

}  // namespace causeway
