// Chapters 9 and 10: passive communication and global atomics.
#include <sys/resource.h>

#include <cstring>
#include <thread>
#include <vector>

#include "testing.h"

using namespace spec;

namespace {

double cpu_seconds_of_thread() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

// Catches: messages that are lost, mixed up, or said to come from somebody else; a sender that is
// never served.
SPEC_CASE(passive, many_to_one, 2) {
  constexpr unsigned kEach = 20;
  constexpr gaspi_size_t kSize = 3000;
  if (job().rank != 0) {
    for (unsigned i = 0; i < kEach; ++i) {
      std::memset(memory(0), static_cast<int>(job().rank * 16 + i % 16), kSize);
      gaspi_return_t result;
      do {  // a call that timed out goes on
        result = gaspi_passive_send(0, 0, 0, kSize, 3);
      } while (result == GASPI_TIMEOUT);
      CHECK_EQ(result, GASPI_SUCCESS);
    }
    return;
  }
  std::vector<unsigned> next(job().size, 0);
  for (unsigned i = 0; i < kEach * (job().size - 1u); ++i) {
    gaspi_rank_t from = 0;
    if (!CHECK_OK(gaspi_passive_receive(0, 5000, &from, kSize, kLong))) return;
    if (!CHECK(from > 0 && from < job().size)) return;
    const int expected = static_cast<unsigned char>(from * 16 + next[from]++ % 16);
    CHECK_EQ(static_cast<int>(*memory(5000)), expected);
    CHECK_EQ(static_cast<int>(*memory(5000 + kSize - 1)), expected);
  }
  for (unsigned r = 1; r < job().size; ++r) CHECK_EQ(next[r], kEach);
}

// Catches: a send that succeeds before somebody receives; a short or long message taken wrongly.
SPEC_CASE(passive, to_oneself) {
  std::strcpy(reinterpret_cast<char*>(memory(0)), "hello");
  CHECK_EQ(gaspi_passive_send(0, 0, job().rank, 6, GASPI_TEST), GASPI_TIMEOUT);
  CHECK_EQ(gaspi_passive_send(0, 0, job().rank, 6, 5), GASPI_TIMEOUT);
  gaspi_rank_t from = 999;
  gaspi_return_t result;
  do {
    result = gaspi_passive_receive(0, 100, &from, 2, 100);  // too short
  } while (result == GASPI_TIMEOUT);
  CHECK_EQ(result, GASPI_ERR_INV_SIZE);
  CHECK_OK(gaspi_passive_receive(0, 100, &from, 60, kLong));
  CHECK_EQ(from, job().rank);
  CHECK_EQ(std::string(reinterpret_cast<char*>(memory(100))), std::string("hello"));
  CHECK_OK(gaspi_passive_send(0, 0, job().rank, 6, kLong));  // the one that was begun
  CHECK_EQ(gaspi_passive_receive(0, 100, &from, 60, GASPI_TEST), GASPI_TIMEOUT);
  // A send that is given up leaves nothing behind.
  CHECK_EQ(gaspi_passive_send(0, 0, job().rank, 7, GASPI_TEST), GASPI_TIMEOUT);
  CHECK_OK(gaspi_passive_queue_purge(kLong));
  CHECK_EQ(gaspi_passive_receive(0, 100, &from, 60, 50), GASPI_TIMEOUT);
  gaspi_size_t most = 0;
  CHECK_OK(gaspi_passive_transfer_size_max(&most));
  CHECK_EQ(gaspi_passive_send(0, 0, 0, most + 1, kLong), GASPI_ERR_INV_COMMSIZE);
  CHECK_EQ(gaspi_passive_send(0, 0, job().size, 8, kLong), GASPI_ERR_INV_RANK);
  CHECK_EQ(gaspi_passive_receive(0, 0, nullptr, 8, kLong), GASPI_ERR_NULLPTR);
}

// Catches: a receive that spins while it waits. Looking costs several times as much under the
// thread sanitizer.
SPEC_CASE(passive, receive_sleeps) {
#if defined(__SANITIZE_THREAD__)
  constexpr double kMost = 0.35;
#else
  constexpr double kMost = 0.2;
#endif
  gaspi_rank_t from = 0;
  const double before = cpu_seconds_of_thread();
  CHECK_EQ(gaspi_passive_receive(0, 0, &from, 8, 400), GASPI_TIMEOUT);
  const double used = cpu_seconds_of_thread() - before;
  if (!CHECK(used < kMost)) report_failure(__FILE__, __LINE__, "CPU seconds: " + printed(used));
}

// Catches: updates that are lost, old values that were never there, also among threads.
SPEC_CASE(atomics, fetch_add) {
  constexpr unsigned kThreads = 2, kEach = 200;
  std::vector<std::thread> threads;
  std::atomic<unsigned> wrong{0};
  for (unsigned t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      gaspi_atomic_value_t last = 0;
      for (unsigned i = 0; i < kEach; ++i) {
        gaspi_atomic_value_t old = 0;
        gaspi_return_t result;
        do {
          result = gaspi_atomic_fetch_add(0, 256, 0, 3, &old, 1);
        } while (result == GASPI_TIMEOUT);  // which continues and does not add twice
        if (result != GASPI_SUCCESS || old % 3 != 0 || (i > 0 && old <= last)) wrong.fetch_add(1);
        last = old;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK_EQ(wrong.load(), 0u);
  barrier();
  gaspi_atomic_value_t now = 0;
  CHECK_OK(gaspi_atomic_fetch_add(0, 256, 0, 0, &now, kLong));
  CHECK_EQ(now, 3ul * kThreads * kEach * job().size);
  barrier();
}

// Catches: a lock of listing 15 that two processes hold.
SPEC_CASE(atomics, lock_by_compare_swap) {
  constexpr gaspi_atomic_value_t kFree = 9999999;
  const gaspi_rank_t owner = static_cast<gaspi_rank_t>(job().size - 1);
  if (job().rank == owner) *at<gaspi_atomic_value_t>(512) = kFree;
  barrier();
  for (int i = 0; i < 10; ++i) {
    gaspi_atomic_value_t old = 0;
    do {
      CHECK_OK(gaspi_atomic_compare_swap(0, 512, owner, kFree, job().rank, &old, kLong));
    } while (old != kFree);
    // A counter that only the holder of the lock changes, without atomics.
    CHECK_OK(gaspi_read(0, 600, owner, 0, 520, 8, 0, kLong));
    CHECK_OK(gaspi_wait(0, kLong));
    ++*at<uint64_t>(600);
    CHECK_OK(gaspi_write(0, 600, owner, 0, 520, 8, 0, kLong));
    CHECK_OK(gaspi_wait(0, kLong));
    CHECK_OK(gaspi_atomic_compare_swap(0, 512, owner, job().rank, kFree, &old, kLong));
    CHECK_EQ(old, job().rank);
  }
  barrier();
  if (job().rank == owner) CHECK_EQ(*at<uint64_t>(520), 10u * job().size);
  gaspi_atomic_value_t most = 0, old = 0;
  CHECK_OK(gaspi_atomic_max(&most));
  CHECK_EQ(most, ~0ul);
  CHECK_EQ(gaspi_atomic_fetch_add(0, 4, 0, 1, &old, kLong), GASPI_ERR_UNALIGN_OFF);
  CHECK_EQ(gaspi_atomic_fetch_add(0, kBytes - 4, 0, 1, &old, kLong), GASPI_ERR_INV_REM_OFF);
  CHECK_EQ(gaspi_atomic_fetch_add(99, 0, 0, 1, &old, kLong), GASPI_ERR_INV_SEG);
}
