// CAUSEWAY_ON_DEATH=gdb, as `causeway run --debug` sets it: a signal that is about to end the
// process has gdb print where every thread stands, before it does. From when the library is loaded
// on.
#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "spawn/job_words.h"

namespace causeway {
namespace {

constexpr unsigned kMostSeconds = 60;  // for gdb

// For handlers on the first thread, whose own stack may have run out. The others have none.
alignas(16) char g_stack[64 << 10];
std::atomic_flag g_dies = ATOMIC_FLAG_INIT;

void say(const char* text) {
  [[maybe_unused]] const ssize_t n = ::write(STDERR_FILENO, text, std::strlen(text));
}

[[noreturn]] void become_gdb(const char* process) {
  ::setpgid(0, 0);  // the end of the job is no signal for gdb
  ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::alarm(kMostSeconds);  // gdb lets go of the process when it is ended
  ::execlp("gdb", "gdb", "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off", "-p", process,
           "-ex", "thread apply all backtrace 100", static_cast<char*>(nullptr));
  say("causeway: no backtraces: cannot execute gdb, which must be installed on this host\n");
  ::_exit(127);
}

// Calls nothing that a thread could have been interrupted in.
void on_death(int signal) {
  // Others that die meanwhile wait here, and are shown there.
  while (g_dies.test_and_set(std::memory_order_relaxed)) ::pause();
  char text[64], process[16];
  *fmt::format_to_n(process, sizeof process - 1, "{}", ::getpid()).out = '\0';
  *fmt::format_to_n(text, sizeof text - 1, "causeway: process {}: signal {}, gdb says:\n", process,
                    signal)
       .out = '\0';
  say(text);
  ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  // Not fork(), which waits for locks of the allocator.
  const auto gdb = static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
  if (gdb == 0) become_gdb(process);
  while (gdb > 0 && ::waitpid(gdb, nullptr, 0) < 0 && errno == EINTR) {
  }
  // The same end as without all this, when the handler has returned.
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

[[gnu::constructor]] void watch_for_death() {
  const char* wish = ::secure_getenv(kDeathVariable);
  if (wish == nullptr || std::strcmp(wish, "gdb") != 0) return;
  const stack_t stack{g_stack, 0, sizeof g_stack};
  ::sigaltstack(&stack, nullptr);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS}) {
    struct sigaction action {};
    ::sigaction(signal, nullptr, &action);
    if (action.sa_handler != SIG_DFL) continue;
    action = {};
    action.sa_handler = on_death;
    action.sa_flags = SA_ONSTACK;
    sigfillset(&action.sa_mask);
    ::sigaction(signal, &action, nullptr);
  }
}

}  // namespace
}  // namespace causeway
