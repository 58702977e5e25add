// Shared by the C entries. The declarations themselves are generated from GASPI.h.
#pragma once

#include <gaspi_entries.h>

#include <exception>

#include "api/export.h"
#include "api/gaspi/deadline.h"
#include "api/gaspi/queue.h"
#include "api/gaspi/segment.h"
#include "api/gaspi/world.h"
#include "base/error.h"

namespace causeway::gaspi {

__attribute__((cold, noinline)) inline gaspi_return_t not_begun(const char* call) {
  return refuse(GASPI_ERR_NOINIT, call, "gaspi_proc_init() has not succeeded");
}

__attribute__((cold, noinline)) inline gaspi_return_t no_queue(const char* call, unsigned queue) {
  return refuse(GASPI_ERR_INV_QUEUE, call, fmt::format("there is no queue {}", queue));
}

// Runs `body` with the world; nothing leaves as an exception.
template <typename Body>
gaspi_return_t with_world(const char* call, Body&& body) {
  World* const w = world();
  if (__builtin_expect(w == nullptr, 0)) return not_begun(call);
  try {
    return body(*w);
  } catch (const Error& e) {
    return refuse(e.status() == CWY_ERR_NOMEM ? GASPI_ERR_MEMALLOC : GASPI_ERROR, call, e.text());
  } catch (const std::exception& e) {
    return refuse(GASPI_ERROR, call, e.what());
  }
}

// A getter: `pointer` receives what `value` of the world says.
template <typename T, typename Value>
gaspi_return_t tell(const char* call, T* pointer, Value&& value) {
  return with_world(call, [&](World& w) {
    if (pointer == nullptr) return refuse(GASPI_ERR_NULLPTR, call, "the pointer is NULL");
    *pointer = static_cast<T>(value(w));
    return GASPI_SUCCESS;
  });
}

inline bool rank_exists(const World& w, uint32_t rank) {
  return rank < w.size;
}
// GASPI_SUCCESS, or the refusal.
inline gaspi_return_t require_rank(const World& w, const char* call, uint32_t rank) {
  if (__builtin_expect(rank_exists(w, rank), 1)) return GASPI_SUCCESS;
  return refuse(GASPI_ERR_INV_RANK, call, fmt::format("there is no rank {}", rank));
}

}  // namespace causeway::gaspi
