#include "object/exit_limit.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>

#include "object/runtime.h"

namespace causeway {
namespace {

// Written before the alarm is set, read after it went off, in one process: relaxed and plain.
std::atomic<int> g_code{1};
char g_line[200];
size_t g_length = 0;

void on_limit(int) {
  static_cast<void>(!::write(STDERR_FILENO, g_line, g_length));
  ::_exit(g_code.load(std::memory_order_relaxed));
}

}  // namespace

void limit_exit(int code, unsigned seconds) {
  g_code.store(code, std::memory_order_relaxed);
  const bool known = g_runtime != nullptr;
  // Integers alone: nothing is allocated.
  g_length = fmt::format_to_n(
                 g_line, sizeof g_line,
                 "causeway: rank {}/{}: gasnet_exit has not ended after {} s (was it called in a "
                 "handler, or does a thread keep stdout locked?): ended without a goodbye\n",
                 known ? runtime().rank() : 0, known ? runtime().size() : 1, seconds)
                 .size;
  if (g_length > sizeof g_line) g_length = sizeof g_line;
  struct sigaction action {};
  action.sa_handler = on_limit;
  ::sigaction(SIGALRM, &action, nullptr);
  sigset_t alarms;
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  ::pthread_sigmask(SIG_UNBLOCK, &alarms, nullptr);
  ::alarm(seconds);
}

}  // namespace causeway
