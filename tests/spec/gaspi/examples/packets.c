/* After listing 2: packets of work, of which everybody takes the next one by an atomic addition. */
#include "example.h"

enum { packets = 300 };

int main(void) {
  const struct job job = start_job();
  unsigned long* const done = calloc(packets, sizeof *done);
  unsigned long mine[2] = {0, 0}, all[2] = {0, 0}; /* packets done, and the sum of their results */
  unsigned wrong = 0;
  gaspi_atomic_value_t packet = 0;

  if (done == NULL) return EXIT_FAILURE;
  make_segment(0, sizeof(gaspi_atomic_value_t)); /* rank 0 has the number of the next packet */
  for (;;) {
    MUST(gaspi_atomic_fetch_add(0, 0, 0, 1, &packet, GASPI_BLOCK));
    if (packet >= packets) break;
    wrong += done[packet]++ != 0; /* twice here */
    mine[0] += 1;
    mine[1] += packet * packet;
  }
  MUST(gaspi_allreduce(mine, all, 2, GASPI_OP_SUM, GASPI_TYPE_ULONG, GASPI_GROUP_ALL, GASPI_BLOCK));
  wrong += all[0] != packets; /* lost, or twice on two ranks */
  wrong += all[1] != (packets - 1ul) * packets * (2ul * packets - 1) / 6;
  free(done);
  return finish_job("packets", job, wrong);
}
