// Lets one thread at a time into a conduit's domain, and costs a test while there is only one.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <mutex>

namespace causeway {

// Recursive: handlers reply from inside progress.
class Gate {
 public:
  void raise(bool several) {
    if (several) several_.store(true, std::memory_order_relaxed);
  }
  bool several() const { return several_.load(std::memory_order_relaxed); }
  std::recursive_mutex& mutex() { return mutex_; }

 private:
  // Relaxed: raised while no other call is in progress (ep_threads), and never lowered again.
  std::atomic<bool> several_{false};
  std::recursive_mutex mutex_;
};

class Pass {
 public:
  explicit Pass(Gate& gate) : gate_(gate), held_(gate.several()) {
    if (__builtin_expect(held_, 0)) gate_.mutex().lock();
  }
  Pass(Gate& gate, std::try_to_lock_t) : gate_(gate), held_(gate.several()) {
    if (__builtin_expect(held_, 0) && !gate_.mutex().try_lock()) held_ = false, refused_ = true;
  }
  ~Pass() {
    if (__builtin_expect(held_, 0)) gate_.mutex().unlock();
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
