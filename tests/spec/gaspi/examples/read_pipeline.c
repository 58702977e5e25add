/* After listing 14: threads that work on chunks of a neighbor's data while further chunks are on
 * their way. A thread has four chunks under way, works on them in order, and asks for one more when
 * it begins with one. */
#include <pthread.h>
#include <string.h>

#include "example.h"

enum { threads = 3, ahead = 4, chunks = 120, chunk_values = 256 };

static struct job job;
static unsigned long* data;
static unsigned long sums[threads];
static const gaspi_queue_id_t queue = 0;

/* Chunk `n` of the neighbor goes to the same place here; its notification has its number. */
static void ask_for(unsigned n) {
  const gaspi_size_t bytes = chunk_values * sizeof *data;
  POST(gaspi_read_notify(1, n * bytes, (gaspi_rank_t)((job.rank + 1u) % job.ranks), 0, n * bytes,
                         bytes, n, queue, GASPI_BLOCK),
       queue);
}

static void* worker(void* argument) {
  const unsigned me = *(const unsigned*)argument;
  unsigned n, i;
  for (n = me; n < chunks; n += threads) {
    gaspi_notification_id_t id = 0;
    gaspi_notification_t value = 0;
    if (n + ahead * threads < chunks) ask_for(n + ahead * threads);
    MUST(gaspi_notify_waitsome(1, n, 1, &id, GASPI_BLOCK));
    MUST(gaspi_notify_reset(1, id, &value));
    if (id != n || value != 1) exit(EXIT_FAILURE);
    for (i = 0; i < chunk_values; ++i) sums[me] += data[n * chunk_values + i];
  }
  return NULL;
}

int main(void) {
  pthread_t team[threads];
  unsigned numbers[threads], n;
  unsigned long sum = 0, expected = 0;
  unsigned long* mine;
  job = start_job();
  mine = make_segment(0, chunks * chunk_values * sizeof *mine);
  data = make_segment(1, chunks * chunk_values * sizeof *data);
  for (n = 0; n < chunks * chunk_values; ++n) {
    mine[n] = 1ul + n * (job.rank + 1ul);
    expected += 1ul + n * ((job.rank + 1ul) % job.ranks + 1ul);
  }
  MUST(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
  for (n = 0; n < ahead * threads; ++n) ask_for(n);
  for (n = 0; n < threads; ++n) {
    numbers[n] = n;
    if (pthread_create(&team[n], NULL, worker, &numbers[n]) != 0) return EXIT_FAILURE;
  }
  for (n = 0; n < threads; ++n) {
    pthread_join(team[n], NULL);
    sum += sums[n];
  }
  MUST(gaspi_wait(queue, GASPI_BLOCK));
  MUST(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK)); /* nobody reads here any more */
  return finish_job("read_pipeline", job, sum != expected);
}
