#include "object/interrupted.h"

#include <signal.h>

#include "progress/thread_state.h"

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

}  // namespace

void note_usual_signals() {
  g_quit_usually_blocked = quit_is_blocked();
}

bool may_enter_conduits() {
  // A poll that runs client code runs it in a handler of messages, which may poll for replies.
  const ThreadState* const thread = tls_thread_state;
  if (thread != nullptr && thread->in_poll && thread->context == Context::client) return false;
  return g_quit_usually_blocked || !quit_is_blocked();
}

}  // namespace causeway
