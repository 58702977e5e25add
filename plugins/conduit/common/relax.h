// A short rest of the processor between two looks at something that another one writes.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace causeway {

inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace causeway
