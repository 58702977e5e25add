#include "spawn/signal_block.h"

namespace causeway {
namespace {

constexpr int kEnding[] = {SIGINT, SIGTERM, SIGQUIT};
constexpr int kNotHandled[] = {SIGTTIN, SIGTTOU, SIGCHLD};
constexpr int kOptional[] = {SIGHUP, SIGTSTP, SIGURG, SIGUSR1, SIGUSR2};

bool standard(const struct sigaction& action) {
  return action.sa_handler == SIG_DFL && (action.sa_flags & SA_NOCLDWAIT) == 0;
}

}  // namespace

SignalBlock::SignalBlock() {
  sigemptyset(&handled_);
  for (const int signal : kEnding) sigaddset(&handled_, signal);
  for (const int signal : kOptional) {
    struct sigaction now {};
    ::sigaction(signal, nullptr, &now);
    if (now.sa_handler != SIG_IGN) sigaddset(&handled_, signal);
  }
  sigset_t blocked = handled_;
  for (const int signal : kOptional) sigaddset(&blocked, signal);
  for (const int signal : kNotHandled) sigaddset(&blocked, signal);
  ::sigprocmask(SIG_BLOCK, &blocked, &before_);
  // An ignored SIGCHLD would have the kernel reap the keeper and the ranks, statuses and all.
  // Setting the default action drops a SIGCHLD that is pending, as one may be in a keeper which was
  // executed.
  ::sigaction(SIGCHLD, nullptr, &child_before_);
  if (standard(child_before_)) return;
  struct sigaction wanted {};
  wanted.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &wanted, nullptr);
}

SignalBlock::~SignalBlock() {
  if (!standard(child_before_)) ::sigaction(SIGCHLD, &child_before_, nullptr);
  ::sigprocmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace causeway
