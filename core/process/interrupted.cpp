#include "process/interrupted.h"

#include <signal.h>
#include <unwind.h>

#include "thread/thread_state.h"

namespace causeway {
namespace {

// Written while the first client starts, and read when the process leaves.
bool g_quit_usually_blocked = false;

bool quit_is_blocked() {
  sigset_t blocked;
  sigemptyset(&blocked);
  ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  return sigismember(&blocked, SIGQUIT) == 1;
}

// Its address is what the kernel lets a handler return to: no call stands before it.
_Unwind_Reason_Code look_at_frame(_Unwind_Context* context, void* is_handler) {
  int before_instruction = 0;
  _Unwind_GetIPInfo(context, &before_instruction);
  if (before_instruction == 0) return _URC_NO_REASON;
  *static_cast<bool*>(is_handler) = true;
  return _URC_END_OF_STACK;
}

// Where frames cannot be followed, no: what is left then are the signals below and polls. Takes no
// lock: frames are found by _dl_find_object().
bool in_signal_handler() {
  bool is_handler = false;
  _Unwind_Backtrace(look_at_frame, &is_handler);
  return is_handler;
}

}  // namespace

void note_usual_signals() {
  g_quit_usually_blocked = quit_is_blocked();
}

bool may_enter_conduits() {
  // A poll that runs client code runs it in a handler of messages, which may poll for replies.
  const ThreadState* const thread = tls_thread_state;
  if (thread != nullptr && thread->polls() && thread->context == Context::client) return false;
  if (!g_quit_usually_blocked && quit_is_blocked()) return false;
  return !in_signal_handler();
}

}  // namespace causeway
