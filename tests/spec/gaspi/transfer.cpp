// Chapter 8: one-sided communication, notifications, queues.
#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

#include "testing.h"

using namespace spec;

namespace {

void fill(std::byte* to, size_t bytes, uint64_t seed) {
  Random random(seed);
  for (size_t i = 0; i < bytes; ++i) to[i] = static_cast<std::byte>(random.next() >> 32);
}
bool is_filled(const std::byte* from, size_t bytes, uint64_t seed) {
  Random random(seed);
  for (size_t i = 0; i < bytes; ++i)
    if (from[i] != static_cast<std::byte>(random.next() >> 32)) return false;
  return true;
}

}  // namespace

// Catches: wrong bytes, at sizes around every change of protocol, by write and by read.
SPEC_CASE(transfer, sizes) {
  constexpr size_t kSource = 0, kTarget = 300000, kBack = 600000;
  for (const size_t size : {0u, 1u, 7u, 8u, 9u, 63u, 64u, 511u, 513u, 4095u, 4096u, 4097u, 8192u,
                            65535u, 65537u, 262144u}) {
    fill(memory(kSource), size, size + job().rank);
    CHECK_OK(gaspi_write(0, kSource, job().peer(), 0, kTarget, size, 0, kLong));
    CHECK_OK(gaspi_notify(0, job().peer(), 0, 1, 0, kLong));
    CHECK_EQ(take_note(0, 0), 1u);
    CHECK(is_filled(memory(kTarget), size, size + job().behind()));
    CHECK_OK(gaspi_wait(0, kLong));  // what comes back has to be there
    CHECK_OK(gaspi_read(0, kBack, job().peer(), 0, kTarget, size, 1, kLong));
    CHECK_OK(gaspi_wait(1, kLong));
    CHECK(is_filled(memory(kBack), size, size + job().rank));
    CHECK_OK(gaspi_wait(0, kLong));
    barrier();
  }
}

// Catches: a notification that overtakes data posted before it on the queue, with the sizes, the
// kind of call and the number of writes drawn by chance, in both segments.
SPEC_CASE(transfer, notifications_do_not_overtake) {
  Random random(seed());  // the same draws on every rank
  constexpr int kRounds = 60;
  constexpr size_t kPart = 40000;
  for (int round = 1; round <= kRounds; ++round) {
    const unsigned writes = 1 + static_cast<unsigned>(random.below(8));
    const auto queue = static_cast<gaspi_queue_id_t>(random.below(4));
    std::vector<size_t> sizes(writes);
    for (size_t& s : sizes) s = 1 + random.below(kPart);
    fill(memory(0), kPart, static_cast<uint64_t>(round) * 77 + job().rank);
    for (unsigned i = 0; i < writes; ++i) {
      CHECK_OK(gaspi_write(0, 0, job().peer(), 0, 400000 + i * kPart, sizes[i], queue, kLong));
    }
    CHECK_OK(gaspi_notify(1, job().peer(), 17, static_cast<unsigned>(round), queue, kLong));
    CHECK_EQ(take_note(1, 17), static_cast<unsigned>(round));
    for (unsigned i = 0; i < writes; ++i) {
      CHECK(is_filled(memory(400000 + i * kPart), sizes[i],
                      static_cast<uint64_t>(round) * 77 + job().behind()));
    }
    CHECK_OK(gaspi_wait(queue, kLong));
    barrier();
  }
}

// Catches: several notifications behind each other with data between them that come too early.
SPEC_CASE(transfer, chain_of_notifications) {
  constexpr unsigned kLinks = 50;
  constexpr size_t kPart = 5000;
  for (unsigned i = 0; i < kLinks; ++i) {
    fill(memory(i * kPart), kPart, i + 1000u * job().rank);
    CHECK_OK(gaspi_write(0, i * kPart, job().peer(), 0, 500000 + i * kPart, kPart, 2, kLong));
    CHECK_OK(gaspi_notify(0, job().peer(), i, i + 1, 2, kLong));
  }
  for (unsigned i = kLinks; i-- > 0;) {  // the last one says that all are there
    CHECK_EQ(take_note(0, i), i + 1);
    CHECK(is_filled(memory(500000 + i * kPart), kPart, i + 1000u * job().behind()));
  }
  CHECK_OK(gaspi_wait(2, kLong));
}

// Catches: data of a write_notify that comes after its notification; a value that is torn or lost.
SPEC_CASE(transfer, write_notify) {
  for (const size_t size : {0u, 8u, 100u, 4096u, 5000u, 16384u, 16392u, 100000u}) {
    for (unsigned round = 1; round <= 10; ++round) {
      fill(memory(0), size, size + round + job().rank);
      CHECK_OK(gaspi_write_notify(0, 0, job().peer(), 0, 500000, size, 65535, 0xFFFFFFF0u + round,
                                  3, kLong));
      CHECK_EQ(take_note(0, 65535), 0xFFFFFFF0u + round);
      CHECK(is_filled(memory(500000), size, size + round + job().behind()));
      CHECK_OK(gaspi_wait(3, kLong));
      barrier();
    }
  }
}

// Catches: a read whose notification is not local, not 1, or early.
SPEC_CASE(transfer, read_notify) {
  for (const size_t size : {8u, 5000u, 200000u}) {
    fill(memory(0), size, size + job().rank);
    barrier();
    CHECK_OK(gaspi_read_notify(0, 500000, job().peer(), 0, 0, size, 4, 0, kLong));
    CHECK_EQ(take_note(0, 4), 1u);
    CHECK(is_filled(memory(500000), size, size + job().peer()));
    CHECK_OK(gaspi_wait(0, kLong));
    barrier();
  }
}

// Catches: elements of lists that are mixed up or missing when the notification comes.
SPEC_CASE(transfer, lists) {
  constexpr gaspi_number_t kNum = 20;
  std::vector<gaspi_segment_id_t> local(kNum), remote(kNum);
  std::vector<gaspi_offset_t> local_offset(kNum), remote_offset(kNum);
  std::vector<gaspi_size_t> size(kNum);
  for (gaspi_number_t i = 0; i < kNum; ++i) {
    local[i] = 0;
    remote[i] = static_cast<gaspi_segment_id_t>(i % 2);
    local_offset[i] = i * 6000;
    remote_offset[i] = 200000 + i * 6000;
    size[i] = i * 300;
    fill(memory(local_offset[i]), size[i], i + 50u * job().rank);
  }
  const auto arrived = [&](unsigned from) {
    for (gaspi_number_t i = 0; i < kNum; ++i) {
      const std::byte* base = remote[i] == 0 ? memory() : memory1();
      CHECK(is_filled(base + remote_offset[i], size[i], i + 50u * from));
    }
  };
  CHECK_OK(gaspi_write_list(kNum, local.data(), local_offset.data(), job().peer(), remote.data(),
                            remote_offset.data(), size.data(), 0, kLong));
  CHECK_OK(gaspi_notify(0, job().peer(), 1, 1, 0, kLong));
  CHECK_EQ(take_note(0, 1), 1u);
  arrived(job().behind());
  CHECK_OK(gaspi_wait(0, kLong));
  barrier();
  std::memset(memory(200000), 0, kNum * 6000);
  std::memset(memory1(200000), 0, kNum * 6000);
  barrier();
  CHECK_OK(gaspi_write_list_notify(kNum, local.data(), local_offset.data(), job().peer(),
                                   remote.data(), remote_offset.data(), size.data(), 1, 8, 3, 0,
                                   kLong));
  CHECK_EQ(take_note(1, 8), 3u);
  arrived(job().behind());
  CHECK_OK(gaspi_wait(0, kLong));
  barrier();
  // And back: what was written is read into its places again.
  std::memset(memory(0), 0, kNum * 6000);
  CHECK_OK(gaspi_read_list(kNum, local.data(), local_offset.data(), job().peer(), remote.data(),
                           remote_offset.data(), size.data(), 0, kLong));
  CHECK_OK(gaspi_wait(0, kLong));
  for (gaspi_number_t i = 0; i < kNum; ++i)
    CHECK(is_filled(memory(local_offset[i]), size[i], i + 50u * job().rank));
  std::memset(memory(0), 0, kNum * 6000);
  CHECK_OK(gaspi_read_list_notify(kNum, local.data(), local_offset.data(), job().peer(),
                                  remote.data(), remote_offset.data(), size.data(), 0, 21, 0,
                                  kLong));
  CHECK_EQ(take_note(0, 21), 1u);
  for (gaspi_number_t i = 0; i < kNum; ++i)
    CHECK(is_filled(memory(local_offset[i]), size[i], i + 50u * job().rank));
  CHECK_OK(gaspi_wait(0, kLong));
  gaspi_number_t most = 0;
  CHECK_OK(gaspi_rw_list_elem_max(&most));
  CHECK_EQ(gaspi_write_list(most + 1, local.data(), local_offset.data(), job().peer(),
                            remote.data(), remote_offset.data(), size.data(), 0, kLong),
           GASPI_ERR_INV_NUM);
  CHECK_EQ(gaspi_read_list(0, local.data(), local_offset.data(), job().peer(), remote.data(),
                           remote_offset.data(), size.data(), 0, kLong),
           GASPI_ERR_INV_NUM);
}

// Catches: a range of notifications that is scanned wrongly, one thread in several that gets a
// notification twice, GASPI_TEST that waits.
SPEC_CASE(transfer, waitsome) {
  gaspi_notification_id_t first = 12345;
  CHECK_EQ(gaspi_notify_waitsome(0, 0, 100, &first, GASPI_TEST), GASPI_TIMEOUT);
  CHECK_EQ(gaspi_notify_waitsome(0, 0, 100, &first, 2), GASPI_TIMEOUT);
  CHECK_OK(gaspi_notify_waitsome(0, 0, 0, &first, GASPI_BLOCK));
  barrier();
  constexpr unsigned kNotes = 64;
  for (unsigned i = 0; i < kNotes; ++i)
    CHECK_OK(gaspi_notify(0, job().peer(), 1000 + i, i + 1, static_cast<gaspi_queue_id_t>(i % 8),
                          kLong));
  std::atomic<unsigned> sum{0}, taken{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      while (taken.load() < kNotes) {
        gaspi_notification_id_t id = 0;
        gaspi_notification_t value = 0;
        if (gaspi_notify_waitsome(0, 1000, kNotes, &id, 5) != GASPI_SUCCESS) continue;
        if (gaspi_notify_reset(0, id, &value) != GASPI_SUCCESS || value == 0) continue;
        if (value != id - 1000 + 1) sum.fetch_add(1000000);
        sum.fetch_add(value);
        taken.fetch_add(1);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK_EQ(taken.load(), kNotes);
  CHECK_EQ(sum.load(), kNotes * (kNotes + 1) / 2);
  for (gaspi_queue_id_t q = 0; q < 8; ++q) CHECK_OK(gaspi_wait(q, kLong));
  CHECK_EQ(gaspi_notify_waitsome(0, 65536, 1, &first, GASPI_TEST), GASPI_ERR_INV_NOTIF_ID);
  gaspi_notification_t old;
  CHECK_EQ(gaspi_notify_reset(0, 65536, &old), GASPI_ERR_INV_NOTIF_ID);
}

// Catches: a queue that takes more than its size, answers otherwise than full, or does not empty.
SPEC_CASE(transfer, queue_full) {
  gaspi_number_t most = 0, size = 0;
  CHECK_OK(gaspi_queue_size_max(&most));
  for (gaspi_number_t i = 0; i < most; ++i)
    if (!CHECK_OK(gaspi_write(0, 0, job().peer(), 0, 64, 8, 5, kLong))) break;
  CHECK_OK(gaspi_queue_size(5, &size));
  CHECK_EQ(size, most);
  CHECK_EQ(gaspi_write(0, 0, job().peer(), 0, 64, 8, 5, kLong), GASPI_QUEUE_FULL);
  CHECK_EQ(gaspi_notify(0, job().peer(), 0, 1, 5, kLong), GASPI_QUEUE_FULL);
  CHECK_EQ(gaspi_read(0, 128, job().peer(), 0, 64, 8, 5, GASPI_TEST), GASPI_QUEUE_FULL);
  CHECK_OK(gaspi_write(0, 0, job().peer(), 0, 64, 8, 6, kLong));  // another one has room
  CHECK_OK(gaspi_wait(5, kLong));
  CHECK_OK(gaspi_queue_size(5, &size));
  CHECK_EQ(size, 0u);
  CHECK_OK(gaspi_write(0, 0, job().peer(), 0, 64, 8, 5, kLong));
  CHECK_OK(gaspi_wait(5, kLong));
  CHECK_OK(gaspi_wait(6, kLong));
  gaspi_number_t now = 0, possible = 0;
  gaspi_queue_id_t made = 0;
  CHECK_OK(gaspi_queue_num(&now));
  CHECK_OK(gaspi_queue_max(&possible));
  CHECK_OK(gaspi_queue_create(&made, kLong));
  CHECK_EQ(made, now);
  *at<uint64_t>(0) = 31u + job().rank;
  CHECK_OK(gaspi_write_notify(0, 0, job().peer(), 0, 72, 8, 3, 1, made, kLong));
  CHECK_EQ(take_note(0, 3), 1u);
  CHECK_EQ(*at<uint64_t>(72), 31u + job().behind());
  CHECK_OK(gaspi_wait(made, kLong));
  CHECK_OK(gaspi_queue_purge(made, kLong));
  CHECK_OK(gaspi_queue_delete(made));
  CHECK_EQ(gaspi_queue_delete(made), GASPI_ERR_INV_QUEUE);
  CHECK_EQ(gaspi_wait(made, kLong), GASPI_ERR_INV_QUEUE);
  std::vector<gaspi_queue_id_t> all;
  while (now + all.size() < possible) {
    CHECK_OK(gaspi_queue_create(&made, kLong));
    all.push_back(made);
  }
  CHECK_EQ(gaspi_queue_create(&made, kLong), GASPI_ERR_INV_QUEUE);
  for (const gaspi_queue_id_t q : all) CHECK_OK(gaspi_queue_delete(q));
}

// Catches: counts and data that get mixed up when threads post to one queue while others wait.
SPEC_CASE(transfer, threads) {
  constexpr unsigned kThreads = 4, kEach = 200;
  std::vector<std::thread> threads;
  std::atomic<unsigned> wrong{0};
  for (unsigned t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const auto queue = static_cast<gaspi_queue_id_t>(t % 2);
      for (unsigned i = 0; i < kEach; ++i) {
        const size_t at_offset = (t * kEach + i) * 64;
        std::memset(memory(at_offset), static_cast<int>(1 + (t + i) % 100), 64);
        gaspi_return_t result;
        do {
          result = gaspi_write(0, at_offset, job().peer(), 0, 500000 + at_offset, 64, queue, 10);
          if (result == GASPI_QUEUE_FULL) gaspi_wait(queue, kLong);
        } while (result == GASPI_QUEUE_FULL || result == GASPI_TIMEOUT);
        if (result != GASPI_SUCCESS) wrong.fetch_add(1);
        if (i % 50 == 49 && gaspi_wait(queue, kLong) != GASPI_SUCCESS) wrong.fetch_add(1);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK_EQ(wrong.load(), 0u);
  CHECK_OK(gaspi_wait(0, kLong));
  CHECK_OK(gaspi_wait(1, kLong));
  barrier();
  for (unsigned t = 0; t < kThreads; ++t)
    for (unsigned i = 0; i < kEach; ++i)
      if (!CHECK_EQ(static_cast<int>(*memory(500000 + (t * kEach + i) * 64 + 63)),
                    static_cast<int>(1 + (t + i) % 100)))
        return;
}

// Catches: a queue whose requests wait until another one, which is always full, has none (8.1).
SPEC_CASE(transfer, queues_are_served_fairly) {
  constexpr size_t kMuch = 100000;
  constexpr unsigned kRounds = 50;
  std::atomic<bool> over{false};
  std::atomic<unsigned> wrong{0};
  std::thread flood([&] {
    while (!over.load()) {
      const gaspi_return_t result = gaspi_write(0, 200000, job().peer(), 0, 400000, kMuch, 0, 100);
      if (result == GASPI_QUEUE_FULL) {
        if (gaspi_wait(0, kLong) != GASPI_SUCCESS) wrong.fetch_add(1);
      } else if (result != GASPI_SUCCESS && result != GASPI_TIMEOUT) {
        wrong.fetch_add(1);
      }
    }
  });
  for (unsigned i = 0; i < kRounds; ++i) {
    CHECK_OK(gaspi_write_notify(0, 0, job().peer(), 0, 64, 8, i, i + 1, 1, kLong));
    CHECK_EQ(take_note(0, i), i + 1);
    CHECK_OK(gaspi_wait(1, kLong));
  }
  over.store(true);
  flood.join();
  CHECK_EQ(wrong.load(), 0u);
  CHECK_OK(gaspi_wait(0, kLong));
}

// Catches: a mistake that reaches another process, or has another name than it should.
SPEC_CASE(transfer, mistakes) {
  const gaspi_rank_t other = job().peer();
  CHECK_EQ(gaspi_write(0, 0, job().size, 0, 0, 8, 0, kLong), GASPI_ERR_INV_RANK);
  CHECK_EQ(gaspi_write(99, 0, other, 0, 0, 8, 0, kLong), GASPI_ERR_INV_SEG);
  CHECK_EQ(gaspi_write(0, 0, other, 99, 0, 8, 0, kLong), GASPI_ERR_INV_SEG);
  CHECK_EQ(gaspi_write(0, 0, other, 0, 0, 8, 200, kLong), GASPI_ERR_INV_QUEUE);
  CHECK_EQ(gaspi_write(0, kBytes - 7, other, 0, 0, 8, 0, kLong), GASPI_ERR_INV_LOC_OFF);
  CHECK_EQ(gaspi_read(0, 0, other, 0, kBytes - 7, 8, 0, kLong), GASPI_ERR_INV_REM_OFF);
  CHECK_EQ(gaspi_read(0, 0, other, 0, ~0ul - 3, 8, 0, kLong), GASPI_ERR_INV_REM_OFF);
  gaspi_size_t most = 0;
  CHECK_OK(gaspi_transfer_size_max(&most));
  CHECK_EQ(gaspi_write(0, 0, other, 0, 0, most + 1, 0, kLong), GASPI_ERR_INV_COMMSIZE);
  CHECK_EQ(gaspi_notify(0, other, 65536, 1, 0, kLong), GASPI_ERR_INV_NOTIF_ID);
  CHECK_EQ(gaspi_notify(0, other, 0, 0, 0, kLong), GASPI_ERR_INV_NOTIF_VAL);
  CHECK_EQ(gaspi_write_notify(0, 0, other, 0, 0, 8, 0, 0, 0, kLong), GASPI_ERR_INV_NOTIF_VAL);
  CHECK_EQ(gaspi_read_notify(0, 0, other, 0, 0, 8, 65536, 0, kLong), GASPI_ERR_INV_NOTIF_ID);
  gaspi_number_t size = 1;
  CHECK_OK(gaspi_queue_size(0, &size));
  CHECK_EQ(size, 0u);  // what was refused is not counted
}

// Catches: a target that has to call something for data and notifications to arrive.
SPEC_CASE(transfer, target_makes_no_calls, 2) {
  // Rank 0 looks with its own eyes only; all others write to it and know when it is done.
  if (job().rank != 0) {
    *at<uint64_t>(0) = job().rank;
    CHECK_OK(gaspi_write(0, 0, 0, 0, 64u * job().rank, 8, 0, kLong));
    CHECK_OK(gaspi_wait(0, kLong));
    return;
  }
  const double end = seconds_now() + 60;
  for (unsigned r = 1; r < job().size; ++r) {
    while (__atomic_load_n(at<uint64_t>(64u * r), __ATOMIC_ACQUIRE) == 0 && seconds_now() < end)
      std::this_thread::yield();
    CHECK_EQ(*at<uint64_t>(64u * r), r);
  }
}

// Catches: gaspi_wait that needs a call of a target which took the notifications and went on
// without the library, having answered or not; and what many notifications at once make of that.
SPEC_CASE(transfer, waits_end_while_target_computes, 2) {
  if (job().rank > 1) return;
  constexpr int kRounds = 40;
  constexpr size_t kWord = 4096, kData = 8192;
  constexpr gaspi_notification_id_t kAnswer = 500, kNext = 501;
  Random random(seed());  // the same draws on both
  for (unsigned round = 1; round <= kRounds; ++round) {
    const auto notes = static_cast<unsigned>(1 + random.below(20));
    const bool answers = random.below(2) != 0;
    if (job().rank == 0) {
      for (unsigned i = 0; i < notes; ++i) {
        *at<uint64_t>(kData + 8 * i) = round * 100u + i;
        CHECK_OK(gaspi_write_notify(0, kData + 8 * i, 1, 0, kData + 8 * i, 8, i, round, 0, kLong));
      }
      if (answers) CHECK_EQ(take_note(0, kAnswer), round);
      CHECK_OK(gaspi_wait(0, kLong));
      *at<uint64_t>(kWord) = round;
      CHECK_OK(gaspi_write(0, kWord, 1, 0, kWord, 8, 0, kLong));
      CHECK_OK(gaspi_wait(0, kLong));
      if (!CHECK_EQ(take_note(0, kNext), round)) return;
      continue;
    }
    for (unsigned i = 0; i < notes; ++i) {
      CHECK_EQ(take_note(0, i), round);
      CHECK_EQ(*at<uint64_t>(kData + 8 * i), round * 100u + i);
    }
    if (answers) CHECK_OK(gaspi_notify(0, 0, kAnswer, round, 1, kLong));
    const double end = seconds_now() + 60;
    while (__atomic_load_n(at<uint64_t>(kWord), __ATOMIC_ACQUIRE) != round && seconds_now() < end)
      std::this_thread::yield();
    if (!CHECK_EQ(*at<uint64_t>(kWord), round)) return;
    CHECK_OK(gaspi_notify(0, 0, kNext, round, 1, kLong));
    CHECK_OK(gaspi_wait(1, kLong));
  }
}
