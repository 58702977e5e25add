#include "connection/entry_lock.h"

namespace causeway {
namespace {

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// About as long as a poll, so that half of the time is the other thread's.
void rest() {
  for (int i = 0; i < 40; ++i) relax();
}

}  // namespace

void EntryLock::lock() {
  if (!mutex_.try_lock()) wait();
  count(1);
  posted_.store(pthread_self(), std::memory_order_relaxed);
}

bool EntryLock::try_lock() {
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

// A thread sleeps only if another one stays inside for longer than a call of the kernel takes, and
// then holds nobody up: until it runs again nothing would move.
void EntryLock::wait() {
  constexpr int kLooks = 200;
  waiting_.fetch_add(1, std::memory_order_relaxed);
  bool inside = false;
  for (int i = 0; i < kLooks && !inside; ++i) {
    relax();
    inside = mutex_.try_lock();
  }
  waiting_.fetch_sub(1, std::memory_order_relaxed);
  if (!inside) mutex_.lock();
}

}  // namespace causeway
