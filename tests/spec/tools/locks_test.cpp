// Mutexes, conditions, reader/writer locks, thread-specific pointers.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "tools.h"

GASNETT_THREADKEY_DECLARE(spec_key);
GASNETT_THREADKEY_DEFINE(spec_key);

namespace {
gasnett_mutex_t g_mutex = GASNETT_MUTEX_INITIALIZER;
gasnett_cond_t g_cond = GASNETT_COND_INITIALIZER;
gasnett_rwlock_t g_rwlock = GASNETT_RWLOCK_INITIALIZER;
}  // namespace

TEST(Mutex, one_thread) {
  gasnett_mutex_t other;
  gasnett_mutex_init(&other);
  for (gasnett_mutex_t* m : {&g_mutex, &other}) {
    gasnett_mutex_lock(m);
    gasnett_mutex_assertlocked(m);
    gasnett_mutex_unlock(m);
    gasnett_mutex_assertunlocked(m);
    EXPECT_EQ(gasnett_mutex_trylock(m), 0);
    gasnett_mutex_unlock(m);
  }
  EXPECT_EQ(gasnett_mutex_destroy_ignoreerr(&other), 0);
  gasnett_mutex_t third = GASNETT_MUTEX_INITIALIZER;
  gasnett_mutex_destroy(&third);
}

TEST(Condition, life) {
  gasnett_cond_t c;
  gasnett_cond_init(&c);
  gasnett_cond_signal(&c);
  gasnett_cond_broadcast(&c);
  gasnett_cond_destroy(&c);
}

TEST(RwLock, one_thread) {
  gasnett_rwlock_t other;
  gasnett_rwlock_init(&other);
  for (gasnett_rwlock_t* l : {&g_rwlock, &other}) {
    gasnett_rwlock_rdlock(l);
    gasnett_rwlock_assertrdlocked(l);
    gasnett_rwlock_assertlocked(l);
    gasnett_rwlock_unlock(l);
    gasnett_rwlock_wrlock(l);
    gasnett_rwlock_assertwrlocked(l);
    gasnett_rwlock_unlock(l);
    gasnett_rwlock_assertunlocked(l);
    EXPECT_EQ(gasnett_rwlock_tryrdlock(l), 0);
    gasnett_rwlock_unlock(l);
    EXPECT_EQ(gasnett_rwlock_trywrlock(l), 0);
    gasnett_rwlock_unlock(l);
  }
  gasnett_rwlock_destroy(&other);
}

#ifdef GASNETT_THREAD_SAFE
TEST(Mutex, excludes) {
  long first = 0, second = 0;
  unsigned torn = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 5000; ++i) {
        gasnett_mutex_lock(&g_mutex);
        torn += first != second;
        ++first;
        gasnett_compiler_fence();
        ++second;
        gasnett_mutex_unlock(&g_mutex);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(first, 20000);
  EXPECT_EQ(torn, 0u);
  gasnett_mutex_lock(&g_mutex);
  int status = 0;
  std::thread([&] { status = gasnett_mutex_trylock(&g_mutex); }).join();
  EXPECT_EQ(status, EBUSY);
  gasnett_mutex_unlock(&g_mutex);
}

TEST(Condition, wakes) {
  int ready = 0, awake = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      gasnett_mutex_lock(&g_mutex);
      while (!ready) gasnett_cond_wait(&g_cond, &g_mutex);
      ++awake;
      gasnett_mutex_unlock(&g_mutex);
    });
  gasnett_mutex_lock(&g_mutex);
  ready = 1;
  gasnett_cond_broadcast(&g_cond);
  gasnett_mutex_unlock(&g_mutex);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(awake, 3);
}

// Readers share, a writer does not.
TEST(RwLock, excludes_writers) {
  gasnett_rwlock_rdlock(&g_rwlock);
  int reader = -1, writer = -1;
  std::thread([&] {
    reader = gasnett_rwlock_tryrdlock(&g_rwlock);
    if (reader == 0) gasnett_rwlock_unlock(&g_rwlock);
    writer = gasnett_rwlock_trywrlock(&g_rwlock);
  }).join();
  EXPECT_EQ(reader, 0);
  EXPECT_EQ(writer, EBUSY);
  gasnett_rwlock_unlock(&g_rwlock);
  gasnett_rwlock_wrlock(&g_rwlock);
  std::thread([&] { reader = gasnett_rwlock_tryrdlock(&g_rwlock); }).join();
  EXPECT_EQ(reader, EBUSY);
  gasnett_rwlock_unlock(&g_rwlock);
}

TEST(Mutex, misuse_is_named) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer names it first";
#endif
  gasnett_mutex_t garbage;
  std::memset(&garbage, 0x5a, sizeof garbage);
  EXPECT_DEATH(gasnett_mutex_lock(&garbage), "FATAL ERROR .*gasnett_mutex_lock");
}
#else
TEST(Condition, nobody_could_wake_it) {
  EXPECT_DEATH(gasnett_cond_wait(&g_cond, &g_mutex), "gasnett_cond_wait.*only one thread");
}
#endif

TEST(ThreadKey, is_per_thread_and_null_at_first) {
  int mine = 1;
  gasnett_threadkey_init(spec_key);
  EXPECT_EQ(gasnett_threadkey_get(spec_key), nullptr);
  gasnett_threadkey_set(spec_key, &mine);
  void* seen = &mine;
  std::thread([&] {
    seen = gasnett_threadkey_get(spec_key);
    gasnett_threadkey_set_noinit(spec_key, &seen);
  }).join();
  EXPECT_EQ(seen, nullptr);
  EXPECT_EQ(gasnett_threadkey_get_noinit(spec_key), &mine);
  gasnett_threadkey_set(spec_key, nullptr);
}
