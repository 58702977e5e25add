/* After listing 9: an interrupt at rank 0 ends the whole job in good order. Rank 0 interrupts
 * itself here, and says at the end that all others went. */
#include <signal.h>
#include <unistd.h>

#include "example.h"

static void end_in_order(int signal_number) {
  gaspi_rank_t rank = 0, ranks = 0;
  (void)signal_number;
  MUST(gaspi_proc_rank(&rank));
  MUST(gaspi_proc_num(&ranks));
  if (rank == 0) {
    gaspi_rank_t other;
    for (other = 1; other < ranks; ++other) MUST(gaspi_proc_kill(other, GASPI_BLOCK));
    printf("interrupted: right on %u ranks\n", ranks);
    fflush(stdout);
  }
  MUST(gaspi_proc_term(GASPI_BLOCK));
  exit(EXIT_SUCCESS);
}

int main(void) {
  const struct job job = start_job();
  signal(SIGINT, end_in_order);
  MUST(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK)); /* everybody has its handler */
  if (job.rank == 0) raise(SIGINT);
  for (;;) pause(); /* the working phase */
}
