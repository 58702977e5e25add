// fatal(): one line that names the rank and the call, then the end of the job.
#pragma once

#include <fmt/core.h>

#include <string>
#include <utility>

#include "diag/error.h"

namespace causeway {

// Prints "causeway: rank R/N: error: <call>: <text>", asks the launcher to end the job, and ends
// this process with status 1. Any thread, any context.
[[noreturn]] void fatal_text(const char* call, const std::string& text);

template <typename... Args>
[[noreturn]] void fatal(const char* call, fmt::format_string<Args...> format, Args&&... args) {
  fatal_text(call, fmt::format(format, std::forward<Args>(args)...));
}

// Turns an Error inside a call that cannot report it into fatal(). For extern "C" bodies.
template <typename Body>
auto or_fatal(const char* call, Body&& body) -> decltype(body()) {
  try {
    return body();
  } catch (const Error& e) {
    fatal_text(call, e.text());
  } catch (const std::exception& e) {
    fatal_text(call, e.what());
  }
}

}  // namespace causeway
