// Deadline: GASPI timeouts (17.1, 2.3), and the one loop that every blocking call waits in.
#pragma once

#include <GASPI.h>
#include <fmt/core.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "base/clock.h"
#include "progress/poll.h"
#include "progress/waiter.h"

namespace causeway::gaspi {

inline constexpr uint32_t kNoRank = UINT32_MAX;

class Deadline {
 public:
  // No clock is read for GASPI_TEST and GASPI_BLOCK, nor before the first wait for the others.
  // `call` and the rank that it is about, if there is one, are for who asks what a rank waits for.
  Deadline(const char* call, gaspi_timeout_t timeout, uint32_t rank = kNoRank)
      : call_(call), timeout_(timeout), rank_(rank) {}

  bool is_test() const { return timeout_ == GASPI_TEST; }
  bool is_block() const { return timeout_ == GASPI_BLOCK; }
  void start() {
    if (is_test() || is_block() || end_ != 0) return;
    constexpr uint64_t kLongest = UINT64_MAX / 2 / 1000000;
    end_ = now_ns() + (timeout_ < kLongest ? timeout_ : kLongest) * 1000000ull;
  }
  bool expired() const { return !is_block() && (is_test() || now_ns() >= end_); }
  // The time that a callee may take, in milliseconds; rounded up, so that 0 stays GASPI_TEST alone.
  gaspi_timeout_t left() const {
    if (is_test() || is_block()) return timeout_;
    const uint64_t now = now_ns();
    return now >= end_ ? GASPI_TEST : static_cast<gaspi_timeout_t>((end_ - now) / 1000000 + 1);
  }
  uint64_t left_ns() const {
    if (is_block()) return UINT64_MAX;
    const uint64_t now = now_ns();
    return is_test() || now >= end_ ? 0 : end_ - now;
  }
  // The subject of the wait: a format of one to three numbers, which lives as long as the program.
  void is_for(const char* what, uint32_t a, uint32_t b = 0, uint32_t c = 0) {
    what_ = what, numbers_ = {a, b, c};
  }
  // The writer of what is waited for looks at the word (WaitSubject::sleep_word).
  void sleeps_by(const std::atomic<uint32_t>& word) { sleep_word_ = &word; }
  WaitSubject subject() const {
    WaitSubject subject{
        call_, [](const void* arg) { return static_cast<const Deadline*>(arg)->text(); }, this};
    if (end_ != 0) subject.limit_ns = end_;
    subject.sleep_word = sleep_word_;
    return subject;
  }

 private:
  std::string text() const {
    const auto [a, b, c] = numbers_;
    if (what_ != nullptr) return fmt::format(fmt::runtime(what_), a, b, c);
    return rank_ == kNoRank ? "other ranks" : fmt::format("rank {}", rank_);
  }

  const char* call_;
  gaspi_timeout_t timeout_;
  uint32_t rank_;
  const char* what_ = nullptr;
  std::array<uint32_t, 3> numbers_{};
  uint64_t end_ = 0;
  const std::atomic<uint32_t>* sleep_word_ = nullptr;
};

// Repeats `attempt` until it answers other than GASPI_TIMEOUT or time is up, and makes progress
// meanwhile. With GASPI_TEST: tried, one poll, tried again. `announce`: called before the attempt
// that a sleep follows, where the deadline has a word to sleep by.
template <typename Attempt, typename Announce = void (*)()>
gaspi_return_t wait_for(
    Deadline& deadline, Attempt&& attempt, Announce&& announce = [] {}) {
  gaspi_return_t result = attempt();
  if (__builtin_expect(result != GASPI_TIMEOUT, 1)) return result;
  if (deadline.is_test()) {
    poll_for_client();
    return attempt();
  }
  deadline.start();
  WaiterFor waiter(deadline.subject());
  do {
    waiter.step();
    if (__builtin_expect(waiter.is_sleepy(), 0)) announce();
    result = attempt();
  } while (result == GASPI_TIMEOUT && !deadline.expired());
  return result;
}

}  // namespace causeway::gaspi
