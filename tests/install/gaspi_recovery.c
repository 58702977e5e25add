/* A GASPI program that recovers: rank 1 kills itself, once. The others wait for a new process in
 * its place, two seconds at most, and rank 0 tells how it ended: "all of N are there", "rank 1 is
 * missed". */
#include <GASPI.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void check(gaspi_return_t result, const char* what) {
  if (result == GASPI_SUCCESS) return;
  fprintf(stderr, "%s: %s\n", what, gaspi_error_str(result));
  exit(9);
}

static gaspi_state_t state_of_victim(gaspi_rank_t ranks) {
  gaspi_state_vector_t states = calloc(ranks, sizeof *states);
  gaspi_state_t state;
  check(gaspi_state_vec_get(&states), "gaspi_state_vec_get");
  state = states[1];
  free(states);
  return state;
}

int main(void) {
  gaspi_rank_t rank, ranks;
  gaspi_number_t incarnation = 0;
  gaspi_return_t committed = GASPI_ERROR;
  int patience;
  check(gaspi_proc_init(GASPI_BLOCK), "gaspi_proc_init");
  check(gaspi_proc_rank(&rank), "gaspi_proc_rank");
  check(gaspi_proc_num(&ranks), "gaspi_proc_num");
  check(gaspi_proc_incarnation(rank, &incarnation), "gaspi_proc_incarnation");
  if (incarnation == 1) {
    check(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK), "gaspi_barrier");
    if (rank == 1) {
      usleep(300000); /* the others have passed */
      raise(SIGKILL);
    }
    if (gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK) != GASPI_ERROR) return 8;
  }
  for (patience = 0; patience < 200 && state_of_victim(ranks) == GASPI_STATE_CORRUPT; ++patience)
    usleep(10000);
  if (state_of_victim(ranks) == GASPI_STATE_CORRUPT) {
    if (rank == 0) puts("rank 1 is missed");
    fflush(stdout);
    check(gaspi_proc_term(GASPI_BLOCK), "gaspi_proc_term");
    return 0;
  }
  for (patience = 0; patience < 200 && committed != GASPI_SUCCESS; ++patience)
    committed = gaspi_group_commit(GASPI_GROUP_ALL, 100);
  check(committed, "gaspi_group_commit");
  check(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK), "gaspi_barrier");
  if (rank == 0) printf("all of %u are there\n", ranks);
  fflush(stdout);
  check(gaspi_proc_term(GASPI_BLOCK), "gaspi_proc_term");
  return 0;
}
