// Plan: what happens to which operation. A pure function of the seed, of who talks to whom and of
// the operation's number, so that the same seed gives a program the same misfortunes however its
// ranks are scheduled.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace causeway::chaos {

// Chances in 1000.
struct Rates {
  uint32_t retry = 0;    // that a post is refused once more
  uint32_t delay = 0;    // that a completion is held back
  uint32_t reorder = 0;  // that a received message is held back
  uint32_t shorten = 0;  // that a call of progress does less than it was asked for
  uint32_t hold = 1;     // calls of progress that something is held back for, at most
};

enum class Poll { whole, one, empty };

class Plan {
 public:
  // More in a row would be a conduit that does not keep its word: RETRY clears by progress.
  static constexpr uint32_t most_refusals = 16;

  Plan(uint64_t seed, uint32_t rank, const Rates& rates)
      : base_(mix(seed ^ mix(0x6368616f73u + rank))), rates_(rates) {}

  // How often operation `n` (from 0) to `peer` is refused before it is let through.
  uint32_t refusals(uint32_t peer, uint64_t n) const {
    uint32_t times = 0;
    while (times < most_refusals && chance(rates_.retry, dice(1 + times, peer, n))) ++times;
    return times;
  }
  // Calls of progress for which its completion is held back; 0: not at all.
  uint32_t delay(uint32_t peer, uint64_t n) const { return hold(rates_.delay, 32, peer, n); }
  // The same for message `n` from `peer`.
  uint32_t reorder(uint32_t peer, uint64_t n) const { return hold(rates_.reorder, 34, peer, n); }
  // The plan for call `n` of progress.
  Poll poll(uint64_t n) const {
    const uint64_t d = dice(36, 0, n);
    if (!chance(rates_.shorten, d)) return Poll::whole;
    return (d >> 60) % 2 == 0 ? Poll::one : Poll::empty;
  }

 private:
  static uint64_t mix(uint64_t z) {  // splitmix64
    z += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  uint64_t dice(uint64_t stream, uint32_t peer, uint64_t n) const {
    return mix(base_ ^ mix(stream << 32 ^ peer) ^ mix(n * 0xd1342543de82ef95u + stream));
  }
  static bool chance(uint32_t of_1000, uint64_t d) { return (d & 0xffffffffu) % 1000 < of_1000; }
  uint32_t hold(uint32_t rate, uint64_t stream, uint32_t peer, uint64_t n) const {
    if (!chance(rate, dice(stream, peer, n))) return 0;
    return 1 +
           static_cast<uint32_t>(dice(stream + 1, peer, n) % (rates_.hold != 0 ? rates_.hold : 1));
  }

  uint64_t base_;
  Rates rates_;
};

}  // namespace causeway::chaos
