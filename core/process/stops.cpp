#include "process/stops.h"

#include <execinfo.h>
#include <gasnet_tools.h>
#include <signal.h>
#include <strings.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/error.h"
#include "base/log.h"
#include "base/waits.h"
#include "loader/plugin_call.h"
#include "rma/unanswered.h"
#include "thread/thread_state.h"

// Outside every namespace and not static: a user finds it in a debugger by this name.
extern "C" {
__attribute__((visibility("default"))) volatile int gasnet_frozen = 0;
}

namespace causeway {
namespace {

// "SIGUSR1", "usr1", "10"; 0 for anything else.
int signal_named(std::string word) {
  if (::strncasecmp(word.c_str(), "SIG", 3) == 0) word.erase(0, 3);
  if (::strcasecmp(word.c_str(), "IO") == 0) return SIGIO;  // the C library's is POLL
  for (int number = 1; number < NSIG; ++number)
    if (const char* name = ::sigabbrev_np(number);
        name != nullptr && ::strcasecmp(word.c_str(), name) == 0)
      return number;
  const int number = std::atoi(word.c_str());
  return number > 0 && number < NSIG ? number : 0;
}

// In a handler: clients ask for it, and the process does nothing else afterwards.
void on_freeze(int) {
  gasnett_freezeForDebuggerNow(&gasnet_frozen, "gasnet_frozen");
}
void on_backtrace(int) {
  gasnett_print_backtrace(STDERR_FILENO);
}

void install(const char* variable, void (*handler)(int)) {
  const char* wish = std::getenv(variable);
  if (wish == nullptr || *wish == '\0') return;
  const int signal = signal_named(wish);
  if (signal == 0) {
    throw Error(CWY_ERR_INVALID, "{}='{}' is not a signal: expected a name like SIGUSR1", variable,
                wish);
  }
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  ::sigaction(signal, &action, nullptr);
}

// y, yes, 1 or another number than 0, in any case. Unlike gasnett_getenv_yesno_withdefault() it
// takes whatever stands there: a process that is about to end must not end over this.
bool asked_for(const char* variable) {
  const char* wish = std::getenv(variable);
  if (wish == nullptr || wish[0] == '\0') return false;
  return std::strchr("yY", wish[0]) != nullptr || std::atoi(wish) != 0;
}

// A child that the program forks is none of the ranks. Written before the handler is installed.
pid_t g_pid = 0;

// The process itself only ends its sleeps with the signal (service_wake), and the kernel tells of
// urgent data on sockets.
bool from_a_person(const siginfo_t& info) {
  return info.si_code <= 0 && info.si_pid != ::getpid();
}

void on_question(int, siginfo_t* info, void*) {
  const int kept = errno;
  if (from_a_person(*info) && ::getpid() == g_pid) {
    tell_waits(threads_in_handlers(false));
    tell_unanswered();
  }
  errno = kept;
}

// A fault is an error that ends the process, too.
void on_fault(int signal) {
  static std::atomic_flag dies = ATOMIC_FLAG_INIT;
  // Other threads that die meanwhile wait for the end. Relaxed: nothing else is told by it.
  while (dies.test_and_set(std::memory_order_relaxed)) ::pause();
  stop_on_error();
  // The same end as without this handler, when it has returned.
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

void listen_for_faults() {
  if (!asked_for("GASNET_BACKTRACE") && !asked_for("GASNET_FREEZE_ON_ERROR")) return;
  void* frame;
  ::backtrace(&frame, 1);  // loads the library that a handler must not load
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    struct sigaction action {};
    ::sigaction(signal, nullptr, &action);
    if (action.sa_handler == SIG_DFL && may_catch(signal)) ::signal(signal, on_fault);
  }
}

}  // namespace

bool may_catch(int signal) {
  const char* kept = std::getenv("GASNET_NO_CATCH_SIGNAL");
  if (kept == nullptr) return true;
  std::string word;
  for (const char* c = kept;; ++c) {
    if (*c != '\0' && std::strchr(", |;\t", *c) == nullptr) {
      word += *c;
      continue;
    }
    if (word == "*" || (!word.empty() && signal_named(word) == signal)) return false;
    word.clear();
    if (*c == '\0') return true;
  }
}

void listen_for_questions() {
  struct sigaction action {};
  ::sigaction(SIGURG, nullptr, &action);
  if (action.sa_handler != SIG_DFL || !may_catch(SIGURG)) return;
  g_pid = ::getpid();
  action = {};
  action.sa_sigaction = on_question;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGURG, &action, nullptr);
}

void prepare_stops() {
  PluginWatch::name_crashes(false);  // the client's wishes come first
  listen_for_faults();
  install("GASNET_FREEZE_SIGNAL", on_freeze);
  install("GASNET_BACKTRACE_SIGNAL", on_backtrace);
  if (asked_for("GASNET_FREEZE")) gasnett_freezeForDebuggerNow(&gasnet_frozen, "gasnet_frozen");
}

void stop_on_error() {
  if (asked_for("GASNET_BACKTRACE")) gasnett_print_backtrace(STDERR_FILENO);
  if (asked_for("GASNET_FREEZE_ON_ERROR"))
    gasnett_freezeForDebuggerNow(&gasnet_frozen, "gasnet_frozen");
}

}  // namespace causeway
