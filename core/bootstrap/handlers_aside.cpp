#include "bootstrap/handlers_aside.h"

#include <algorithm>
#include <iterator>

namespace causeway {
namespace {

bool keeps_action(int signal) {
  constexpr int kKept[] = {SIGINT,  SIGTERM, SIGQUIT, SIGHUP,  SIGTSTP, SIGTTIN,
                           SIGTTOU, SIGCHLD, SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,
                           SIGTRAP, SIGABRT, SIGSYS,  SIGKILL, SIGSTOP, SIGCONT};
  return std::find(std::begin(kKept), std::end(kKept), signal) != std::end(kKept);
}

}  // namespace

HandlersAside::HandlersAside() {
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction now {};
    if (keeps_action(signal) || ::sigaction(signal, nullptr, &now) != 0) continue;
    if (now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN) continue;
    if (::sigaction(signal, &ignore, nullptr) == 0) before_.emplace_back(signal, now);
  }
}

HandlersAside::~HandlersAside() {
  for (const auto& [signal, action] : before_) ::sigaction(signal, &action, nullptr);
}

}  // namespace causeway
