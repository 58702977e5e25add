/* After the advice of chapter 11.1: a reduction of the program's own, looked after now and then
 * while other work goes on. The place of the largest value is found; a state counts the calls. */
#include <sched.h>

#include "example.h"

struct place {
  double value;
  long rank;
};

static gaspi_return_t larger(gaspi_const_pointer_t one, gaspi_const_pointer_t two,
                             gaspi_pointer_t result, gaspi_reduce_state_t state,
                             gaspi_timeout_t timeout) {
  const struct place* const a = one;
  const struct place* const b = two;
  (void)timeout;
  *(struct place*)result =
      a->value > b->value || (a->value == b->value && a->rank < b->rank) ? *a : *b;
  ++*(unsigned*)state;
  return GASPI_SUCCESS;
}

static double value_of(unsigned rank, unsigned round) {
  return (rank * 7 + round * 3) % 11;
}

int main(void) {
  const struct job job = start_job();
  unsigned wrong = 0, calls = 0, all_calls = 0, round, rank;
  unsigned long other_work = 0;

  for (round = 0; round < 20; ++round) {
    const struct place mine = {value_of(job.rank, round), job.rank};
    struct place largest = {-1, -1}, expected = {-1, -1};
    gaspi_return_t result;
    while ((result = gaspi_allreduce_user(&mine, &largest, 1, sizeof mine, larger, &calls,
                                          GASPI_GROUP_ALL, GASPI_TEST)) == GASPI_TIMEOUT) {
      ++other_work;
      sched_yield();
    }
    MUST(result);
    for (rank = 0; rank < job.ranks; ++rank) {
      if (value_of(rank, round) <= expected.value) continue;
      expected.value = value_of(rank, round);
      expected.rank = (long)rank;
    }
    wrong += largest.value != expected.value || largest.rank != expected.rank;
  }
  MUST(gaspi_allreduce(&calls, &all_calls, 1, GASPI_OP_SUM, GASPI_TYPE_UINT, GASPI_GROUP_ALL,
                       GASPI_BLOCK));
  wrong += all_calls < 20u * (job.ranks - 1u);
  if (job.rank == 0) printf("rank 0 did %lu pieces of other work\n", other_work);
  return finish_job("reduce_in_portions", job, wrong);
}
