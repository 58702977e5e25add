// Statistics that several threads add to at once, without a locked instruction and without lines that
// move between them. Counts are exact.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "count.h"
#include "thread_handle.h"

namespace causeway {

// Each cell belongs to the thread that took it, which alone writes its counts. A thread whose cell
// belongs to another one, and every thread when they are more than cells, adds to `shared_` with a
// locked instruction. Cells stay with threads that ended, until another one gets the same handle:
// that one began after the other ended, and goes on where it stopped.
// Relaxed throughout: read by whoever asks, ordering nothing.
template <size_t N>
class ThreadCounters {
 public:
  void add(size_t which, uint64_t amount) {
    if (add_if_own(which, amount)) return;
    if (take()) {
      add_if_own(which, amount);
    } else {
      shared_[which].add_shared(amount);
    }
  }
  // As add(), where the calling thread has its cell already; else false, and nothing is counted. For
  // callers that have a way of their own for what is rare, so that this one needs no frame.
  bool add_if_own(size_t which, uint64_t amount) {
    const uintptr_t self = thread_handle();
    Cell& cell = cell_of(self);
    if (__builtin_expect(cell.owner.load(std::memory_order_relaxed) != self, 0)) return false;
    cell.counts[which].add(amount);
    return true;
  }
  // Where it is known that no other thread counts.
  void add_alone(size_t which, uint64_t amount) { shared_[which].add(amount); }

  uint64_t read(size_t which) const {
    uint64_t sum = shared_[which];
    for (const Cell& cell : cells_) sum += cell.counts[which];
    return sum;
  }

 private:
  static constexpr uint32_t cell_count = 16;
  struct alignas(64) Cell {
    std::atomic<uintptr_t> owner{0};
    Count counts[N];
  };

  Cell& cell_of(uintptr_t self) { return cells_[thread_number(self, cell_count)]; }
  __attribute__((noinline)) bool take() {
    const uintptr_t self = thread_handle();
    Cell& cell = cell_of(self);
    uintptr_t nobody = 0;
    return cell.owner.load(std::memory_order_relaxed) == 0 &&
           cell.owner.compare_exchange_strong(nobody, self, std::memory_order_relaxed);
  }

  alignas(64) Count shared_[N];
  Cell cells_[cell_count];
};

}  // namespace causeway
