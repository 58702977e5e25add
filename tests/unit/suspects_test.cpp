// Peers whose connection broke: a process that has ended is found, also before its parent has
// reaped it; one that lives is not taken for dead.
#include "process/suspects.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace {

using namespace causeway;

pid_t sleeper() {
  const pid_t pid = ::fork();
  if (pid == 0) {
    for (;;) ::pause();
  }
  return pid;
}

// What is gone within some seconds.
std::vector<Suspects::Suspect> gone_in_time(Suspects& suspects) {
  for (int i = 0; i < 5000; ++i) {
    auto gone = suspects.take_gone();
    if (!gone.empty() || !suspects.any()) return gone;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return {};
}

void end(pid_t pid) {
  ::kill(pid, SIGKILL);
  ASSERT_EQ(::waitpid(pid, nullptr, 0), pid);
}

TEST(Suspects, FindsWhoHasEndedUnreaped) {
  Suspects suspects;
  const pid_t pid = sleeper();
  ASSERT_EQ(::kill(pid, SIGKILL), 0);
  suspects.add({3, 2, "broken"}, pid);
  const auto gone = gone_in_time(suspects);
  ASSERT_EQ(gone.size(), 1u);
  EXPECT_EQ(gone[0].rank, 3u);
  EXPECT_EQ(gone[0].epoch, 2u);
  EXPECT_EQ(gone[0].how, "broken");
  EXPECT_FALSE(suspects.any());
  ASSERT_EQ(::waitpid(pid, nullptr, 0), pid);
}

TEST(Suspects, FindsWhoIsNoMore) {
  Suspects suspects;
  const pid_t pid = sleeper();
  end(pid);
  suspects.add({1, 1, "broken"}, pid);
  EXPECT_EQ(suspects.take_gone().size(), 1u);
}

TEST(Suspects, LetsTheLivingGo) {
  Suspects suspects;
  const pid_t pid = sleeper();
  suspects.add({1, 1, "broken"}, pid);
  EXPECT_TRUE(suspects.take_gone().empty());
  EXPECT_TRUE(suspects.any());
  EXPECT_TRUE(gone_in_time(suspects).empty());
  EXPECT_FALSE(suspects.any());
  end(pid);
}

}  // namespace
