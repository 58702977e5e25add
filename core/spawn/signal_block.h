// SignalBlock: the signals that a launcher handles, blocked while it lives.
#pragma once

#include <signal.h>

namespace causeway {

// Signals that a launcher only passes on to the ranks. SIGURG asks them what they wait for.
constexpr bool only_passed_on(int signal) {
  return signal == SIGTSTP || signal == SIGCONT || signal == SIGURG || signal == SIGUSR1 ||
         signal == SIGUSR2;
}

// SIGHUP, and what is only passed on, stay ignored where the caller ignores them (nohup); SIGINT,
// SIGTERM and SIGQUIT are handled even so, because a script's background jobs start with SIGINT and
// SIGQUIT ignored and could not be ended by them. The blocked signals stay so in a program that
// this process executes.
class SignalBlock {
 public:
  SignalBlock();
  ~SignalBlock();  // restores what was before, as a rank of a program that forks needs it
  SignalBlock(const SignalBlock&) = delete;
  SignalBlock& operator=(const SignalBlock&) = delete;

  const sigset_t& handled() const { return handled_; }
  const sigset_t& before() const { return before_; }

 private:
  sigset_t handled_{}, before_{};
  struct sigaction child_before_ {};
};

}  // namespace causeway
