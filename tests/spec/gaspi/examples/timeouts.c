/* After listings 3 to 5 and those of chapter 11.2.2: a queue waited for without end, by looking,
 * and ten milliseconds at a time; a barrier that looks for failures while it waits; and one that
 * other work goes on beside. */
#include <string.h>

#include "example.h"

enum { bytes = 1 << 20 };

static void send(struct job job, gaspi_queue_id_t queue) {
  POST(gaspi_write(0, 0, (gaspi_rank_t)((job.rank + 1u) % job.ranks), 1, 0, bytes, queue,
                   GASPI_BLOCK),
       queue);
}

/* Meets the others; ends the program when one of them has failed. */
static void watchful_barrier(struct job job, gaspi_state_vector_t states) {
  gaspi_return_t result;
  gaspi_rank_t rank;
  while ((result = gaspi_barrier(GASPI_GROUP_ALL, 100)) != GASPI_SUCCESS) {
    MUST(gaspi_state_vec_get(&states));
    for (rank = 0; rank < job.ranks; ++rank) {
      if (result == GASPI_TIMEOUT && states[rank] == GASPI_STATE_HEALTHY) continue;
      fprintf(stderr, "rank %u has failed\n", rank);
      exit(EXIT_FAILURE);
    }
  }
}

static unsigned check(const unsigned char* data, unsigned char expected) {
  unsigned wrong = 0;
  size_t i;
  for (i = 0; i < bytes; ++i) wrong += data[i] != expected;
  return wrong;
}

int main(void) {
  const struct job job = start_job();
  const unsigned char left = (unsigned char)((job.rank + job.ranks - 1u) % job.ranks + 1u);
  unsigned char* const mine = make_segment(0, bytes);
  unsigned char* const theirs = make_segment(1, bytes);
  gaspi_state_t* const states = calloc(job.ranks, sizeof *states);
  gaspi_return_t result;
  unsigned wrong = 0;
  unsigned char way;

  if (states == NULL) return EXIT_FAILURE;
  for (way = 0; way < 3; ++way) {
    memset(mine, job.rank + 1 + 10 * way, bytes);
    send(job, way);
    if (way == 0)
      MUST(gaspi_wait(way, GASPI_BLOCK));
    else
      while ((result = gaspi_wait(way, way == 1 ? GASPI_TEST : 10)) != GASPI_SUCCESS)
        wrong += result != GASPI_TIMEOUT;
    watchful_barrier(job, states);
    /* The other barrier: begun here, ended when this rank's work is done. */
    wrong += check(theirs, (unsigned char)(left + 10 * way));
    result = gaspi_barrier(GASPI_GROUP_ALL, GASPI_TEST);
    wrong += result != GASPI_SUCCESS && result != GASPI_TIMEOUT;
    memset(mine, 0, bytes);
    if (result == GASPI_TIMEOUT) MUST(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
  }
  free(states);
  return finish_job("timeouts", job, wrong);
}
