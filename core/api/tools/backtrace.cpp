// Backtraces, stops for debuggers, signal handlers.
#include <execinfo.h>
#include <gasnet_tools.h>
#include <signal.h>

#include <cstdio>
#include <cstring>

#include "api/export.h"

extern "C" {
// A client's definition takes the place of this one.
__attribute__((visibility("default"), weak))
gasnett_backtrace_type_t gasnett_backtrace_user = {nullptr, nullptr, 0};

static int print_if_enabled(int fd) {
  return gasnett_getenv_yesno_withdefault("GASNET_BACKTRACE", 0) ? gasnett_print_backtrace(fd) : 0;
}
__attribute__((visibility("default"))) int (*gasnett_print_backtrace_ifenabled)(int) =
    print_if_enabled;
}

CAUSEWAY_API void gasnett_backtrace_init(const char*) {
  // The first backtrace loads a library; better now than in a handler.
  void* frames[1];
  ::backtrace(frames, 1);
}

CAUSEWAY_API int gasnett_print_backtrace(int fd) {
  if (gasnett_backtrace_user.fnp != nullptr && gasnett_backtrace_user.fnp(fd) == 0) return 0;
  constexpr int kDepth = 64;
  void* frames[kDepth];
  const int depth = ::backtrace(frames, kDepth);
  if (depth <= 0) return 1;
  ::backtrace_symbols_fd(frames, depth, fd);
  return 0;
}

CAUSEWAY_API void gasnett_freezeForDebuggerNow(volatile int* flag, const char* flagsymname) {
  std::fprintf(stderr, "process %d on %s waits for a debugger; set %s (at %p) to 0 to go on\n",
               static_cast<int>(::getpid()), gasnett_gethostname(), flagsymname,
               const_cast<int*>(flag));
  std::fflush(stderr);
  // Relaxed: a debugger, or another thread, changes it; nothing else is told by it.
  __atomic_store_n(flag, 1, __ATOMIC_RELAXED);
  while (__atomic_load_n(flag, __ATOMIC_RELAXED) != 0) gasnett_nsleep(200000000);
}

CAUSEWAY_API void gasnett_freezeForDebuggerErr(void) {
  static volatile int frozen = 0;
  if (gasnett_getenv_yesno_withdefault("GASNET_FREEZE_ON_ERROR", 0))
    gasnett_freezeForDebuggerNow(&frozen, "frozen");
}

CAUSEWAY_API gasnett_sighandlerfn_t gasnett_reghandler(int sigtocatch, gasnett_sighandlerfn_t fp) {
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = fp;
  action.sa_flags = SA_RESTART;
  if (::sigaction(sigtocatch, &action, &before) != 0)
    gasnett_fatalerror_nopos("signal %d cannot be caught: %s", sigtocatch, std::strerror(errno));
  return before.sa_handler;
}
