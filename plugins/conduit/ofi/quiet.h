// Threads that a provider starts take no signals meant for the program.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <signal.h>

namespace causeway::ofi {

// While it lives, this thread blocks all signals; threads started meanwhile inherit that.
class QuietSignals {
 public:
  QuietSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~QuietSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  QuietSignals(const QuietSignals&) = delete;
  QuietSignals& operator=(const QuietSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace causeway::ofi
