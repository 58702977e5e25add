// Memory that any thread hands back and the thread inside an endpoint takes: linked through its own
// first bytes, which nobody needs any more.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <utility>

namespace causeway {

class HandedBack {
 public:
  // Each piece of memory begins with one, aligned as it is.
  struct Link {
    Link* next = nullptr;
  };
  // Release: what was done with the memory comes before its next use.
  void push(Link* piece) {
    piece->next = top_.load(std::memory_order_relaxed);
    while (!top_.compare_exchange_weak(piece->next, piece, std::memory_order_release,
                                       std::memory_order_relaxed)) {
    }
  }
  // Relaxed: a hint; the taking orders.
  bool empty() const { return top_.load(std::memory_order_relaxed) == nullptr; }
  // Acquire. All at once, so that no piece which was taken and came back is mistaken for the top.
  template <class Visit>
  void take_all(Visit&& visit) {
    if (empty()) return;
    for (Link* at = top_.exchange(nullptr, std::memory_order_acquire); at != nullptr;)
      visit(std::exchange(at, at->next));
  }

 private:
  std::atomic<Link*> top_{nullptr};
};

}  // namespace causeway
