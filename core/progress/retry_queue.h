// RetryQueue: transfers that the core makes of several pieces and that met back-pressure after the
// first, oldest first. Polls have each tried again.
#pragma once

#include <deque>
#include <mutex>

#include "progress/hints.h"

namespace causeway {

template <typename Transfer>
class RetryQueue {
 public:
  void add(Transfer* transfer) {
    // First: another thread may take it out, and count it down, at once.
    emulations_waiting.fetch_add(1, std::memory_order_relaxed);
    push(transfer);
  }

  // Calls `go_on` once with each transfer, so that one to a slow peer does not hold up the others.
  // It answers false where there is still no room; otherwise the transfer is its own. A transfer is
  // out of the queue meanwhile, and no lock is held: a message to this very process runs its
  // handler there and then, and the handler may send.
  template <typename GoOn>
  void try_each(GoOn&& go_on) {
    for (size_t left = count(); left != 0; --left) {
      Transfer* const transfer = pop();
      if (transfer == nullptr) return;
      if (go_on(*transfer))
        emulations_waiting.fetch_sub(1, std::memory_order_relaxed);
      else
        push(transfer);
    }
  }

 private:
  void push(Transfer* transfer) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(transfer);
  }
  Transfer* pop() {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) return nullptr;
    Transfer* const transfer = waiting_.front();
    waiting_.pop_front();
    return transfer;
  }
  size_t count() {
    const std::lock_guard lock(mutex_);
    return waiting_.size();
  }

  std::mutex mutex_;
  std::deque<Transfer*> waiting_;
};

}  // namespace causeway
