// The way in which calls that return a code treat wrong arguments and failures.
#pragma once

#include <gasnetex.h>

#include <string_view>

#include "base/error.h"
#include "base/refusal.h"

namespace causeway {

inline int refuse(const char* call, int code, std::string_view text) {
  log_refusal(call, text);
  return code;
}

// Runs `body`, and refuses the call where that throws.
template <typename Body>
int guarded(const char* call, Body&& body) {
  try {
    body();
    return GASNET_OK;
  } catch (const Error& e) {
    const bool argument = e.status() == CWY_ERR_INVALID;
    return refuse(call, argument ? GASNET_ERR_BAD_ARG : GASNET_ERR_RESOURCE, e.text());
  } catch (const std::exception& e) {
    return refuse(call, GASNET_ERR_RESOURCE, e.what());
  }
}

}  // namespace causeway
