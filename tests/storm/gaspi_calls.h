// Calls of GASPI that have to succeed.
#pragma once

#include <GASPI.h>
#include <gasnetex.h>

#include "random.h"
#include "world.h"

namespace storm {

inline void good(const Step& step, const char* call, gaspi_return_t returned) {
  if (returned == GASPI_SUCCESS) return;
  gaspi_string_t text = nullptr;
  gaspi_print_error(returned, &text);
  fail(step, "%s returned %d (%s)", call, static_cast<int>(returned), text ? text : "?");
}

// Calls until it has come to its end: in one go, or in portions between which others are served.
template <class Attempt>
void in_portions(const Step& step, const char* call, Random& whim, Attempt attempt) {
  if (whim.chance(40)) return good(step, call, attempt(GASPI_BLOCK));
  gaspi_return_t returned;
  while ((returned = attempt(whim.chance(50) ? GASPI_TEST : 1)) == GASPI_TIMEOUT) gasnet_AMPoll();
  good(step, call, returned);
}

}  // namespace storm
