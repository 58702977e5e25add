/* The lock that lets one thread at a time into an endpoint or a domain. Empty before C++20, and
 * outside of the freeze. The core has it around endpoints of SERIAL conduits.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef CAUSEWAY_ENTRY_LOCK_H
#define CAUSEWAY_ENTRY_LOCK_H

#if defined(__cplusplus) && __cplusplus >= 202002L

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <mutex>

namespace causeway {

// A short rest of the processor between two looks at what another thread or process writes.
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");  // `yield` takes no time on most processors
#endif
}

// Recursive: between a prepare and its commit a thread may do anything, and handlers reply from
// inside progress. Polls follow each other so closely that other threads would hardly get in
// between: a thread that polls (try_lock) stays away while another one waits to post (lock), and
// rests where another one has posted since the last poll. After some polls that were sent away in a
// row the next one insists.
class EntryLock {
 public:
  void lock() {
    if (!mutex_.try_lock()) wait();
    count(1);
    posted_.store(pthread_self(), std::memory_order_relaxed);
  }
  bool try_lock() {
    if (!try_mutex()) return false;
    count(1);
    posted_.store(pthread_t{}, std::memory_order_relaxed);
    refused_.store(0, std::memory_order_relaxed);
    return true;
  }
  void unlock() {
    count(-1);
    mutex_.unlock();
  }

  // A thread that is neither: it has no part in who makes way for whom.
  bool try_visit() { return mutex_.try_lock(); }
  void end_visit() { mutex_.unlock(); }

 private:
  [[gnu::noinline]] bool try_mutex() {
    constexpr uint32_t kPatience = 32;
    const uint32_t refused = refused_.load(std::memory_order_relaxed);
    if (__builtin_expect(refused >= kPatience, 0)) {
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
  void rest_behind_post() const {
    const pthread_t posted = posted_.load(std::memory_order_relaxed);
    if (posted == pthread_t{} || posted == pthread_self()) return;
    for (int i = 0; i < 40; ++i) relax();
  }
  // A thread sleeps only if another one stays inside for longer than a call of the kernel takes.
  // Polls make no way for a sleeper: until it runs again nothing would move.
  [[gnu::noinline]] void wait() {
    waiting_.fetch_add(1, std::memory_order_relaxed);
    const bool inside = look(200);
    waiting_.fetch_sub(1, std::memory_order_relaxed);
    if (!inside) mutex_.lock();
  }
  [[gnu::noinline]] bool look(int times) {
    for (int i = 0; i < times; ++i) {
      if (mutex_.try_lock()) return true;
      relax();
    }
    return false;
  }
  void count(int32_t change) {
    depth_.store(depth_.load(std::memory_order_relaxed) + change, std::memory_order_relaxed);
  }

  // Relaxed, all: they only advise; the mutex excludes. `waiting_`: threads that look for their
  // turn to post. `refused_`: polls that were sent away in a row. `depth_`: how often the thread
  // inside has entered; `posted_`: the thread that entered last to post, 0 after a poll; the thread
  // inside alone writes both.
  std::atomic<uint32_t> waiting_{0}, refused_{0};
  std::atomic<int32_t> depth_{0};
  std::atomic<pthread_t> posted_{};
  std::recursive_mutex mutex_;
};

}  // namespace causeway

#endif /* C++20 */
#endif
