// Calls off the fast path that are made too early, or with a handle that is none. What is inlined
// into clients (gex_RMA_*, gex_TM_QueryRank(), gex_TM_QuerySize()) looks at neither.
#pragma once

namespace causeway {

extern bool g_checks;  // base/context.h

// Ends the job: there is no runtime, so no call but a few can do anything.
[[noreturn]] void called_too_early(const char* call) __attribute__((cold));
// Ends the job: the call got `constant`, "GEX_TM_INVALID".
[[noreturn]] void invalid_handle(const char* call, const char* constant) __attribute__((cold));

void check_started(const char* call) __attribute__((cold));
// For calls without a handle. Costs what note_call() does.
inline void require_started(const char* call) {
  if (__builtin_expect(g_checks, 0)) check_started(call);
}

template <typename Handle>
inline Handle valid(const char* call, const char* constant, Handle handle) {
  if (__builtin_expect(!handle, 0)) invalid_handle(call, constant);
  return handle;
}

}  // namespace causeway
