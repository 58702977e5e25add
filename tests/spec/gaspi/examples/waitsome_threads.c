/* After listing 13: several threads wait for the same notifications, and each notification is
 * worked on by exactly one of them: the one whose reset gets its value. A timeout, where the
 * listing has none, lets the threads end. */
#include <pthread.h>

#include "example.h"

enum { threads = 4, notes = 200 };

static struct job job;
static unsigned worked[notes]; /* how often; each entry is written by whoever got the value */
static unsigned left = notes;  /* atomic */
static unsigned wrong;         /* atomic */

static void work_on(gaspi_notification_id_t id, gaspi_notification_t value) {
  const gaspi_rank_t sender = (gaspi_rank_t)((job.rank + job.ranks - 1u) % job.ranks);
  if (value != 1 + id + 1000u * sender) __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
  ++worked[id];
  __atomic_fetch_sub(&left, 1, __ATOMIC_RELEASE);
}

static void* worker(void* unused) {
  while (__atomic_load_n(&left, __ATOMIC_ACQUIRE) > 0) {
    gaspi_notification_id_t first = 0;
    gaspi_notification_t value = 0;
    const gaspi_return_t result = gaspi_notify_waitsome(0, 0, notes, &first, 20);
    if (result == GASPI_TIMEOUT) continue;
    MUST(result);
    MUST(gaspi_notify_reset(0, first, &value));
    if (value != 0) work_on(first, value); /* else another thread was faster */
  }
  return unused;
}

int main(void) {
  pthread_t team[threads];
  int i;
  job = start_job();
  make_segment(0, 8);
  for (i = 0; i < threads; ++i) {
    if (pthread_create(&team[i], NULL, worker, NULL) != 0) return EXIT_FAILURE;
  }
  for (i = 0; i < notes; ++i) {
    POST(gaspi_notify(0, (gaspi_rank_t)((job.rank + 1u) % job.ranks), (gaspi_notification_id_t)i,
                      1u + (unsigned)i + 1000u * job.rank, 0, GASPI_BLOCK),
         0);
  }
  MUST(gaspi_wait(0, GASPI_BLOCK));
  for (i = 0; i < threads; ++i) pthread_join(team[i], NULL);
  for (i = 0; i < notes; ++i) wrong += worked[i] != 1;
  return finish_job("waitsome_threads", job, wrong);
}
