// Lets one thread at a time into a conduit's domain, and costs a test while there is only one.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <mutex>

#include "relax.h"

namespace causeway {

// Recursive: handlers reply from inside progress. Polls follow each other so closely that other
// threads would hardly get in between: a thread that polls stays away while another one waits to
// post, and rests where another one has posted since its last poll.
class Gate {
 public:
  void raise(bool several) {
    if (several) several_.store(true, std::memory_order_relaxed);
  }
  bool several() const { return several_.load(std::memory_order_relaxed); }

  void enter() {
    if (!mutex_.try_lock()) wait();
    count(1);
    posted_.store(pthread_self(), std::memory_order_relaxed);
  }
  bool try_enter() {
    // A thread that is inside finds `depth_` as it left it, and goes on.
    if (depth_.load(std::memory_order_relaxed) == 0) {
      if (waiting_.load(std::memory_order_relaxed) != 0) return false;
      const pthread_t posted = posted_.load(std::memory_order_relaxed);
      if (posted != pthread_t{} && posted != pthread_self()) rest();
    }
    if (!mutex_.try_lock()) return false;
    count(1);
    posted_.store(pthread_t{}, std::memory_order_relaxed);
    return true;
  }
  void leave() {
    count(-1);
    mutex_.unlock();
  }

 private:
  // A thread sleeps only if another one stays inside for longer than a call of the kernel takes,
  // and then holds nobody up: until it runs again nothing would move.
  __attribute__((noinline)) void wait() {
    constexpr int looks = 200;
    waiting_.fetch_add(1, std::memory_order_relaxed);
    bool inside = false;
    for (int i = 0; i < looks && !inside; ++i) {
      relax();
      inside = mutex_.try_lock();
    }
    waiting_.fetch_sub(1, std::memory_order_relaxed);
    if (!inside) mutex_.lock();
  }
  // About as long as a poll, so that half of the time is the other thread's.
  __attribute__((noinline)) static void rest() {
    for (int i = 0; i < 40; ++i) relax();
  }
  void count(int32_t change) {
    depth_.store(depth_.load(std::memory_order_relaxed) + change, std::memory_order_relaxed);
  }

  // Relaxed: raised while no other call is in progress (ep_threads), and never lowered again.
  std::atomic<bool> several_{false};
  // Relaxed, all: they only advise; the mutex excludes. `depth_`, how often the thread inside has
  // entered, and `posted_`, the last one that did to post since the last poll, are written by the
  // thread inside alone.
  std::atomic<uint32_t> waiting_{0};
  std::atomic<int32_t> depth_{0};
  std::atomic<pthread_t> posted_{};
  std::recursive_mutex mutex_;
};

class Pass {
 public:
  explicit Pass(Gate& gate) : gate_(gate), held_(gate.several()) {
    if (__builtin_expect(held_, 0)) gate_.enter();
  }
  Pass(Gate& gate, std::try_to_lock_t) : gate_(gate), held_(gate.several()) {
    if (__builtin_expect(held_, 0) && !gate_.try_enter()) held_ = false, refused_ = true;
  }
  ~Pass() {
    if (__builtin_expect(held_, 0)) gate_.leave();
  }
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;
  bool refused() const { return refused_; }

 private:
  Gate& gate_;
  bool held_;
  bool refused_ = false;
};

}  // namespace causeway
