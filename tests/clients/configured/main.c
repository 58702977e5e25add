/* Each rank hands in a 2, or what its first argument says; the norm is told with the library's
 * kind. */
#include <stdio.h>
#include <stdlib.h>

#include "ring.h"

int main(int argc, char** argv) {
  double norm;
  ring_start(&argc, &argv);
  norm = ring_norm(argc > 1 ? atof(argv[1]) : 2.0);
  printf("rank %u of %u: norm %.3f, checked %d\n", ring_rank(), ring_size(), norm, ring_checked());
  ring_end(0);
  return 0;
}
