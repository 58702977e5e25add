// SignalKeeper: signal dispositions belong to the program.
//
// Some networks' libraries install handlers of their own for SIGSEGV and the like when they are
// loaded or started (and write reports into the working directory from them). While one of these
// objects lives, whatever changes is undone at its end. It does not see changes by other threads
// meanwhile, so it is for start-up only, which the core serialises.
#pragma once

#include <signal.h>

#include <array>

namespace causeway {

class SignalKeeper {
 public:
  SignalKeeper();
  ~SignalKeeper();
  SignalKeeper(const SignalKeeper&) = delete;
  SignalKeeper& operator=(const SignalKeeper&) = delete;

 private:
  static constexpr int kEnd = 32;  // real-time signals are nobody's reports
  std::array<struct sigaction, kEnd> saved_{};
};

}  // namespace causeway
