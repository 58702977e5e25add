// The lock around an endpoint of a SERIAL conduit.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <mutex>

namespace causeway {

// Recursive: between a prepare and its commit a thread may do anything. Polls follow each other so
// closely that other threads would hardly get in between: a thread that polls (try_lock) stays away
// while another one waits to post (lock), and rests where another one has posted since its last
// poll. Plugins with a lock of their own have the same (plugins/conduit/common/gate.h).
class EntryLock {
 public:
  void lock();
  bool try_lock();
  void unlock() {
    count(-1);
    mutex_.unlock();
  }

 private:
  void wait();
  void count(int32_t change) {
    depth_.store(depth_.load(std::memory_order_relaxed) + change, std::memory_order_relaxed);
  }

  // Relaxed, all: they only advise; the mutex excludes. `depth_`, how often the thread inside has
  // entered, and `posted_`, the last one that did to post since the last poll, are written by the
  // thread inside alone.
  std::atomic<uint32_t> waiting_{0};
  std::atomic<int32_t> depth_{0};
  std::atomic<pthread_t> posted_{};
  std::recursive_mutex mutex_;
};

}  // namespace causeway
