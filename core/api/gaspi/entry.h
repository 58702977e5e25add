// Shared by the C entries. The declarations themselves are generated from GASPI.h.
#pragma once

#include <gaspi_entries.h>

#include <exception>
#include <type_traits>

#include "api/gaspi/deadline.h"
#include "api/gaspi/refusal.h"
#include "api/gaspi/world.h"

namespace causeway::gaspi {

// The front of a call: runs `body`, and nothing leaves as an exception. A body that takes the world
// is of a call that needs it. A body without a result succeeds, unless it throws.
template <typename Body>
gaspi_return_t call(const char* name, Body&& body) {
  const auto run = [&](auto&... argument) {
    if constexpr (std::is_void_v<decltype(body(argument...))>) {
      body(argument...);
      return GASPI_SUCCESS;
    } else {
      return body(argument...);
    }
  };
  try {
    if constexpr (std::is_invocable_v<Body>)
      return run();
    else
      return run(started_world());
  } catch (const std::exception& e) {
    return report_exception(name, e);
  }
}

// A call that takes a timeout.
template <typename Body>
gaspi_return_t timed_call(const char* name, gaspi_timeout_t timeout, Body&& body) {
  return call(name, [&](World& w) {
    Deadline deadline(name, timeout);
    return body(w, deadline);
  });
}

inline bool rank_exists(const World& w, uint32_t rank) {
  return rank < w.size;
}
inline void require_rank(const World& w, uint32_t rank) {
  if (__builtin_expect(!rank_exists(w, rank), 0))
    refuse(GASPI_ERR_INV_RANK, "there is no rank {}", rank);
}

// A call that takes a timeout and is about one rank.
template <typename Body>
gaspi_return_t timed_call(const char* name, uint32_t rank, gaspi_timeout_t timeout, Body&& body) {
  return call(name, [&](World& w) {
    require_rank(w, rank);
    Deadline deadline(name, timeout, rank);
    return body(w, deadline);
  });
}

inline void require_pointer(const void* pointer, const char* what) {
  if (__builtin_expect(pointer == nullptr, 0)) refuse(GASPI_ERR_NULLPTR, "{} is NULL", what);
}

// A getter: `pointer`, which the refusal calls `what`, receives the value.
template <typename T, typename Value>
gaspi_return_t tell(const char* name, T* pointer, const char* what, Value&& value) {
  const auto fill = [&](auto&... world) {
    require_pointer(pointer, what);
    *pointer = static_cast<T>(value(world...));
  };
  if constexpr (std::is_invocable_v<Value>)
    return call(name, [&] { fill(); });
  else
    return call(name, [&](World& w) { fill(w); });
}

}  // namespace causeway::gaspi
