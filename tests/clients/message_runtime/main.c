/* What a program of the runtime does: messages of all kinds, then tasks, then the end, by another
 * thread on every rank. With an argument, the last rank ends the job with it while the others work.
 */
#include "runtime.h"

#include <pthread.h>
#include <stdlib.h>

static int leave_with;

static void* work(void* argument) {
  const int worker = (int)(intptr_t)argument;
  messages_exchange(worker);
  while (leave_with) {
    if (worker == 1 && loom_me == loom_ranks - 1) gasnet_exit(leave_with);
    messages_exchange(worker);
  }
  tasks_work();
  return NULL;
}

int main(int argc, char** argv) {
  loom_start(&argc, &argv);
  leave_with = argc > 1 ? atoi(argv[1]) : 0;
  messages_load();
  tasks_load();
  loom_barrier();
  loom_start_progress();
  messages_load_late(); /* beside the progress thread */
  loom_barrier();

  pthread_t workers[LOOM_WORKERS];
  for (intptr_t i = 0; i < LOOM_WORKERS; ++i)
    loom_require(pthread_create(&workers[i], NULL, work, (void*)i) == 0, "no worker thread");
  if (!leave_with) tasks_run();
  for (int i = 0; i < LOOM_WORKERS; ++i) pthread_join(workers[i], NULL);
  messages_settle();
  loom_finish();
  return 0;
}
