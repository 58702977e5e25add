// When a receiver looks at a lane: not while its looks would keep the sender from filling the line.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

namespace causeway::shm {

// Cheap clock for pacing; its unit is roughly a nanosecond or a fraction of one. 0: there is none.
inline uint64_t ticks() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return 0;
#endif
}

// Keeps a receiver from reading the very line its sender is going to fill: each such look costs the
// sender the line, and a flood crawls at one message per two transfers, for as long as no chance
// event lets the sender run ahead. After some finds the lane rests, for longer than a transfer
// takes, so that a sender who has more to send gets ahead. A rest that ends with messages waiting
// doubles the next one. One that ends with none, or a single one, whose sender may wait for its
// answer, halves it; after the shortest the lane no longer rests, and the next try comes after
// twice as many finds. So a flood waits for batches, and a ping-pong pays a rest in hundreds of
// messages.
class Pace {
 public:
  // Neither resting nor just rested. Relaxed throughout: hints, of which any mixture is right.
  bool idle() const { return until_.load(std::memory_order_relaxed) == 0; }

  // When not idle(): is the rest over?
  bool rested() {
    const uint64_t until = until_.load(std::memory_order_relaxed);
    if (static_cast<int64_t>(until - ticks()) > 0) return false;
    until_.store(just_rested, std::memory_order_relaxed);
    return true;
  }

  // When not idle(): a look after the rest found no message.
  void found_nothing() {
    constexpr auto relaxed = std::memory_order_relaxed;
    const uint32_t rest = rest_.load(relaxed);
    if (rest > least) {
      rest_.store(rest / 2, relaxed);
      until_.store(ticks() + rest / 2, relaxed);
      return;
    }
    until_.store(0, relaxed);
    const uint32_t gap = gap_.load(relaxed);
    countdown_.store(gap, relaxed);
    if (gap < most_gap) gap_.store(2 * gap, relaxed);
  }
  // So many messages were found and the lane is now empty.
  void emptied(uint32_t messages) {
    const uint32_t left = countdown_.load(std::memory_order_relaxed);
    if (__builtin_expect(left != 0, 1))
      countdown_.store(left - 1, std::memory_order_relaxed);
    else if (messages == 1 && !idle())
      found_nothing();
    else
      rest();
  }
  // Begins one, longer than the last if messages waited when that had ended.
  void rest() {
    constexpr auto relaxed = std::memory_order_relaxed;
    uint32_t rest = rest_.load(relaxed);
    if (until_.load(relaxed) == just_rested) {
      gap_.store(least_gap, relaxed);
      if (rest < most) rest_.store(rest *= 2, relaxed);
    }
    const uint64_t now = ticks();
    until_.store(now != 0 ? now + rest : 0, relaxed);
  }

 private:
  static constexpr uint32_t least = 1024, most = 4096;      // ticks
  static constexpr uint32_t least_gap = 16, most_gap = 64;  // finds
  static constexpr uint64_t just_rested = 1;                // long ago, as ticks go

  std::atomic<uint64_t> until_{0};
  std::atomic<uint32_t> rest_{least}, countdown_{least_gap}, gap_{least_gap};
};

// Does a receiver that never finds the ring empty nevertheless keep step with its sender? Its
// processor reads ahead of what it may use, takes the line that the sender is about to write, and
// reads it again when it has been written: every message is there in time, and each costs two
// transfers. It shows in the time that messages take while none waits behind them; where handlers
// take that time, messages wait.
class StepWatch {
 public:
  // To be asked after so many messages of one look at the lane. `waits(n)`: is there a message n
  // lines on? Looks there once in `every` messages, and at the clock if there is none.
  template <typename Waits>
  bool in_step(uint32_t delivered, Waits waits) {
    if (__builtin_expect(delivered % every != every / 2, 1)) return false;
    if (waits(4)) {
      since_ = 0;
      return false;
    }
    const uint64_t now = ticks(), since = since_;
    since_ = now;
    return since != 0 && now - since > every * slow;
  }

 private:
  static constexpr uint32_t every = 16;  // messages
  static constexpr uint64_t slow = 128;  // ticks a message
  uint64_t since_ = 0;
};

}  // namespace causeway::shm
