/* Edges go to the neighbors' ghosts: rows as they lie, columns strided; and then a signal, an
 * atomic increment of the neighbor's counter for the side that it came from. */
#include <gasnet_ratomic.h>
#include <gasnet_vis.h>

#include "grid.h"

static gex_AD_t signals;

void exchange_create(void) {
  gex_AD_Create(&signals, grid.all, GEX_DT_U32, GEX_OP_INC | GEX_OP_GET, 0);
  gex_Event_Wait(gex_Coll_BarrierNB(grid.all, 0));
}
void exchange_destroy(void) {
  gex_Event_Wait(gex_Coll_BarrierNB(grid.all, 0));
  gex_AD_Destroy(signals);
}

static const int kOpposite[SIDES] = {RIGHT, LEFT, ABOVE, BELOW};

static gex_Event_t send_column(int buffer, int side) {
  const gex_Rank_t to = grid.neighbor[side];
  const int from = side == LEFT ? 1 : WIDE, ghost = side == LEFT ? WIDE + 1 : 0;
  const ptrdiff_t stride = ROW * (ptrdiff_t)sizeof(double);
  const size_t count = HIGH;
  return gex_VIS_StridedPutNB(grid.all, to, cell(to, buffer, ghost, 1), &stride,
                              cell(grid.me, buffer, from, 1), &stride, sizeof(double), &count, 1,
                              0);
}
static gex_Event_t send_row(int buffer, int side) {
  const gex_Rank_t to = grid.neighbor[side];
  const int from = side == BELOW ? 1 : HIGH, ghost = side == BELOW ? HIGH + 1 : 0;
  return gex_RMA_PutNB(grid.all, to, cell(to, buffer, 1, ghost), cell(grid.me, buffer, 1, from),
                       WIDE * sizeof(double), GEX_EVENT_DEFER, 0);
}

static uint32_t signals_from(int side) {
  uint32_t value;
  gex_Event_Wait(gex_AD_OpNB_U32(signals, &value, grid.me, signal_of(grid.me, side), GEX_OP_GET, 0,
                                 0, GEX_FLAG_AD_MY_RANK | GEX_FLAG_AD_ACQ));
  return value;
}

void exchange(int buffer, uint32_t step) {
  gex_Event_t sent[SIDES];
  for (int side = 0; side < SIDES; ++side)
    sent[side] = grid.neighbor[side] == GEX_RANK_INVALID ? GEX_EVENT_INVALID
                 : side == LEFT || side == RIGHT         ? send_column(buffer, side)
                                                         : send_row(buffer, side);
  gex_Event_WaitAll(sent, SIDES, 0);
  for (int side = 0; side < SIDES; ++side)
    if (grid.neighbor[side] != GEX_RANK_INVALID)
      gex_AD_OpNBI_U32(signals, NULL, grid.neighbor[side],
                       signal_of(grid.neighbor[side], kOpposite[side]), GEX_OP_INC, 0, 0,
                       GEX_FLAG_AD_REL);
  gex_NBI_Wait(GEX_EC_RMW, 0);
  for (int side = 0; side < SIDES; ++side)
    if (grid.neighbor[side] != GEX_RANK_INVALID) GASNET_BLOCKUNTIL(signals_from(side) >= step);
}
