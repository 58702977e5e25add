// Chapter 7: segments.
#include <algorithm>
#include <cstring>
#include <vector>

#include "testing.h"

using namespace spec;

namespace {

// A ring of 8-byte writes into segment `id` shows that everybody reaches everybody's.
void write_around(gaspi_segment_id_t id, gaspi_offset_t offset) {
  *at<uint64_t>(0) = 1000u + job().rank;
  CHECK_OK(gaspi_write_notify(0, 0, job().peer(), id, offset, 8, 2, 9, 0, kLong));
  CHECK_EQ(take_note(id, 2), 9u);
  gaspi_pointer_t base = nullptr;
  CHECK_OK(gaspi_segment_ptr(id, &base));
  CHECK_EQ(*reinterpret_cast<uint64_t*>(static_cast<char*>(base) + offset), 1000u + job().behind());
  CHECK_OK(gaspi_wait(0, kLong));
  barrier();
}

}  // namespace

// Catches: wrong counts and lists, ids that are not free again, memory that is not zero.
SPEC_CASE(segments, allocate_and_list) {
  gaspi_number_t before = 0, now = 0;
  CHECK_OK(gaspi_segment_num(&before));
  gaspi_segment_id_t id = 0;
  CHECK_OK(gaspi_segment_avail_local(&id));
  CHECK_EQ(id, 2);
  CHECK_OK(gaspi_segment_alloc(id, 12345, GASPI_MEM_INITIALIZED));
  CHECK_OK(gaspi_segment_alloc(100, 1, GASPI_MEM_UNINITIALIZED));
  CHECK_OK(gaspi_segment_num(&now));
  CHECK_EQ(now, before + 2);
  std::vector<gaspi_segment_id_t> list(now);
  CHECK_OK(gaspi_segment_list(now, list.data()));
  CHECK(std::find(list.begin(), list.end(), 100) != list.end());
  CHECK_EQ(gaspi_segment_list(now + 1, list.data()), GASPI_ERR_INV_NUM);
  gaspi_pointer_t base = nullptr;
  CHECK_OK(gaspi_segment_ptr(id, &base));
  CHECK(std::all_of(static_cast<char*>(base), static_cast<char*>(base) + 12345,
                    [](char c) { return c == 0; }));
  std::memset(base, 1, 12345);
  CHECK_EQ(gaspi_segment_alloc(id, 1, GASPI_ALLOC_DEFAULT), GASPI_ERR_INV_SEG);
  CHECK_EQ(gaspi_segment_alloc(101, 0, GASPI_ALLOC_DEFAULT), GASPI_ERR_INV_SEGSIZE);
  CHECK_OK(gaspi_segment_delete(id));
  CHECK_OK(gaspi_segment_delete(100));
  CHECK_EQ(gaspi_segment_delete(id), GASPI_ERR_INV_SEG);
  CHECK_EQ(gaspi_segment_ptr(id, &base), GASPI_ERR_INV_SEG);
  CHECK_OK(gaspi_segment_num(&now));
  CHECK_EQ(now, before);
}

// Catches: a registration that is not there when the call succeeds, or that reaches too far.
SPEC_CASE(segments, register_with_one) {
  CHECK_OK(gaspi_segment_alloc(5, 4096, GASPI_ALLOC_DEFAULT));
  gaspi_size_t size = 0;
  CHECK_EQ(gaspi_segment_size(5, job().behind(), &size),
           job().size == 1 ? GASPI_SUCCESS : GASPI_ERR_INV_SEG);
  barrier();
  gaspi_return_t result;
  do {
    result = gaspi_segment_register(5, job().behind(), 1);
  } while (result == GASPI_TIMEOUT);
  CHECK_EQ(result, GASPI_SUCCESS);
  barrier();
  CHECK_OK(gaspi_segment_size(5, job().peer(), &size));
  CHECK_EQ(size, 4096u);
  write_around(5, 8);
  CHECK_EQ(gaspi_segment_register(5, job().size, 1), GASPI_ERR_INV_RANK);
  CHECK_EQ(gaspi_segment_register(77, 0, 1), GASPI_ERR_INV_SEG);
  CHECK_OK(gaspi_segment_delete(5));
  barrier();
}

// Catches: memory of the caller's that is not reached, at any alignment, with its notifications.
SPEC_CASE(segments, bind_and_use) {
  static std::vector<char> mine;
  mine.assign(100000, 0);
  CHECK_OK(gaspi_segment_bind(6, mine.data() + 1, 50000, 0));
  for (gaspi_rank_t r = 0; r < job().size; ++r) CHECK_OK(gaspi_segment_register(6, r, kLong));
  barrier();
  *at<uint64_t>(0) = 7000u + job().rank;
  CHECK_OK(gaspi_write_notify(0, 0, job().peer(), 6, 3, 8, 2, 4, 0, kLong));
  CHECK_EQ(take_note(6, 2), 4u);
  uint64_t got;
  std::memcpy(&got, mine.data() + 4, 8);
  CHECK_EQ(got, 7000u + job().behind());
  CHECK_OK(gaspi_wait(0, kLong));
  barrier();
  CHECK_OK(gaspi_segment_use(7, mine.data() + 60000, 30000, GASPI_GROUP_ALL, kLong, 0));
  // A write and a notification of it by different ways: the data may not be late.
  for (int i = 0; i < 200; ++i) {
    std::memset(memory(0), i, 20000);
    CHECK_OK(gaspi_write(0, 0, job().peer(), 7, 0, 20000, 1, kLong));
    CHECK_OK(gaspi_notify(7, job().peer(), 9, static_cast<gaspi_notification_t>(i + 1), 1, kLong));
    CHECK_EQ(take_note(7, 9), static_cast<unsigned>(i + 1));
    if (!CHECK_EQ(static_cast<int>(mine[60000 + 19999]), static_cast<int>(static_cast<char>(i))))
      break;
    CHECK_OK(gaspi_wait(1, kLong));
    barrier();
  }
  CHECK_EQ(gaspi_segment_bind(8, nullptr, 8, 0), GASPI_ERR_NULLPTR);
  CHECK_EQ(gaspi_segment_bind(8, mine.data(), 8, 3), GASPI_ERR_DEVICE);
  CHECK_OK(gaspi_segment_delete(6));
  CHECK_OK(gaspi_segment_delete(7));
  barrier();
}

// Catches: rights of a deleted segment that are mistaken for those of the next one with its id.
SPEC_CASE(segments, created_again) {
  for (int round = 0; round < 5; ++round) {
    const gaspi_size_t size = 4096u << round;
    gaspi_return_t result;
    do {
      result = gaspi_segment_create(9, size, GASPI_GROUP_ALL, round % 2 == 0 ? GASPI_TEST : 1,
                                    GASPI_MEM_INITIALIZED);
    } while (result == GASPI_TIMEOUT);
    CHECK_EQ(result, GASPI_SUCCESS);
    write_around(9, size - 8);
    CHECK_OK(gaspi_segment_delete(9));
    barrier();
  }
}

// Catches: notifications that nobody sent, in memory that a conduit allocates and that was
// somebody's before. With MALLOC_PERTURB_ that is all memory of a conduit that takes it from the
// heap, as UCX does from huge pages on.
SPEC_CASE(segments, no_notification_at_first) {
  static char memory[4096];
  for (int round = 0; round < 2; ++round) {
    CHECK_OK(gaspi_segment_create(6, 4 << 20, GASPI_GROUP_ALL, kLong, GASPI_MEM_UNINITIALIZED));
    CHECK_OK(gaspi_segment_use(7, memory, sizeof memory, GASPI_GROUP_ALL, kLong, 0));
    gaspi_number_t count = 0;
    CHECK_OK(gaspi_notification_num(&count));
    gaspi_notification_id_t first = 0;
    for (const gaspi_segment_id_t id : {6, 7}) {
      CHECK_EQ(gaspi_notify_waitsome(id, 0, count, &first, GASPI_TEST), GASPI_TIMEOUT);
      gaspi_notification_t value = 0;
      CHECK_OK(gaspi_notify_reset(id, count - 1, &value));
      CHECK_EQ(value, 0u);
    }
    barrier();
    CHECK_OK(gaspi_segment_delete(6));
    CHECK_OK(gaspi_segment_delete(7));
  }
}

// Catches: members that wait for one that could not create its part, or go on without it; a
// creation after that which is mistaken for it; a segment that can be used before all have it.
SPEC_CASE(segments, creation_that_fails_in_one, 2) {
  static char mine[4096];
  for (gaspi_rank_t r = 0; r < job().size; ++r) {
    const bool has_it = job().rank == r;
    if (has_it) CHECK_OK(gaspi_segment_alloc(10, 64, GASPI_ALLOC_DEFAULT));
    CHECK_EQ(gaspi_segment_create(10, 4096, GASPI_GROUP_ALL, kLong, GASPI_ALLOC_DEFAULT),
             has_it ? GASPI_ERR_INV_SEG : GASPI_ERROR);
    CHECK_EQ(gaspi_segment_use(10, mine, sizeof mine, GASPI_GROUP_ALL, kLong, 0),
             has_it ? GASPI_ERR_INV_SEG : GASPI_ERROR);
    gaspi_pointer_t base = nullptr;
    CHECK_EQ(gaspi_segment_ptr(10, &base), has_it ? GASPI_SUCCESS : GASPI_ERR_INV_SEG);
    if (has_it) CHECK_OK(gaspi_segment_delete(10));
    // One alone begins: it has nothing yet, and may give up.
    if (has_it) {
      CHECK_EQ(gaspi_segment_create(10, 128, GASPI_GROUP_ALL, GASPI_TEST, GASPI_ALLOC_DEFAULT),
               GASPI_TIMEOUT);
      CHECK_EQ(gaspi_segment_ptr(10, &base), GASPI_ERR_INV_SEG);
      CHECK_OK(gaspi_segment_delete(10));
      for (gaspi_rank_t to = 0; to < job().size; ++to) {
        if (to != r) CHECK_OK(gaspi_notify(0, to, r, 1, 0, kLong));
      }
    } else {
      CHECK_EQ(take_note(0, r), 1u);
      CHECK_EQ(gaspi_segment_create(10, 128, GASPI_GROUP_ALL, kLong, GASPI_ALLOC_DEFAULT),
               GASPI_ERROR);
    }
    CHECK_OK(gaspi_segment_create(10, 4096, GASPI_GROUP_ALL, kLong, GASPI_ALLOC_DEFAULT));
    write_around(10, 4088);
    CHECK_OK(gaspi_segment_delete(10));
    barrier();
  }
}

// Catches: a limit that is not kept, and one that is not reached.
SPEC_CASE(segments, as_many_as_there_can_be) {
  gaspi_number_t most = 0, now = 0;
  CHECK_OK(gaspi_segment_max(&most));
  CHECK_OK(gaspi_segment_num(&now));
  CHECK(most >= 32);
  std::vector<gaspi_segment_id_t> made;
  gaspi_segment_id_t id = 0;
  while (now < most && gaspi_segment_avail_local(&id) == GASPI_SUCCESS) {
    if (!CHECK_OK(gaspi_segment_alloc(id, 64, GASPI_ALLOC_DEFAULT))) break;
    made.push_back(id);
    ++now;
  }
  CHECK_EQ(gaspi_segment_avail_local(&id), GASPI_ERR_MANY_SEG);
  for (const gaspi_segment_id_t m : made) CHECK_OK(gaspi_segment_delete(m));
}
