/* What came of it: fetched to rank 0 by strided, vector and indexed gets, and summed over rows,
 * columns and all. */
#include <gasnet_coll.h>
#include <gasnet_vis.h>
#include <math.h>
#include <stdlib.h>

#include "grid.h"

/* Interiors of all ranks into one array at rank 0. */
static double* fetch_whole(int buffer) {
  const size_t side = (size_t)grid.columns * WIDE;
  double* const whole = calloc(side * grid.rows * HIGH, sizeof *whole);
  const ptrdiff_t to[1] = {(ptrdiff_t)(side * sizeof(double))},
                  from[1] = {ROW * (ptrdiff_t)sizeof(double)};
  const size_t count[1] = {HIGH};
  gex_NBI_BeginAccessRegion(0);
  for (gex_Rank_t rank = 0; rank < grid.ranks; ++rank)
    gex_VIS_StridedGetNBI(
        grid.all,
        whole + (size_t)(rank / grid.columns) * HIGH * side + (size_t)(rank % grid.columns) * WIDE,
        to, rank, cell(rank, buffer, 1, 1), from, WIDE * sizeof(double), count, 1, 0);
  gex_Event_Wait(gex_NBI_EndAccessRegion(0));
  return whole;
}

/* The same cells by lists: a rank's diagonal by pieces of one length, its first row in three
 * pieces. */
static void check_lists(const double* whole, int buffer, gex_Rank_t rank) {
  enum { PIECES = 3 };
  const size_t side = (size_t)grid.columns * WIDE;
  const double* const block =
      whole + (size_t)(rank / grid.columns) * HIGH * side + (size_t)(rank % grid.columns) * WIDE;
  double diagonal[HIGH], first[WIDE];
  void *from[HIGH], *to[1] = {diagonal};
  for (int i = 0; i < HIGH; ++i) from[i] = cell(rank, buffer, i + 1, i + 1);
  gex_Event_t fetched =
      gex_VIS_IndexedGetNB(grid.all, 1, to, sizeof diagonal, rank, HIGH, from, sizeof(double), 0);
  const size_t lengths[PIECES] = {3, 0, WIDE - 3};
  gex_Memvec_t there[PIECES], here[1] = {{first, sizeof first}};
  for (int i = 0, at = 1; i < PIECES; at += (int)lengths[i++]) {
    there[i].gex_addr = cell(rank, buffer, at, 1);
    there[i].gex_len = lengths[i] * sizeof(double);
  }
  gex_VIS_VectorGetBlocking(grid.all, 1, here, rank, PIECES, there, 0);
  gex_Event_Wait(fetched);
  for (int i = 0; i < HIGH; ++i)
    require(diagonal[i] == block[(size_t)i * side + (size_t)i],
            "an indexed get fetches other cells");
  for (int i = 0; i < WIDE; ++i) require(first[i] == block[i], "a vector get fetches other cells");
}

void check_against(const double* whole, int buffer) {
  gex_Event_Wait(gex_Coll_BarrierNB(grid.all, 0));
  if (grid.me == 0) {
    double* const fetched = fetch_whole(buffer);
    for (size_t i = 0; i < (size_t)grid.ranks * WIDE * HIGH; ++i)
      require(fabs(fetched[i] - whole[i]) < 1e-13, "a cell differs from what one rank computes");
    for (gex_Rank_t rank = 0; rank < grid.ranks; ++rank) check_lists(fetched, buffer, rank);
    free(fetched);
  }
  gex_Event_Wait(gex_Coll_BarrierNB(grid.all, 0));
}

typedef struct {
  double least, most;
} Range;
static void widen(const void* arg1, void* arg2_and_out, size_t count, const void* cdata) {
  require(cdata == &grid, "an operation's data is another");
  for (size_t i = 0; i < count; ++i) {
    const Range* const a = (const Range*)arg1 + i;
    Range* const b = (Range*)arg2_and_out + i;
    if (a->least < b->least) b->least = a->least;
    if (a->most > b->most) b->most = a->most;
  }
}

/* Sums by rows and then by columns are those of all; numbers are whole, so that no order matters.
 */
void check_collectives(int buffer) {
  int64_t mine = 0, of_row = 0, of_all = 0, at_once = 0;
  Range own = {1e9, -1e9}, range;
  for (int row = 1; row <= HIGH; ++row)
    for (int column = 1; column <= WIDE; ++column) {
      const double value = *cell(grid.me, buffer, column, row);
      mine += (int64_t)(value * 1e6);
      if (value < own.least) own.least = value;
      if (value > own.most) own.most = value;
    }
  gex_Event_t events[2];
  events[0] = gex_Coll_ReduceToAllNB(grid.all, &at_once, &mine, GEX_DT_I64, sizeof mine, 1,
                                     GEX_OP_ADD, NULL, NULL, 0);
  events[1] = gex_Coll_ReduceToAllNB(grid.all, &range, &own, GEX_DT_USER, sizeof own, 1,
                                     GEX_OP_USER, widen, &grid, 0);
  gex_Event_Wait(gex_Coll_ReduceToOneNB(grid.row, 0, &of_row, &mine, GEX_DT_I64, sizeof mine, 1,
                                        GEX_OP_ADD, NULL, NULL, 0));
  if (grid.x == 0)
    gex_Event_Wait(gex_Coll_ReduceToAllNB(grid.column, &of_all, &of_row, GEX_DT_I64, sizeof mine, 1,
                                          GEX_OP_ADD, NULL, NULL, 0));
  gex_Event_Wait(gex_Coll_BroadcastNB(grid.row, 0, &of_all, &of_all, sizeof of_all, 0));
  gex_Event_WaitAll(events, 2, 0);
  require(of_all == at_once, "sums by rows and columns are not the sum of all");
  require(range.least <= own.least && range.most >= own.most && range.most <= 1.0,
          "the range of all cells is wrong");
}
