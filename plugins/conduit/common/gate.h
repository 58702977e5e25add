// Lets one thread at a time into a conduit's domain, and costs a test while there is only one.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <mutex>

#include "relax.h"

namespace causeway {

// Recursive: handlers reply from inside progress. Polls follow each other so closely that other
// threads would hardly get in between: a thread that polls stays away while another one waits to
// post, and rests where another one has posted since the last poll. After some polls that were sent
// away in a row the next one insists. core/connection/entry_lock.h is the same for the core.
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
    if (waits) enter();
    return waits || try_enter() ? Hold::locked : Hold::refused;
  }
  void release(Hold hold) {
    if (hold == Hold::counted) count_out();
    if (hold == Hold::locked) leave();
  }

  // The conduit's own thread enters. False: a call is inside, or the kernel passed no barrier; the
  // visitor comes again later.
  bool visit() {
    visitors_.fetch_add(1, std::memory_order_relaxed);
    const bool fenced =
        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0 || several();
    if (fenced && inside_.load(std::memory_order_acquire) == 0 && mutex_.try_lock()) return true;
    visitors_.fetch_sub(1, std::memory_order_release);
    return false;
  }
  void end_visit() {
    mutex_.unlock();
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
  void enter() {
    if (!mutex_.try_lock()) wait();
    count(1);
    posted_.store(pthread_self(), std::memory_order_relaxed);
  }
  bool try_enter() {
    if (!try_mutex()) return false;
    count(1);
    posted_.store(pthread_t{}, std::memory_order_relaxed);
    refused_.store(0, std::memory_order_relaxed);
    return true;
  }
  void leave() {
    count(-1);
    mutex_.unlock();
  }
  bool try_mutex() {
    constexpr uint32_t patience = 32;
    const uint32_t refused = refused_.load(std::memory_order_relaxed);
    if (__builtin_expect(refused >= patience, 0)) {
      refused_.store(0, std::memory_order_relaxed);
      return look(50);
    }
    // A thread that is inside finds `depth_` as it left it, and goes on.
    const bool makes_way = depth_.load(std::memory_order_relaxed) == 0;
    const bool waited_for = makes_way && waiting_.load(std::memory_order_relaxed) != 0;
    if (makes_way && !waited_for) rest_behind_post();
    if (!waited_for && mutex_.try_lock()) return true;
    refused_.store(refused + 1, std::memory_order_relaxed);
    return false;
  }
  // The rest is about as long as a poll that finds nothing, so that half of the time is the other
  // thread's: 1 us on the processor where it was measured (AMD EPYC).
  void rest_behind_post() {
    const pthread_t posted = posted_.load(std::memory_order_relaxed);
    if (posted == pthread_t{} || posted == pthread_self()) return;
    for (int i = 0; i < 40; ++i) relax();
  }
  // A thread sleeps only if another one stays inside for longer than a call of the kernel takes.
  // Polls make no way for a sleeper: until it runs again nothing would move.
  __attribute__((noinline)) void wait() {
    waiting_.fetch_add(1, std::memory_order_relaxed);
    const bool inside = look(200);
    waiting_.fetch_sub(1, std::memory_order_relaxed);
    if (!inside) mutex_.lock();
  }
  __attribute__((noinline)) bool look(int times) {
    for (int i = 0; i < times; ++i) {
      if (mutex_.try_lock()) return true;
      relax();
    }
    return false;
  }
  void count(int32_t change) {
    depth_.store(depth_.load(std::memory_order_relaxed) + change, std::memory_order_relaxed);
  }

  // Relaxed: changed while no other call is in progress (ep_threads), and never lowered again.
  std::atomic<Mode> mode_{Mode::alone};
  // Calls of the single thread that are inside, nested ones too; that thread alone writes it. Its
  // last store releases to the visitor, as the visitor's end does to the next call.
  std::atomic<uint32_t> inside_{0}, visitors_{0};
  // Relaxed, all of the following: they only advise; the mutex excludes. `waiting_`: threads that
  // look for their turn to post. `refused_`: polls that were sent away in a row. `depth_`: how
  // often the thread inside has entered; `posted_`: the thread that entered last to post, 0 after a
  // poll; the thread inside alone writes both.
  std::atomic<uint32_t> waiting_{0}, refused_{0};
  std::atomic<int32_t> depth_{0};
  std::atomic<pthread_t> posted_{};
  std::recursive_mutex mutex_;
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
