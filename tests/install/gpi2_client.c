/* A program of the field: an operation with types of its own, cast to the library's type, reduces
 * more than one element; names of GASPI_Threads.h. C99, C11 and C++. Every rank prints "rank R:
 * ok". */
#include <GASPI.h>
#include <GASPI_Threads.h>
#include <stdio.h>

#define NUM 7

static gaspi_return_t largest(double* const one, double* const two, double* const result,
                              gaspi_reduce_state_t state, const gaspi_number_t num,
                              const gaspi_size_t element_size, const gaspi_timeout_t timeout) {
  gaspi_number_t i;
  (void)state;
  (void)timeout;
  if (num != NUM || element_size != sizeof(double)) return GASPI_ERROR;
  for (i = 0; i < num; ++i) result[i] = one[i] > two[i] ? one[i] : two[i];
  return GASPI_SUCCESS;
}

int main(void) {
  gaspi_rank_t rank = 0, ranks = 0;
  gaspi_cycles_t ticks = 0;
  gaspi_int cores = 0;
  double mine[NUM], all[NUM];
  int i, wrong = 0;
  if (gaspi_proc_init(GASPI_BLOCK) != GASPI_SUCCESS) return 1;
  gaspi_proc_rank(&rank);
  gaspi_proc_num(&ranks);
  for (i = 0; i < NUM; ++i) mine[i] = i % 2 == 0 ? rank + i : i - rank;
  if (gaspi_allreduce_user(mine, all, NUM, sizeof(double), (gaspi_reduce_operation_t)largest, NULL,
                           GASPI_GROUP_ALL, GASPI_BLOCK) != GASPI_SUCCESS)
    wrong = 1;
  for (i = 0; i < NUM; ++i)
    if (all[i] != (i % 2 == 0 ? ranks - 1 + i : i)) wrong = 1;
  if (gaspi_time_ticks(&ticks) != GASPI_SUCCESS || ticks == 0) wrong = 1;
  if (gaspi_threads_get_num_cores(&cores) != GASPI_SUCCESS || cores < 1) wrong = 1;
  gaspi_delay();
  if (!wrong) printf("rank %u: ok\n", rank);
  fflush(stdout);
  return gaspi_proc_term(GASPI_BLOCK) == GASPI_SUCCESS ? wrong : 1;
}
