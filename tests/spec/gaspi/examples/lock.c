/* After listing 15: a lock of the whole job, made of one atomic value on one rank. Under it, and
 * without any other care, everybody adds to a number that lies on the last rank. */
#include <sched.h>

#include "example.h"

enum { turns = 10 };
static const gaspi_atomic_value_t unlocked = 9999999;

struct lock {
  gaspi_segment_id_t segment;
  gaspi_offset_t offset;
  gaspi_rank_t rank;
};

static gaspi_return_t lock_init(struct lock lock, gaspi_timeout_t timeout) {
  gaspi_rank_t rank;
  gaspi_pointer_t base;
  gaspi_return_t result = gaspi_proc_rank(&rank);
  if (result == GASPI_SUCCESS && rank == lock.rank) {
    result = gaspi_segment_ptr(lock.segment, &base);
    if (result == GASPI_SUCCESS)
      *(gaspi_atomic_value_t*)(void*)((char*)base + lock.offset) = unlocked;
  }
  return result == GASPI_SUCCESS ? gaspi_barrier(GASPI_GROUP_ALL, timeout) : result;
}

/* Whether it was free, and is now this rank's. */
static int lock_try(struct lock lock) {
  gaspi_rank_t rank;
  gaspi_atomic_value_t old = 0;
  MUST(gaspi_proc_rank(&rank));
  MUST(gaspi_atomic_compare_swap(lock.segment, lock.offset, lock.rank, unlocked, rank, &old,
                                 GASPI_BLOCK));
  return old == unlocked;
}

/* Whether it was this rank's. */
static int lock_release(struct lock lock) {
  gaspi_rank_t rank;
  gaspi_atomic_value_t old = 0;
  MUST(gaspi_proc_rank(&rank));
  MUST(gaspi_atomic_compare_swap(lock.segment, lock.offset, lock.rank, rank, unlocked, &old,
                                 GASPI_BLOCK));
  return old == rank;
}

int main(void) {
  const struct job job = start_job();
  const struct lock lock = {0, 8, 0};
  const gaspi_rank_t last = (gaspi_rank_t)(job.ranks - 1u);
  unsigned long* const number = make_segment(1, 2 * sizeof *number); /* the other is a copy */
  unsigned wrong = 0;
  int turn;

  make_segment(0, 16);
  MUST(lock_init(lock, GASPI_BLOCK));
  for (turn = 0; turn < turns; ++turn) {
    while (!lock_try(lock)) sched_yield(); /* the holder may need this core */
    MUST(gaspi_read(1, sizeof *number, last, 1, 0, sizeof *number, 0, GASPI_BLOCK));
    MUST(gaspi_wait(0, GASPI_BLOCK));
    number[1] += 1;
    MUST(gaspi_write(1, sizeof *number, last, 1, 0, sizeof *number, 0, GASPI_BLOCK));
    MUST(gaspi_wait(0, GASPI_BLOCK));
    wrong += !lock_release(lock);
  }
  MUST(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
  wrong += job.rank == last && number[0] != (unsigned long)turns * job.ranks;
  return finish_job("lock", job, wrong);
}
