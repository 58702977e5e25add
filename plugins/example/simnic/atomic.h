// The adapter's atomics, the operations on 64-bit integers that such hardware has, and its
// counters.
#pragma once

#include <causeway/conduit.h>

#include <cstdint>

namespace simnic {

inline constexpr uint64_t kAtomicOps =
    CWY_OP_ADD | CWY_OP_FADD | CWY_OP_SET | CWY_OP_GET | CWY_OP_SWAP | CWY_OP_CAS | CWY_OP_FCAS;

// At an address that is aligned; the previous value. Relaxed but for what others of this adapter
// see in the same word: order comes from messages.
inline uint64_t execute_atomic(uint32_t opcode, void* address, uint64_t one, uint64_t two) {
  auto* const at = static_cast<uint64_t*>(address);
  switch (opcode) {
    case CWY_OP_ADD:
    case CWY_OP_FADD:
      return __atomic_fetch_add(at, one, __ATOMIC_RELAXED);
    case CWY_OP_SET:
    case CWY_OP_SWAP:
      return __atomic_exchange_n(at, one, __ATOMIC_RELAXED);
    case CWY_OP_CAS:
    case CWY_OP_FCAS:
      __atomic_compare_exchange_n(at, &one, two, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
      return one;
    default:
      return __atomic_load_n(at, __ATOMIC_RELAXED);
  }
}

// At an address that is aligned. Release: a counter that has its value shows what was counted.
inline void raise_counter(void* address, uint64_t by) {
  __atomic_fetch_add(static_cast<uint64_t*>(address), by, __ATOMIC_RELEASE);
}
inline uint64_t read_counter(const uint64_t* at) {
  return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

}  // namespace simnic
