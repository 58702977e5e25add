// SignalKeeper: signal dispositions belong to the program.
//
// Some networks' libraries install handlers of their own for SIGSEGV and the like when they are
// loaded or started (and write reports into the working directory from them). While one of these
// objects lives, whatever changes is undone at its end. It does not see changes by other threads
// meanwhile, so it is for start-up only, which the core serialises.
#pragma once

#include <signal.h>

#include <array>
#include <cstring>

namespace causeway {

class SignalKeeper {
 public:
  SignalKeeper() {
    for (int number = 1; number < kEnd; ++number) sigaction(number, nullptr, &saved_[number]);
  }
  ~SignalKeeper() {
    for (int number = 1; number < kEnd; ++number) {
      if (number == SIGKILL || number == SIGSTOP) continue;
      struct sigaction now {};
      if (sigaction(number, nullptr, &now) != 0 || same(now, saved_[number])) continue;
      sigaction(number, &saved_[number], nullptr);
    }
  }
  SignalKeeper(const SignalKeeper&) = delete;
  SignalKeeper& operator=(const SignalKeeper&) = delete;

 private:
  static constexpr int kEnd = 32;  // real-time signals are nobody's reports

  // The handlers share a union; as bytes it is the same for either.
  static bool same(const struct sigaction& a, const struct sigaction& b) {
    return a.sa_flags == b.sa_flags &&
           std::memcmp(&a.sa_sigaction, &b.sa_sigaction, sizeof a.sa_sigaction) == 0;
  }

  std::array<struct sigaction, kEnd> saved_{};
};

}  // namespace causeway
