// Chapters 5.2 and 5.3: configuration before the start, a start and an end in portions, what calls
// answer outside the working phase. A program of its own: a process starts once.
#include <unistd.h>
#include <cstdio>
#include <cstdlib>

#include "testing.h"

namespace {

int failures = 0;
void expect(bool condition, const char* text, int line) {
  if (condition) return;
  std::fprintf(stderr, "start.cpp:%d: not true: %s\n", line, text);
  ++failures;
}
#define EXPECT(condition) expect((condition), #condition, __LINE__)

}  // namespace

// Catches: wishes that are lost or not cut, timeouts that start twice, calls that crash before the
// start or after the end.
SPEC_CASE(start, life_of_a_process) {
  gaspi_config_t config;
  EXPECT(gaspi_config_get(&config) == GASPI_SUCCESS);
  EXPECT(config.build_infrastructure == GASPI_TOPOLOGY_STATIC);
  config.group_max = 40;
  config.queue_num = 2;
  config.queue_size_max = 64;
  config.notification_num = 100;
  config.passive_queue_size_max = 3;
  config.allreduce_elem_max = 4000000000u;
  config.allreduce_buf_size = 4096;
  config.rw_list_elem_max = 10;
  config.network = GASPI_ETHERNET;
  config.sn_port = 4711;
  config.logger = config.net_info = config.user_net = config.sn_persistent = 0;
  config.sn_timeout = 10;
  const gaspi_dev_config_t device = {GASPI_IB, nullptr};
  config.dev_config = device;
  config.build_infrastructure = GASPI_TOPOLOGY_NONE;
  int mine = 0;
  config.user_defined = &mine;
  EXPECT(gaspi_config_set(config) == GASPI_SUCCESS);
  gaspi_rank_t rank = 0, num = 0;
  gaspi_number_t number = 9;
  EXPECT(gaspi_proc_rank(&rank) == GASPI_ERR_NOINIT);
  EXPECT(gaspi_write(0, 0, 0, 0, 0, 8, 0, GASPI_BLOCK) == GASPI_ERR_NOINIT);
  EXPECT(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK) == GASPI_ERR_NOINIT);
  EXPECT(gaspi_proc_term(GASPI_BLOCK) == GASPI_ERR_NOINIT);
  EXPECT(gaspi_initialized(&number) == GASPI_SUCCESS && number == 0);
  float version = 0;
  EXPECT(gaspi_version(&version) == GASPI_SUCCESS);

  gaspi_return_t result = gaspi_proc_init(GASPI_TEST);
  for (int i = 0; result == GASPI_TIMEOUT && i < 100000; ++i) result = gaspi_proc_init(1);
  EXPECT(result == GASPI_SUCCESS);
  EXPECT(gaspi_proc_rank(&rank) == GASPI_SUCCESS && gaspi_proc_num(&num) == GASPI_SUCCESS);
  EXPECT(gaspi_config_get(&config) == GASPI_SUCCESS && config.user_defined == &mine);
  EXPECT(gaspi_queue_num(&number) == GASPI_SUCCESS && number == 2);
  EXPECT(gaspi_queue_size_max(&number) == GASPI_SUCCESS && number == 64);
  EXPECT(gaspi_notification_num(&number) == GASPI_SUCCESS && number == 100);
  EXPECT(gaspi_allreduce_elem_max(&number) == GASPI_SUCCESS && number < 4000000000u);
  EXPECT(gaspi_group_max(&number) == GASPI_SUCCESS && number == 40);

  // No infrastructure was built: the group of all has to be committed.
  EXPECT(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK) == GASPI_ERR_INV_GROUP);
  do {
    result = gaspi_group_commit(GASPI_GROUP_ALL, 1);
  } while (result == GASPI_TIMEOUT);
  EXPECT(result == GASPI_SUCCESS);
  EXPECT(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK) == GASPI_SUCCESS);
  // gaspi_segment_alloc leaves a segment to the end of the process.
  EXPECT(gaspi_segment_alloc(3, 100, GASPI_ALLOC_DEFAULT) == GASPI_SUCCESS);
  if (rank == num - 1) ::usleep(100000);  // the others' end has to wait
  do {
    result = gaspi_proc_term(rank % 2 == 0 ? GASPI_TEST : 3);
  } while (result == GASPI_TIMEOUT);
  EXPECT(result == GASPI_SUCCESS);
  EXPECT(gaspi_proc_rank(&rank) == GASPI_ERR_NOINIT);
  EXPECT(gaspi_proc_term(GASPI_BLOCK) == GASPI_ERR_NOINIT);
  EXPECT(gaspi_proc_init(GASPI_BLOCK) == GASPI_ERROR);  // once per process
  EXPECT(gaspi_initialized(&number) == GASPI_SUCCESS && number == 0);
}

spec::Registration::Registration(const char*, const char*, void (*)(), unsigned) {}

int main() {
  start_life_of_a_process();
  return failures == 0 ? 0 : 1;
}
