// The leak checker's look at a process that ends by _exit(), past which it would not come (preset
// asan). In every other build this is empty.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define CAUSEWAY_LEAK_CHECKER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CAUSEWAY_LEAK_CHECKER 1
#endif
#endif

#if defined(CAUSEWAY_LEAK_CHECKER)
extern "C" int __lsan_do_recoverable_leak_check();
#endif

namespace causeway {

// True when something was reported. Memory that anything still refers to is not: the objects that
// live until the process ends, and what its threads have on their stacks.
inline bool leaks_memory() {
#if defined(CAUSEWAY_LEAK_CHECKER)
  return __lsan_do_recoverable_leak_check() != 0;
#else
  return false;
#endif
}

}  // namespace causeway
