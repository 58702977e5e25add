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
// post, and rests where another one has posted since the last poll. After some polls that were sent
// away in a row the next one insists. core/connection/entry_lock.h is the same for the core.
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

 private:
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

  // Relaxed: raised while no other call is in progress (ep_threads), and never lowered again.
  std::atomic<bool> several_{false};
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
