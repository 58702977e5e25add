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

// The same for trouble that a peer's death caused. Our launcher knows of the death too and says
// whose it was: this rank gives it a moment to end everybody, so that the job's status is that of
// the rank that failed and not of one that noticed.
[[noreturn]] void fatal_peer_lost(const char* call, const std::string& text);

// The same for a call that cannot go on without `rank`, which may have left in good order: then this
// process leaves with that rank's code (Runtime::note_loss).
[[noreturn]] void end_without(uint32_t rank, const std::string& text);

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
    if (e.status() == CWY_ERR_PEER_FAILED) fatal_peer_lost(call, e.text());
    fatal_text(call, e.text());
  } catch (const std::exception& e) {
    fatal_text(call, e.what());
  }
}

}  // namespace causeway
