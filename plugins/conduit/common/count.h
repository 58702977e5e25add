// A number that one thread at a time adds to, and any thread reads.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

namespace causeway {

// Relaxed: it orders nothing. Without a locked instruction, since one thread writes at a time.
class Count {
 public:
  operator uint64_t() const { return n_.load(std::memory_order_relaxed); }
  void add(uint64_t more) { n_.store(*this + more, std::memory_order_relaxed); }
  // Where several threads may count at once.
  void add_shared(uint64_t more) { n_.fetch_add(more, std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> n_{0};
};

}  // namespace causeway
