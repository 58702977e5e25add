#include "connection/entry_lock.h"

#include <causeway/tools/atomics.h>

namespace causeway {

void EntryLock::lock() {
  if (!mutex_.try_lock()) wait();
  count(1);
  posted_.store(pthread_self(), std::memory_order_relaxed);
}

bool EntryLock::try_lock() {
  if (!try_mutex()) return false;
  count(1);
  posted_.store(pthread_t{}, std::memory_order_relaxed);
  refused_.store(0, std::memory_order_relaxed);
  return true;
}

bool EntryLock::try_mutex() {
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

void EntryLock::rest_behind_post() const {
  const pthread_t posted = posted_.load(std::memory_order_relaxed);
  if (posted == pthread_t{} || posted == pthread_self()) return;
  for (int i = 0; i < 40; ++i) gasnett_spinloop_hint();
}

void EntryLock::wait() {
  waiting_.fetch_add(1, std::memory_order_relaxed);
  const bool inside = look(200);
  waiting_.fetch_sub(1, std::memory_order_relaxed);
  if (!inside) mutex_.lock();
}

bool EntryLock::look(int times) {
  for (int i = 0; i < times; ++i) {
    if (mutex_.try_lock()) return true;
    gasnett_spinloop_hint();
  }
  return false;
}

}  // namespace causeway
