#include "process/asked.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>

#include "base/waits.h"
#include "process/stops.h"
#include "rma/unanswered.h"

namespace causeway {
namespace {

// The process itself only ends its sleeps with the signal (service_wake), and the kernel tells of
// urgent data on sockets.
bool from_a_person(const siginfo_t& info) {
  return info.si_code <= 0 && info.si_pid != ::getpid();
}

void on_question(int, siginfo_t* info, void*) {
  const int kept = errno;
  if (from_a_person(*info)) {
    tell_waits();
    tell_unanswered();
  }
  errno = kept;
}

}  // namespace

void listen_for_questions() {
  struct sigaction action {};
  ::sigaction(SIGURG, nullptr, &action);
  if (action.sa_handler != SIG_DFL || !may_catch(SIGURG)) return;
  action = {};
  action.sa_sigaction = on_question;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGURG, &action, nullptr);
}

}  // namespace causeway
