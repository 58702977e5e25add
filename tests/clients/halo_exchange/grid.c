/* Start, the layout of ranks, and the teams of rows and columns. */
#include "grid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Grid grid;
static gex_Client_t client;
static gex_EP_t endpoint;
static gex_Memvec_t scratch[2]; /* of the two teams, in the segment */

void require(bool holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "rank %u: %s\n", (unsigned)grid.me, what);
  gasnet_exit(1);
}

double* cell(gex_Rank_t rank, int buffer, int column, int row) {
  return (double*)grid.there[rank] + buffer * CELLS + row * ROW + column;
}
uint32_t* signal_of(gex_Rank_t rank, int side) {
  return (uint32_t*)(grid.there[rank] + SIGNALS_AT) + side;
}

/* As many columns as rows, or twice as many, where the number of ranks allows. */
static void arrange(void) {
  for (gex_Rank_t rows = 1; rows * rows <= grid.ranks; ++rows)
    if (grid.ranks % rows == 0) grid.rows = rows;
  grid.columns = grid.ranks / grid.rows;
  grid.x = grid.me % grid.columns, grid.y = grid.me / grid.columns;
  const gex_Rank_t row = grid.y * grid.columns;
  grid.neighbor[LEFT] = row + (grid.x + grid.columns - 1) % grid.columns;
  grid.neighbor[RIGHT] = row + (grid.x + 1) % grid.columns;
  grid.neighbor[BELOW] = grid.y == 0 ? GEX_RANK_INVALID : grid.me - grid.columns;
  grid.neighbor[ABOVE] = grid.y + 1 == grid.rows ? GEX_RANK_INVALID : grid.me + grid.columns;
}

static void attach(size_t size) {
  gex_Segment_t segment;
  size = (size + GASNET_PAGESIZE - 1) / GASNET_PAGESIZE * GASNET_PAGESIZE;
  require(gex_Segment_Attach(&segment, grid.all, size) == GASNET_OK, "no segment");
  grid.here = gex_Segment_QueryAddr(segment);
  grid.there = malloc(grid.ranks * sizeof *grid.there);
  for (gex_Rank_t rank = 0; rank < grid.ranks; ++rank) {
    void* base;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(grid.all, rank, &base, NULL, NULL, 0));
    grid.there[rank] = base;
  }
  memset(grid.here, 0, size);
}

/* Asks first how much scratch the team wants, and takes that from the segment. */
static gex_TM_t split(int color, int key, int which, size_t* used) {
  gex_TM_t team = GEX_TM_INVALID;
  const size_t wanted =
      gex_TM_Split(&team, grid.all, color, key, NULL, 0, GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED);
  scratch[which].gex_addr = grid.here + SCRATCH_AT + *used;
  scratch[which].gex_len = wanted;
  const size_t got = gex_TM_Split(&team, grid.all, color, key, scratch[which].gex_addr, wanted, 0);
  require(team != GEX_TM_INVALID && got <= wanted, "a team is not made");
  *used += (wanted + 63) / 64 * 64;
  return team;
}

void grid_create(int* argc, char*** argv) {
  size_t used = 0;
  if (gex_Client_Init(&client, &endpoint, &grid.all, "halo", argc, argv, 0) != GASNET_OK) exit(1);
  grid.me = gex_TM_QueryRank(grid.all), grid.ranks = gex_TM_QuerySize(grid.all);
  arrange();
  const size_t room =
      gex_TM_Split(&grid.row, grid.all, 0, 0, NULL, 0, GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED);
  attach(SCRATCH_AT + 4 * room + 4096);
  grid.row = split((int)grid.y, (int)grid.x, 0, &used);
  grid.column = split((int)grid.x, (int)grid.y, 1, &used);
  require(gex_TM_QuerySize(grid.row) == grid.columns && gex_TM_QueryRank(grid.row) == grid.x &&
              gex_TM_QuerySize(grid.column) == grid.rows && gex_TM_QueryRank(grid.column) == grid.y,
          "a team has other members");
  require(gex_TM_TranslateRankToJobrank(grid.column, 0) == grid.x, "a team's rank is another");
}

void grid_destroy(void) {
  gex_TM_t const teams[2] = {grid.row, grid.column};
  for (int i = 0; i < 2; ++i) {
    gex_Memvec_t back = {NULL, 0};
    if (gex_TM_Destroy(teams[i], &back, 0))
      require(back.gex_addr == scratch[i].gex_addr && back.gex_len == scratch[i].gex_len,
              "other scratch comes back");
    else
      require(scratch[i].gex_len == 0, "scratch does not come back");
  }
}
