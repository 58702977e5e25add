// Lets one thread at a time into a conduit's domain, and costs a test while there is only one.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <causeway/entry_lock.h>

#include <atomic>
#include <cstdint>

namespace causeway {

// Where several threads enter, EntryLock says who makes way for whom.
//
// Beside a single thread a thread of the conduit's own may visit, rarely. The single thread counts
// itself in and looks for a visitor then; the visitor announces itself, makes the kernel pass a
// full barrier on every running thread, and looks whether anybody is counted in. So one of the two
// sees the other, and the frequent side pays for no barrier.
class Gate {
 public:
  enum class Hold : uint8_t { none, counted, locked, refused };

  void raise(bool several) {
    if (several) mode_.store(Mode::several, std::memory_order_relaxed);
  }
  bool several() const { return mode_.load(std::memory_order_relaxed) == Mode::several; }
  // Before the first call. Where the kernel has no such barrier, calls take the mutex.
  void expect_visits() {
    const bool fences =
        syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
    mode_.store(fences ? Mode::visited : Mode::several, std::memory_order_relaxed);
  }

  // A call waits for its turn, or is refused while others are inside.
  Hold hold(bool waits) {
    const Mode mode = mode_.load(std::memory_order_relaxed);
    if (__builtin_expect(mode == Mode::alone, 1)) return Hold::none;
    if (mode == Mode::visited && count_in()) return Hold::counted;
    if (waits) lock_.lock();
    return waits || lock_.try_lock() ? Hold::locked : Hold::refused;
  }
  void release(Hold hold) {
    if (hold == Hold::counted) count_out();
    if (hold == Hold::locked) lock_.unlock();
  }

  // The conduit's own thread enters. False: a call is inside, or the kernel passed no barrier; the
  // visitor comes again later.
  bool visit() {
    visitors_.fetch_add(1, std::memory_order_relaxed);
    const bool fenced =
        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0 || several();
    if (fenced && inside_.load(std::memory_order_acquire) == 0 && lock_.try_visit()) return true;
    visitors_.fetch_sub(1, std::memory_order_release);
    return false;
  }
  void end_visit() {
    lock_.end_visit();
    visitors_.fetch_sub(1, std::memory_order_release);
  }

 private:
  enum class Mode : uint8_t { alone, visited, several };

  bool count_in() {
    inside_.store(inside_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);  // the visitor's barrier does the rest
    if (__builtin_expect(visitors_.load(std::memory_order_acquire) == 0, 1)) return true;
    count_out();
    return false;
  }
  void count_out() {
    inside_.store(inside_.load(std::memory_order_relaxed) - 1, std::memory_order_release);
  }

  // Relaxed: changed while no other call is in progress (ep_threads), and never lowered again.
  std::atomic<Mode> mode_{Mode::alone};
  // Calls of the single thread that are inside, nested ones too; that thread alone writes it. Its
  // last store releases to the visitor, as the visitor's end does to the next call.
  std::atomic<uint32_t> inside_{0}, visitors_{0};
  EntryLock lock_;
};

class Pass {
 public:
  explicit Pass(Gate& gate) : gate_(gate), hold_(gate.hold(true)) {}
  Pass(Gate& gate, std::try_to_lock_t) : gate_(gate), hold_(gate.hold(false)) {}
  ~Pass() {
    if (__builtin_expect(hold_ != Gate::Hold::none, 0)) gate_.release(hold_);
  }
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;
  bool refused() const { return hold_ == Gate::Hold::refused; }

 private:
  Gate& gate_;
  Gate::Hold hold_;
};

class Visit {
 public:
  explicit Visit(Gate& gate) : gate_(gate), inside_(gate.visit()) {}
  ~Visit() {
    if (inside_) gate_.end_visit();
  }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;
  bool refused() const { return !inside_; }

 private:
  Gate& gate_;
  const bool inside_;
};

}  // namespace causeway
