// fatal(): one line that names the rank and the call, then the end of the job.
#pragma once

#include <fmt/core.h>

#include <string>
#include <utility>

#include "base/error.h"

namespace causeway {

// Prints "causeway: rank R/N: error: <call>: <text>", asks the launcher to end the job, and ends
// this process with status 1. Any thread, any context.
[[noreturn]] void fatal_text(const char* call, const std::string& text);

// The same for a call that cannot go on because some peer is gone. Says nothing where that is found
// out meanwhile: a peer that left in good order takes this process along with its code
// (ProcessContext::note_loss), and our launcher, which knows of a death and says whose it was, is
// given a moment to end everybody, so that the job's status is that of the rank that failed and not
// of one that noticed. Not inside a conduit's callback: there is ProcessContext::note_stranded.
[[noreturn]] void fatal_peer_lost(const char* call, const std::string& text);

// The same where there is no way to a peer: a mistake to be told soon, unless the peer has left.
[[noreturn]] void fatal_unreached(const char* call, const std::string& text);

// The same where the peer is known.
[[noreturn]] void end_without(uint32_t rank, const std::string& text);

// Called before the caller of a start hears of a peer's failure. Our launcher, which names the rank
// that failed, ends the job meanwhile. Returns where that does not happen.
void let_launcher_speak();

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
    if (e.status() == CWY_ERR_UNREACHABLE) fatal_unreached(call, e.text());
    fatal_text(call, e.text());
  } catch (const std::exception& e) {
    fatal_text(call, e.what());
  }
}

}  // namespace causeway
