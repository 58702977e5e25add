// Atomic domains on memory that this process can address, by this processor's own atomics. Two
// conduits that both use these functions may therefore serve one word at the same time.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <causeway/conduit.h>

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace causeway::cpu_atomics {

// Bit numbers of GEX_DT_* and GEX_OP_*, as causeway/conduit.h fixes them (cwyc_atomic). That they
// are the client header's, which plugins do not see, is asserted in
// tests/unit/atomic_numbers_test.cpp.
enum Type : uint32_t { i32, u32, i64, u64, flt, dbl, type_count };
enum Operation : uint32_t {
  op_min,
  op_sub,
  op_mult,
  op_add,
  op_max,
  op_inc,
  op_dec,
  op_and,
  op_or,
  op_xor,
  fetching,  // first of ten, in the same order
  op_set = 20,
  op_cas,
  op_swap,
  op_get,
  op_fcas,
  operation_count
};

inline constexpr uint64_t integer_operations = (1ull << operation_count) - 1;
inline constexpr uint64_t bitwise = (1ull << op_and) | (1ull << op_or) | (1ull << op_xor);
inline constexpr uint64_t float_operations =
    integer_operations & ~(bitwise | (bitwise << fetching));

// Fills attr.atomic_ops.
inline void declare(uint64_t (&atomic_ops)[16]) {
  for (uint32_t type = i32; type < type_count; ++type)
    atomic_ops[type] = type < flt ? integer_operations : float_operations;
}

template <class T>
T low_bytes(uint64_t operand) {
  static_assert(std::endian::native == std::endian::little, "operands stand in the low bytes");
  T value;
  std::memcpy(&value, &operand, sizeof value);
  return value;
}

// The value after `operation`; integer arithmetic wraps, also for signed types.
template <class T>
T apply(uint32_t operation, T old, T operand) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    const U a = static_cast<U>(old), b = static_cast<U>(operand);
    switch (operation) {
      case op_add:
        return static_cast<T>(a + b);
      case op_sub:
        return static_cast<T>(a - b);
      case op_mult:
        return static_cast<T>(a * b);
      case op_inc:
        return static_cast<T>(a + 1);
      case op_dec:
        return static_cast<T>(a - 1);
      case op_and:
        return old & operand;
      case op_or:
        return old | operand;
      case op_xor:
        return old ^ operand;
      default:
        break;
    }
  } else {
    switch (operation) {
      case op_add:
        return old + operand;
      case op_sub:
        return old - operand;
      case op_mult:
        return old * operand;
      case op_inc:
        return old + 1;
      case op_dec:
        return old - 1;
      default:
        break;
    }
  }
  if (operation == op_min) return old < operand ? old : operand;
  return old > operand ? old : operand;
}

// Order of every operation below: acquire and release as far as the access allows it, so that a
// caller's later accesses see what the word's previous writer published. On x86 that is free; a
// client that asked for less loses nothing elsewhere that an atomic across cores would not cost.
template <class T>
T read_modify_write(T* word, uint32_t operation, T operand) {
  std::atomic_ref<T> target(*word);
  if constexpr (std::is_integral_v<T>) {
    constexpr auto order = std::memory_order_acq_rel;
    switch (operation) {
      case op_add:
        return target.fetch_add(operand, order);
      case op_sub:
        return target.fetch_sub(operand, order);
      case op_inc:
        return target.fetch_add(1, order);
      case op_dec:
        return target.fetch_sub(1, order);
      case op_and:
        return target.fetch_and(operand, order);
      case op_or:
        return target.fetch_or(operand, order);
      case op_xor:
        return target.fetch_xor(operand, order);
      default:
        break;
    }
  }
  T old = target.load(std::memory_order_relaxed);  // only a guess: the exchange decides
  while (!target.compare_exchange_weak(old, apply(operation, old, operand),
                                       std::memory_order_acq_rel, std::memory_order_relaxed)) {
  }
  return old;
}

// Compares as the C language does: a zero equals its negative, and not-a-number equals nothing.
template <class T>
T compare_and_swap(T* word, T expected, T desired) {
  std::atomic_ref<T> target(*word);
  T old = target.load(std::memory_order_acquire);  // may be the answer: nothing is written then
  while (old == expected && !target.compare_exchange_weak(old, desired, std::memory_order_acq_rel,
                                                          std::memory_order_acquire)) {
  }
  return old;
}

// Returns the old value, or for operations that fetch nothing whatever is at hand.
template <class T>
T execute_typed(T* word, uint32_t operation, const cwyc_atomic& a) {
  std::atomic_ref<T> target(*word);
  const T operand = low_bytes<T>(a.operand1);
  switch (operation) {
    case op_set:
      target.store(operand, std::memory_order_release);
      return operand;
    case op_get:
      return target.load(std::memory_order_acquire);
    case op_swap:
      return target.exchange(operand, std::memory_order_acq_rel);
    case op_cas:
    case op_fcas:
      return compare_and_swap(word, operand, low_bytes<T>(a.operand2));
    default:
      break;
  }
  return read_modify_write(word, operation < fetching ? operation : operation - fetching, operand);
}

template <class T>
cwy_status execute_as(void* word, uint32_t operation, const cwyc_atomic& a) {
  if (reinterpret_cast<uintptr_t>(word) % sizeof(T) != 0) return CWY_ERR_INVALID;
  const T old = execute_typed(static_cast<T*>(word), operation, a);
  const bool fetches = operation >= fetching && operation != op_set && operation != op_cas;
  if (fetches && a.result != nullptr) std::memcpy(a.result, &old, sizeof old);
  return CWY_OK;
}

inline size_t width(const cwyc_atomic& a) {
  constexpr uint32_t narrow = (1u << i32) | (1u << u32) | (1u << flt);
  return (a.dt & narrow) != 0 ? 4 : 8;
}

// Performs `a` on the word at `word` (a.raddr as this process addresses it).
inline cwy_status execute(void* word, const cwyc_atomic& a) {
  if (!std::has_single_bit(a.opcode) || !std::has_single_bit(a.dt)) return CWY_ERR_INVALID;
  const uint32_t operation = static_cast<uint32_t>(std::countr_zero(a.opcode));
  const uint32_t type = static_cast<uint32_t>(std::countr_zero(a.dt));
  if (operation >= operation_count || type >= type_count) return CWY_ERR_UNSUPPORTED;
  switch (type) {
    case i32:
      return execute_as<int32_t>(word, operation, a);
    case u32:
      return execute_as<uint32_t>(word, operation, a);
    case i64:
      return execute_as<int64_t>(word, operation, a);
    case u64:
      return execute_as<uint64_t>(word, operation, a);
    default:
      break;
  }
  if ((float_operations >> operation & 1) == 0) return CWY_ERR_UNSUPPORTED;
  return type == flt ? execute_as<float>(word, operation, a)
                     : execute_as<double>(word, operation, a);
}

}  // namespace causeway::cpu_atomics
