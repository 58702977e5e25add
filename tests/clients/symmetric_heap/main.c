/* A program over the symmetric heap: a ring, a transposition, a histogram, counters under locks,
 * and the barriers of GASNet-1 in every way that programs mix them. It returns from main. */
#include <stdio.h>
#include <string.h>

#include "heap.h"

static int me, pes;

/* The right neighbor gets a word that it waits for, behind the data that it stands for. */
static void ring(void) {
  enum { WORDS = 500 };
  uint64_t* const data = sym_malloc(WORDS * sizeof *data);
  uint64_t* const flag = sym_malloc(sizeof *flag);
  uint64_t source[WORDS];
  const int right = (me + 1) % pes, left = (me + pes - 1) % pes;
  *flag = 0;
  sym_barrier_all();
  for (uint64_t lap = 1; lap <= 10; ++lap) {
    for (uint64_t i = 0; i < WORDS; ++i) source[i] = i * lap + (uint64_t)me;
    sym_put_nbi(data, source, sizeof source, right);
    sym_quiet();
    sym_p64(flag, lap, right);
    sym_wait_until_equal(flag, lap);
    for (uint64_t i = 0; i < WORDS; ++i)
      sym_require(data[i] == i * lap + (uint64_t)left,
                  "a neighbor's data has not come before its flag");
    sym_barrier_all();
  }
  sym_require(sym_g64(flag, left) == 10, "a value that is fetched is another");
  sym_free(flag);
  sym_free(data);
}

/* A square matrix by blocks of rows; every PE puts its columns where they are rows. */
static void transpose(void) {
  enum { ROWS = 12 };
  const size_t side = (size_t)pes * ROWS;
  uint32_t* const from = sym_malloc(ROWS * side * sizeof *from);
  uint32_t* const to = sym_malloc(ROWS * side * sizeof *to);
  uint32_t copy[ROWS];
  for (size_t i = 0; i < ROWS * side; ++i) from[i] = (uint32_t)((size_t)me * ROWS * side + i);
  sym_barrier_all();
  for (int pe = 0; pe < pes; ++pe)
    for (size_t column = 0; column < ROWS; ++column)
      sym_iput(&to[column * side + (size_t)me * ROWS], &from[(size_t)pe * ROWS + column], 1,
               (ptrdiff_t)side, sizeof *to, ROWS, pe);
  sym_barrier_all();
  for (size_t row = 0; row < ROWS; ++row)
    for (size_t column = 0; column < side; ++column)
      sym_require(to[row * side + column] == column * side + (size_t)me * ROWS + row,
                  "a transposed element is another");
  gasnet_begin_nbi_accessregion();
  sym_get_nbi(copy, &to[side], sizeof copy, pes - 1);
  gasnet_wait_syncnb(gasnet_end_nbi_accessregion());
  for (size_t column = 0; column < ROWS; ++column)
    sym_require(copy[column] == column * side + (size_t)(pes - 1) * ROWS + 1,
                "a fetched row differs");
  sym_free(to);
  sym_free(from);
}

static void histogram(void) {
  enum { BINS = 16, SAMPLES = 200 };
  uint64_t* const bins = sym_malloc(BINS * sizeof *bins);
  uint64_t* const work = sym_malloc((size_t)pes * sizeof *work);
  memset(bins, 0, BINS * sizeof *bins);
  sym_barrier_all();
  uint64_t random = 88172645463325252u + (uint64_t)me;
  for (int i = 0; i < SAMPLES; ++i) {
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    sym_fetch_add(&bins[random % BINS], 1, (int)(random / BINS % (uint64_t)pes));
  }
  sym_barrier_all();
  uint64_t mine = 0;
  for (int i = 0; i < BINS; ++i) mine += bins[i];
  sym_require(sym_sum(mine, work) == (uint64_t)SAMPLES * (uint64_t)pes, "samples were lost");
  gasnet_memset((gasnet_node_t)((me + 1) % pes), sym_there(bins, (me + 1) % pes), 0x11, 8);
  sym_barrier_all();
  sym_require(bins[0] == 0x1111111111111111u, "gasnet_memset() writes something else");
  sym_free(work);
  sym_free(bins);
}

/* What a lock protects is read, changed and written in three steps. */
static void counters(void) {
  enum { TURNS = 15 };
  uint64_t* const counter = sym_malloc(SYM_LOCKS * sizeof *counter);
  memset(counter, 0, SYM_LOCKS * sizeof *counter);
  sym_barrier_all();
  for (int turn = 0; turn < TURNS; ++turn) {
    const int lock = (turn + me) % SYM_LOCKS, home = lock % pes;
    uint64_t value;
    sym_set_lock(lock);
    sym_get(&value, &counter[lock], sizeof value, home);
    value += (uint64_t)turn;
    sym_put(&counter[lock], &value, sizeof value, home);
    sym_clear_lock(lock);
  }
  sym_barrier_all();
  uint64_t sum = 0;
  for (int lock = 0; lock < SYM_LOCKS; ++lock) sum += sym_g64(&counter[lock], lock % pes);
  sym_require(sum == (uint64_t)pes * TURNS * (TURNS - 1) / 2, "two PEs held one lock");
  sym_free(counter);
}

static int both_phases(int notify_id, int notify_flags, int wait_id, int wait_flags,
                       bool by_trying) {
  gasnet_barrier_notify(notify_id, notify_flags);
  if (!by_trying) return gasnet_barrier_wait(wait_id, wait_flags);
  for (;;) {
    const int result = gasnet_barrier_try(wait_id, wait_flags);
    if (result != GASNET_ERR_NOT_READY) return result;
    gasnett_sched_yield();
  }
}

/* Named, anonymous, and some of each; by waiting and by trying. */
static void barriers(void) {
  const int anonymous = GASNET_BARRIERFLAG_ANONYMOUS, mismatch = GASNET_BARRIERFLAG_MISMATCH;
  for (int round = 0; round < 12; ++round) {
    const bool by_trying = (round + me) % 2 != 0;
    sym_require(both_phases(round, 0, round, 0, by_trying) == GASNET_OK, "a named barrier fails");
    const int flags = (me + round) % 2 ? anonymous : 0;
    sym_require(both_phases(round, flags, round, flags, by_trying) == GASNET_OK,
                "a barrier with and without names fails");
    sym_require(both_phases(round, me == 0 ? mismatch : 0, round, me == 0 ? mismatch : 0,
                            by_trying) == GASNET_ERR_BARRIER_MISMATCH,
                "a mismatch that was asked for is missed");
    sym_require(both_phases(0, anonymous, round, 0, by_trying) == GASNET_OK &&
                    both_phases(round, 0, 0, anonymous, by_trying) == GASNET_OK,
                "a barrier whose two phases are named differently fails");
    sym_require(pes == 1 || both_phases(me, 0, me, 0, by_trying) == GASNET_ERR_BARRIER_MISMATCH,
                "different names pass");
  }
}

int main(int argc, char** argv) {
  sym_init(&argc, &argv);
  me = sym_my_pe(), pes = sym_n_pes();
  ring();
  transpose();
  histogram();
  counters();
  barriers();
  void* const all = sym_malloc(900 << 10);
  sym_require(all != NULL, "freed memory does not join again");
  sym_barrier_all();
  printf("rank %d of %d: ok\n", me, pes);
  return 0;
}
