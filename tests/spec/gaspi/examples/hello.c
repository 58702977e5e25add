/* After listings 6 and 7: wishes for a configuration, a greeting from every rank. */
#include "example.h"

int main(void) {
  struct job job;
  gaspi_config_t wishes;
  gaspi_number_t queues = 0, notifications = 0;
  unsigned mine, sum = 0;

  MUST(gaspi_config_get(&wishes));
  wishes.queue_num = 3;
  wishes.notification_num = 1000;
  MUST(gaspi_config_set(wishes));

  job = start_job();
  printf("Hello from rank %u of %u\n", job.rank, job.ranks);
  fflush(stdout);

  MUST(gaspi_queue_num(&queues));
  MUST(gaspi_notification_num(&notifications));
  mine = job.rank + 1u;
  MUST(
      gaspi_allreduce(&mine, &sum, 1, GASPI_OP_SUM, GASPI_TYPE_UINT, GASPI_GROUP_ALL, GASPI_BLOCK));
  return finish_job(
      "hello", job,
      (queues != 3) + (notifications != 1000) + (sum != job.ranks * (job.ranks + 1u) / 2));
}
