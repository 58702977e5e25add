// The lock around an endpoint of a SERIAL conduit.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <mutex>

namespace causeway {

// Recursive: between a prepare and its commit a thread may do anything. Polls follow each other so
// closely that other threads would hardly get in between: a thread that polls (try_lock) stays away
// while another one waits to post (lock), and rests where another one has posted since the last
// poll. After some polls that were sent away in a row the next one insists. Plugins with a lock of
// their own have the same in plugins/conduit/common/gate.h, whose reasons hold here.
class EntryLock {
 public:
  void lock();
  bool try_lock();
  void unlock() {
    count(-1);
    mutex_.unlock();
  }

 private:
  bool try_mutex();
  void rest_behind_post() const;
  void wait();
  bool look(int times);
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
