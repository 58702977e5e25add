/* Heat in a square plate, rows dealt out to the ranks: each step every rank puts its outermost rows
 * into its neighbors' halos, works on its inner rows meanwhile, and waits for what it needs. The
 * plate is computed once more by every rank alone, and both have to agree to the last bit.
 *
 * Written from the specification: gex_Segment_Attach, gex_EP_QueryBoundSegmentNB, gex_RMA_PutNB
 * with a leaf event, gex_RMA_PutBlockingVal for the flags, gex_Coll_ReduceToAllNB. C99. */
#define GASNET_SEQ
#include <gasnet_coll.h>
#include <gasnetex.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 96, HEIGHT = 70, STEPS = 40 };

static gex_TM_t tm;
static gex_Rank_t me, ranks;

static void check(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "rank %u: %s\n", (unsigned)me, what);
  gasnet_exit(1);
}

/* Rows [first, first + count) of the plate belong to a rank. */
static int first_row(gex_Rank_t rank) {
  return (int)((int64_t)HEIGHT * rank / ranks);
}
static int row_count(gex_Rank_t rank) {
  return first_row(rank + 1) - first_row(rank);
}

/* What lies in each segment: two flags (steps whose halo has arrived, from above and from below),
 * then two plates of count + 2 rows, of which one is read and one written. */
typedef struct {
  volatile uint64_t* arrived;
  double* plate[2];
} Part;

static Part part_at(void* base, gex_Rank_t rank) {
  Part p;
  p.arrived = (volatile uint64_t*)base;
  p.plate[0] = (double*)((char*)base + 64);
  p.plate[1] = p.plate[0] + (size_t)(row_count(rank) + 2) * WIDTH;
  return p;
}

static double start_value(int row, int column) {
  return row < 0 ? 100.0 : row >= HEIGHT ? -50.0 : (double)((row * 31 + column * 17) % 23);
}

static double relax(const double* above, const double* here, const double* below, int column) {
  double left = column > 0 ? here[column - 1] : 0.0;
  double right = column < WIDTH - 1 ? here[column + 1] : 0.0;
  return 0.25 * (above[column] + below[column] + left + right);
}

static void relax_rows(const double* from, double* to, int begin, int end) {
  int row, column;
  for (row = begin; row < end; row++)
    for (column = 0; column < WIDTH; column++)
      to[row * WIDTH + column] =
          relax(from + (row - 1) * WIDTH, from + row * WIDTH, from + (row + 1) * WIDTH, column);
}

/* One row of ours into the halo of a neighbor, then the number of the step into its flag. The flag
 * may only go once the row is there: remote completion of the first put. */
static gex_Event_t send_row(gex_Rank_t to, double* halo, const double* row, gex_Event_t* leaf) {
  return gex_RMA_PutNB(tm, to, halo, row, WIDTH * sizeof(double), leaf, 0);
}

static double run(Part mine, Part above, Part below) {
  const int rows = row_count(me);
  double change = 0.0;
  int step, i;
  for (step = 0; step < STEPS; step++) {
    const int from = step % 2, to = 1 - from;
    gex_Event_t puts[2] = {GEX_EVENT_INVALID, GEX_EVENT_INVALID};
    gex_Event_t sources[2] = {GEX_EVENT_INVALID, GEX_EVENT_INVALID};
    if (me > 0)
      puts[0] = send_row(me - 1, above.plate[from] + (row_count(me - 1) + 1) * WIDTH,
                         mine.plate[from] + WIDTH, &sources[0]);
    if (me + 1 < ranks)
      puts[1] = send_row(me + 1, below.plate[from], mine.plate[from] + rows * WIDTH, &sources[1]);
    /* Inner rows need no halo. */
    relax_rows(mine.plate[from], mine.plate[to], 2, rows);
    gex_Event_WaitAll(puts, 2, 0);
    if (me > 0)
      gex_RMA_PutBlockingVal(tm, me - 1, (void*)&above.arrived[1], (uint64_t)step + 1, 8, 0);
    if (me + 1 < ranks)
      gex_RMA_PutBlockingVal(tm, me + 1, (void*)&below.arrived[0], (uint64_t)step + 1, 8, 0);
    GASNET_BLOCKUNTIL((me == 0 || mine.arrived[0] > (uint64_t)step) &&
                      (me + 1 == ranks || mine.arrived[1] > (uint64_t)step));
    relax_rows(mine.plate[from], mine.plate[to], 1, 2);
    if (rows > 1) relax_rows(mine.plate[from], mine.plate[to], rows, rows + 1);
  }
  for (i = WIDTH; i < (rows + 1) * WIDTH; i++) {
    const double d = mine.plate[0][i] - mine.plate[1][i];
    change += d * d;
  }
  return change;
}

/* The same by one process. */
static double* alone(void) {
  double* plate[2];
  int row, column, step, i;
  for (i = 0; i < 2; i++) {
    plate[i] = (double*)malloc(sizeof(double) * (HEIGHT + 2) * WIDTH);
    check(plate[i] != NULL, "no memory");
    for (row = -1; row <= HEIGHT; row++)
      for (column = 0; column < WIDTH; column++)
        plate[i][(row + 1) * WIDTH + column] = start_value(row, column);
  }
  for (step = 0; step < STEPS; step++)
    relax_rows(plate[step % 2], plate[1 - step % 2], 1, HEIGHT + 1);
  free(plate[1]);
  return plate[0];
}

static Part part_of(gex_Rank_t rank) {
  void* base = NULL;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, rank, &base, NULL, NULL, 0));
  check(base != NULL, "a rank has no segment");
  return part_at(base, rank);
}

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_Segment_t segment;
  Part mine, above, below;
  double *reference, change, total = 0.0;
  int row, column, i;
  size_t bytes;
  check(gex_Client_Init(&client, &ep, &tm, "HALO", &argc, &argv, 0) == GASNET_OK, "init");
  me = gex_TM_QueryRank(tm);
  ranks = gex_TM_QuerySize(tm);
  check(ranks <= HEIGHT, "more ranks than rows");
  bytes = 64 + 2 * sizeof(double) * (size_t)(row_count(me) + 2) * WIDTH;
  bytes = (bytes + GASNET_PAGESIZE - 1) / GASNET_PAGESIZE * GASNET_PAGESIZE;
  check(gex_Segment_Attach(&segment, tm, bytes) == GASNET_OK, "attach");
  mine = part_at(gex_Segment_QueryAddr(segment), me);
  above = me > 0 ? part_of(me - 1) : mine;
  below = me + 1 < ranks ? part_of(me + 1) : mine;
  mine.arrived[0] = mine.arrived[1] = 0;
  for (i = 0; i < 2; i++)
    for (row = -1; row <= row_count(me); row++)
      for (column = 0; column < WIDTH; column++)
        mine.plate[i][(row + 1) * WIDTH + column] = start_value(first_row(me) + row, column);
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));

  change = run(mine, above, below);
  gex_Event_Wait(gex_Coll_ReduceToAllNB(tm, &total, &change, GEX_DT_DBL, sizeof(double), 1,
                                        GEX_OP_ADD, NULL, NULL, 0));
  check(total >= change && total > 0.0, "the sum over ranks is wrong");
  reference = alone();
  check(memcmp(mine.plate[STEPS % 2] + WIDTH, reference + (size_t)(first_row(me) + 1) * WIDTH,
               sizeof(double) * (size_t)row_count(me) * WIDTH) == 0,
        "the plate differs from the one computed alone");
  free(reference);
  printf("rank %u of %u: ok\n", (unsigned)me, (unsigned)ranks);
  fflush(stdout);
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  gasnet_exit(0);
}
