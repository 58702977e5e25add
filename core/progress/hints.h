// Hints: what polls have to push on beside the conduits. Each room counts its own; all together
// stand in one word, so that a poll that finds nothing looks once.
#pragma once

#include <atomic>
#include <cstdint>

namespace causeway {

// The sum over all rooms. Relaxed: a hint whether there is anything to look for.
[[gnu::visibility("hidden")]] inline std::atomic<uint32_t> poll_hints{0};

// Counts like the atomic it looks like. What is not yet in the sum is met by a later poll.
class PollHint {
 public:
  uint32_t load(std::memory_order order) const { return own_.load(order); }
  void fetch_add(uint32_t n, std::memory_order order) {
    own_.fetch_add(n, order);
    poll_hints.fetch_add(n, std::memory_order_relaxed);
  }
  void fetch_sub(uint32_t n, std::memory_order order) {
    own_.fetch_sub(n, order);
    poll_hints.fetch_sub(n, std::memory_order_relaxed);
  }

 private:
  std::atomic<uint32_t> own_{0};
};

// Transfers that the core makes of several messages or copies and that have something left to do.
[[gnu::visibility("hidden")]] inline PollHint emulations_waiting;

}  // namespace causeway
