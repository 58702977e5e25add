/* After listing 12: the same transposition by reads. All must have made their row before the first
 * read; what is read may be used as soon as the wait is over. */
#include "example.h"

int main(void) {
  const struct job job = start_job();
  const gaspi_queue_id_t queue = 0;
  int* const row = make_segment(0, job.ranks * sizeof *row);
  int* const column = make_segment(1, job.ranks * sizeof *column);
  unsigned wrong = 0;
  gaspi_rank_t rank;

  for (rank = 0; rank < job.ranks; ++rank) row[rank] = 1 + job.rank * job.ranks + rank;
  MUST(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
  for (rank = 0; rank < job.ranks; ++rank) {
    POST(gaspi_read(1, rank * sizeof *column, rank, 0, job.rank * sizeof *row, sizeof *row, queue,
                    GASPI_BLOCK),
         queue);
  }
  MUST(gaspi_wait(queue, GASPI_BLOCK));
  for (rank = 0; rank < job.ranks; ++rank) wrong += column[rank] != 1 + rank * job.ranks + job.rank;
  MUST(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
  return finish_job("transpose_read", job, wrong);
}
