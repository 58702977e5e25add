/* After listing 11: a square matrix, a row on every rank, transposed by writes. A rank makes an
 * element just before it goes, and knows by notifications which ones have come. */
#include "example.h"

int main(void) {
  const struct job job = start_job();
  const gaspi_queue_id_t queue = 0;
  int* const row = make_segment(0, job.ranks * sizeof *row);
  int* const column = make_segment(1, job.ranks * sizeof *column);
  gaspi_number_t notifications = 0;
  unsigned wrong = 0;
  gaspi_rank_t rank, missing;

  MUST(gaspi_notification_num(&notifications));
  if (notifications < job.ranks) {
    fprintf(stderr, "%u notifications do not do for %u ranks\n", notifications, job.ranks);
    return EXIT_FAILURE;
  }
  for (rank = 0; rank < job.ranks; ++rank) {
    row[rank] = 1 + job.rank * job.ranks + rank;
    POST(gaspi_write_notify(0, rank * sizeof *row, rank, 1, job.rank * sizeof *column, sizeof *row,
                            job.rank, 1, queue, GASPI_BLOCK),
         queue);
  }
  for (missing = job.ranks; missing > 0;) {
    gaspi_notification_id_t from = 0;
    gaspi_notification_t value = 0;
    MUST(gaspi_notify_waitsome(1, 0, job.ranks, &from, GASPI_BLOCK));
    MUST(gaspi_notify_reset(1, from, &value));
    if (value == 0) continue;
    wrong += column[from] != (int)(1 + from * job.ranks + job.rank);
    --missing;
  }
  MUST(gaspi_wait(queue, GASPI_BLOCK));
  MUST(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
  for (rank = 0; rank < job.ranks; ++rank) wrong += column[rank] != 1 + rank * job.ranks + job.rank;
  return finish_job("transpose_write", job, wrong);
}
