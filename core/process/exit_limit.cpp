#include "process/exit_limit.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>

#include "process/runtime.h"

namespace causeway {
namespace {

// Written before the alarm is set, read after it went off, in one process: relaxed and plain.
std::atomic<int> g_code{1};
char g_line[200];
size_t g_length = 0;

void on_abort(int) {
  ::_exit(g_code.load(std::memory_order_relaxed));
}

void on_limit(int) {
  static_cast<void>(!::write(STDERR_FILENO, g_line, g_length));
  ::_exit(g_code.load(std::memory_order_relaxed));
}

}  // namespace

void limit_exit(int code, unsigned seconds) {
  g_code.store(code, std::memory_order_relaxed);
  // Integers alone: nothing is allocated. Both together are far shorter than the line.
  char* const end = g_line + sizeof g_line;
  char* at =
      g_runtime != nullptr
          ? fmt::format_to_n(g_line, sizeof g_line, "causeway: rank {}/{}: ", runtime().rank(),
                             runtime().size())
                .out
          : fmt::format_to_n(g_line, sizeof g_line, "causeway: process {}: ", ::getpid()).out;
  at = fmt::format_to_n(at, static_cast<size_t>(end - at),
                        "gasnet_exit has not ended after {} s (was it called in a handler, or does "
                        "a thread keep stdout locked?): ended without a goodbye\n",
                        seconds)
           .out;
  g_length = static_cast<size_t>(at - g_line);
  struct sigaction action {};
  action.sa_handler = on_limit;
  ::sigaction(SIGALRM, &action, nullptr);
  action.sa_handler = on_abort;
  ::sigaction(SIGABRT, &action, nullptr);
  sigset_t alarms;
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  ::pthread_sigmask(SIG_UNBLOCK, &alarms, nullptr);
  ::alarm(seconds);
}

void unlimit_exit() {
  ::alarm(0);
  ::signal(SIGABRT, SIG_DFL);
}

}  // namespace causeway
