// Libraries that change signal dispositions while a plugin is loaded.
#include "loader/signal_keeper.h"

#include <gtest/gtest.h>

namespace causeway {
namespace {

void theirs(int) {}
void ours(int) {}

auto handler_of(int number) {
  struct sigaction now {};
  sigaction(number, nullptr, &now);
  return now.sa_handler;
}

// Catches a crash handler of a network's library that stays installed in the program.
TEST(SignalKeeper, PutsBackWhatALibraryChanged) {
  signal(SIGUSR1, ours);
  signal(SIGSEGV, SIG_DFL);
  {
    const SignalKeeper keeper;
    signal(SIGSEGV, theirs);
    signal(SIGUSR1, theirs);
    EXPECT_EQ(handler_of(SIGSEGV), theirs);
  }
  EXPECT_EQ(handler_of(SIGSEGV), SIG_DFL);
  EXPECT_EQ(handler_of(SIGUSR1), ours);
}

// Catches flags that are lost: a handler on an alternate stack must stay there.
TEST(SignalKeeper, KeepsFlags) {
  struct sigaction mine {};
  mine.sa_handler = ours;
  mine.sa_flags = SA_RESTART | SA_ONSTACK;
  sigaction(SIGUSR2, &mine, nullptr);
  {
    const SignalKeeper keeper;
    signal(SIGUSR2, ours);  // the same function, other flags
  }
  struct sigaction now {};
  sigaction(SIGUSR2, nullptr, &now);
  EXPECT_EQ(now.sa_flags & (SA_RESTART | SA_ONSTACK), SA_RESTART | SA_ONSTACK);
}

}  // namespace
}  // namespace causeway
