/* After listing 1: everybody writes what it has to everybody, waits, and meets the others. Rounds
 * show that the barrier also keeps a round's writes out of the one before. */
#include "example.h"

enum { rounds = 50 };

int main(void) {
  const struct job job = start_job();
  const gaspi_queue_id_t queue = 0;
  double* const source = make_segment(0, sizeof *source);
  double* const gathered = make_segment(1, job.ranks * sizeof *gathered);
  unsigned wrong = 0;
  int round;
  gaspi_rank_t rank;

  for (round = 0; round < rounds; ++round) {
    *source = 1000.0 * round + job.rank;
    for (rank = 0; rank < job.ranks; ++rank) {
      POST(gaspi_write(0, 0, rank, 1, job.rank * sizeof *gathered, sizeof *source, queue,
                       GASPI_BLOCK),
           queue);
    }
    MUST(gaspi_wait(queue, GASPI_BLOCK));
    MUST(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
    for (rank = 0; rank < job.ranks; ++rank) wrong += gathered[rank] != 1000.0 * round + rank;
    MUST(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
  }
  return finish_job("allgather", job, wrong);
}
