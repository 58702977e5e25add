/* Rank 0 waits in the call that is named, for rank 1, which makes no calls until the job is ended.
 */
#include <GASPI.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  gaspi_rank_t rank = 0, from = 0;
  char room[8];
  if (argc < 2 || gaspi_proc_init(GASPI_BLOCK) != GASPI_SUCCESS) return 1;
  gaspi_proc_rank(&rank);
  if (gaspi_segment_create(0, 4096, GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED) !=
          GASPI_SUCCESS ||
      gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK) != GASPI_SUCCESS)
    return 1;
  gaspi_group_t group = 0;
  if (rank < 2 && strcmp(argv[1], "group") == 0) {
    gaspi_group_create(&group);
    gaspi_group_add(group, 0);
    gaspi_group_add(group, 1);
    gaspi_group_commit(group, GASPI_BLOCK);
  }
  printf("at it\n");
  fflush(stdout);
  if (rank == 0 && strcmp(argv[1], "passive") == 0)
    gaspi_passive_receive(0, 0, &from, sizeof room, GASPI_BLOCK);
  if (rank == 0 && strcmp(argv[1], "barrier") == 0) gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK);
  if (rank == 0 && strcmp(argv[1], "group") == 0) gaspi_barrier(group, GASPI_BLOCK);
  gaspi_notification_id_t id = 0;
  if (rank == 0 && strcmp(argv[1], "notification") == 0)
    gaspi_notify_waitsome(0, 5, 2, &id, GASPI_BLOCK);
  if (rank == 0 && strcmp(argv[1], "term") == 0) gaspi_proc_term(GASPI_BLOCK);
  for (;;) usleep(100000);
}
