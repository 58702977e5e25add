// An object whose address travels in a message and comes back to a handler, in any thread.
//
// The message orders the two, through another process, which the thread sanitizer does not see. So
// the thread that sends raises a count, with release, and the handler reads it, with acquire.
#pragma once

#include <gasnetex.h>

#include <atomic>
#include <cstdint>

namespace storm {

inline std::atomic<uint64_t> travellers{0};

struct Address {
  gex_AM_Arg_t low, high;
};

// Everything about the object that a handler may touch is there by now.
inline Address send_off(const void* object) {
  travellers.fetch_add(1, std::memory_order_release);
  const auto address = reinterpret_cast<uintptr_t>(object);
  return {static_cast<gex_AM_Arg_t>(address), static_cast<gex_AM_Arg_t>(address >> 32)};
}

// To be called by a handler before it looks at memory that another thread of this rank may have
// used before that thread sent something.
inline void catch_up() {
  static_cast<void>(travellers.load(std::memory_order_acquire));
}

template <class Object>
Object& back(gex_AM_Arg_t low, gex_AM_Arg_t high) {
  catch_up();
  return *reinterpret_cast<Object*>(uintptr_t{static_cast<uint32_t>(low)} |
                                    uintptr_t{static_cast<uint32_t>(high)} << 32);
}

}  // namespace storm
