// The suite in a child process, so that a plugin which ends its process does not end the verdict.
#pragma once

#include <functional>

namespace causeway::conformance {

// Runs `body` in a child and returns its status. exit() and _exit() of a plugin end the child with
// a status of the plugin's choice: a status counts only where `body` returned or end_here() was
// called, and anything else is a failure of the running case, which is printed.
int supervise(const std::function<int()>& body);

// Ends the child with a status that counts. Async-signal-safe.
[[noreturn]] void end_here(int status);

// Room for the running case's name, which the parent prints.
constexpr size_t kCaseRoom = 256;
char* running_case();

}  // namespace causeway::conformance
