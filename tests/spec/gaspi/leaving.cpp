// Ranks that end in good order, one after the other: nobody's end is news of a failure.
#include <GASPI.h>
#include <unistd.h>

#include <cstdio>

int main() {
  gaspi_rank_t rank = 0;
  if (gaspi_proc_init(GASPI_BLOCK) != GASPI_SUCCESS) return 1;
  gaspi_proc_rank(&rank);
  gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK);
  if (gaspi_proc_term(GASPI_BLOCK) != GASPI_SUCCESS) return 2;
  // The library's thread sees the others go.
  usleep(rank * 400'000);
  std::printf("rank %u leaves: well\n", unsigned{rank});
  return 0;
}
