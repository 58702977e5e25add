/* After the advice of chapter 7.2.5: what gaspi_segment_use() does, step by step, beside the call.
 */
#include "example.h"

enum { values = 1000 };

static void use_by_hand(gaspi_segment_id_t id, void* memory, gaspi_size_t bytes, struct job job) {
  gaspi_rank_t rank;
  MUST(gaspi_segment_bind(id, memory, bytes, 0));
  for (rank = 0; rank < job.ranks; ++rank) {
    MUST(gaspi_connect(rank, GASPI_BLOCK));
    MUST(gaspi_segment_register(id, rank, GASPI_BLOCK));
  }
  MUST(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
}

int main(void) {
  const struct job job = start_job();
  const gaspi_rank_t right = (gaspi_rank_t)((job.rank + 1u) % job.ranks);
  static int mine[values], by_hand[values], by_call[values];
  gaspi_notification_id_t first = 0;
  gaspi_notification_t value = 0;
  unsigned wrong = 0, pass;
  int i;

  for (i = 0; i < values; ++i) mine[i] = 1 + i + 10000 * job.rank;
  use_by_hand(0, mine, sizeof mine, job);
  use_by_hand(1, by_hand, sizeof by_hand, job);
  MUST(gaspi_segment_use(2, by_call, sizeof by_call, GASPI_GROUP_ALL, GASPI_BLOCK, 0));
  for (pass = 1; pass <= 2; ++pass) {
    POST(gaspi_write_notify(0, 0, right, (gaspi_segment_id_t)pass, 0, sizeof mine, 0, pass, 0,
                            GASPI_BLOCK),
         0);
    MUST(gaspi_notify_waitsome((gaspi_segment_id_t)pass, 0, 1, &first, GASPI_BLOCK));
    MUST(gaspi_notify_reset((gaspi_segment_id_t)pass, first, &value));
    wrong += value != pass;
  }
  for (i = 0; i < values; ++i) {
    const int expected = 1 + i + 10000 * ((job.rank + job.ranks - 1) % job.ranks);
    wrong += by_hand[i] != expected;
    wrong += by_call[i] != expected;
  }
  MUST(gaspi_wait(0, GASPI_BLOCK));
  MUST(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
  for (i = 0; i < 3; ++i) MUST(gaspi_segment_delete((gaspi_segment_id_t)i));
  return finish_job("segment_by_hand", job, wrong);
}
