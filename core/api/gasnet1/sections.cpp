// No-interrupt sections (GASNet-1 2.4.2) and the wait mode (3.6.2).
#include <gasnet.h>

#include "api/export.h"
#include "api/refuse.h"
#include "base/fatal.h"
#include "process/runtime.h"
#include "progress/waiter.h"
#include "thread/thread_state.h"

namespace causeway {
namespace {

// Ignored inside handlers and under a handler-safe lock, which are such sections already.
bool matters(const ThreadState& thread) {
  return runtime().checks() && thread.context == Context::client &&
         (thread.hsl_held & ~kNoInterrupts) == 0;
}

}  // namespace
}  // namespace causeway

using namespace causeway;

CAUSEWAY_API void gasnet_hold_interrupts(void) {
  if (g_runtime == nullptr) return;
  ThreadState& thread = thread_state();
  if (!matters(thread)) return;
  if (thread.hsl_held & kNoInterrupts)
    fatal("gasnet_hold_interrupts()", "called inside a no-interrupt section; they may not nest");
  thread.hsl_held |= kNoInterrupts;
}

CAUSEWAY_API void gasnet_resume_interrupts(void) {
  if (g_runtime == nullptr) return;
  ThreadState& thread = thread_state();
  if (!matters(thread)) return;
  if (!(thread.hsl_held & kNoInterrupts))
    fatal("gasnet_resume_interrupts()", "called without gasnet_hold_interrupts() before it");
  thread.hsl_held &= ~kNoInterrupts;
}

CAUSEWAY_API int gasnet_set_waitmode(int wait_mode) {
  switch (wait_mode) {
    case GASNET_WAIT_SPIN:
      set_wait_mode(WaitMode::spin);
      return GASNET_OK;
    case GASNET_WAIT_BLOCK:
      set_wait_mode(WaitMode::block);
      return GASNET_OK;
    case GASNET_WAIT_SPINBLOCK:
      set_wait_mode(WaitMode::configured);
      return GASNET_OK;
    default:
      return refuse("gasnet_set_waitmode()", GASNET_ERR_BAD_ARG,
                    fmt::format("{} is not a GASNET_WAIT_*", wait_mode));
  }
}
