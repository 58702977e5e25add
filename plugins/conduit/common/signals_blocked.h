// Threads that a network's library starts take no signals meant for the program.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <signal.h>

namespace causeway {

// While it lives, this thread blocks all signals; threads started meanwhile inherit that.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    // As the library's own threads, by which it tells them: faults are sent to the thread that
    // commits them, and blocked they would skip the program's handler.
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS})
      sigdelset(&all, fault);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace causeway
