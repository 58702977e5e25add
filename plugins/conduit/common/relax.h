// A short rest of the processor between two looks at what another thread or process writes.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace causeway {

inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");  // `yield` takes no time on most processors
#endif
}

}  // namespace causeway
