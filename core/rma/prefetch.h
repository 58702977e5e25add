// Asking for a line ahead of its use.
#pragma once

namespace causeway {

// Has the line at `address` brought here, and out of the caches of others, to be stored to soon.
// Never faults, whatever the address.
inline void prefetch_to_write(const void* address) {
#if defined(__x86_64__)
  // The built-in would fetch the line to read from it, unless compiled for newer processors.
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(address)));
#else
  __builtin_prefetch(address, 1);
#endif
}

}  // namespace causeway
