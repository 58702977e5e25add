/* Barriers, waiting for a word, and a sum that is made of puts and barriers. */
#include "heap.h"

void sym_barrier_all(void) {
  sym_quiet();
  gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
  sym_require(gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS) == GASNET_OK, "a barrier fails");
}

void sym_wait_until_equal(volatile uint64_t* symmetric, uint64_t value) {
  GASNET_BLOCKUNTIL(*symmetric == value);
}

uint64_t sym_sum(uint64_t mine, uint64_t* work) {
  uint64_t sum = 0;
  for (int pe = 0; pe < sym_n_pes(); ++pe) sym_p64(&work[sym_my_pe()], mine, pe);
  sym_barrier_all();
  for (int pe = 0; pe < sym_n_pes(); ++pe) sum += work[pe];
  sym_barrier_all();
  return sum;
}
