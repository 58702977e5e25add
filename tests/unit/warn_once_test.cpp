// Warnings of what programs do over and over. Catches: a text that is said at every turn, and one
// that is held back because another was said before.
#include "base/warn_once.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace causeway {
namespace {

TEST(WarnOnce, SaysEachTextOnce) {
  testing::internal::CaptureStderr();
  for (int turn = 0; turn < 3; ++turn) {
    warn_once("{}: flags {:#x}", "gex_Some_Call()", 4);
    warn_once("{}: flags {:#x}", "gex_Other_Call()", 4);
  }
  const std::string said = testing::internal::GetCapturedStderr();
  const auto times = [&](const std::string& text) {
    int count = 0;
    for (size_t at = said.find(text); at != std::string::npos; at = said.find(text, at + 1))
      ++count;
    return count;
  };
  EXPECT_EQ(times("gex_Some_Call(): flags 0x4"), 1) << said;
  EXPECT_EQ(times("gex_Other_Call(): flags 0x4"), 1) << said;
}

TEST(WarnOnce, IsFirstForOneOfManyThreads) {
  std::atomic<int> firsts{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int text = 0; text < 100; ++text) firsts += is_first("text " + std::to_string(text));
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(firsts, 100);
}

}  // namespace
}  // namespace causeway
