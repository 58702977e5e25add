#include "loader/signal_keeper.h"

#include <cstring>

namespace causeway {
namespace {

// The handlers share a union; as bytes it is the same for either.
bool same(const struct sigaction& a, const struct sigaction& b) {
  return a.sa_flags == b.sa_flags &&
         std::memcmp(&a.sa_sigaction, &b.sa_sigaction, sizeof a.sa_sigaction) == 0;
}

}  // namespace

SignalKeeper::SignalKeeper() {
  for (int number = 1; number < kEnd; ++number) sigaction(number, nullptr, &saved_[number]);
}

SignalKeeper::~SignalKeeper() {
  for (int number = 1; number < kEnd; ++number) {
    if (number == SIGKILL || number == SIGSTOP) continue;
    struct sigaction now {};
    if (sigaction(number, nullptr, &now) != 0 || same(now, saved_[number])) continue;
    sigaction(number, &saved_[number], nullptr);
  }
}

}  // namespace causeway
