/* A grid over ranks in the style of an MPI program: a block of the grid on each rank, a ring of
 * ghost cells around it, neighbors to all sides. Around in x, with walls in y. */
#ifndef HALO_GRID_H
#define HALO_GRID_H

#include <gasnetex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WIDE = 20, HIGH = 14, ROW = WIDE + 2, CELLS = ROW * (HIGH + 2), SIDES = 4 };
enum { LEFT, RIGHT, BELOW, ABOVE };

typedef struct {
  gex_TM_t all, row, column; /* `row`: the ranks of the same height */
  gex_Rank_t me, ranks, columns, rows, x, y;
  gex_Rank_t neighbor[SIDES]; /* GEX_RANK_INVALID at a wall */
  char* here;                 /* my segment */
  char** there;               /* everybody's */
} Grid;
extern Grid grid;

void require(bool holds, const char* what);

/* ---- the layout of every rank's segment ---- */
enum {
  SIGNALS_AT = 2 * CELLS * (int)sizeof(double),
  SAMPLES_AT = SIGNALS_AT + 64,
  SCRATCH_AT = SAMPLES_AT + 4096
};
/* Where cell (column, row) of a buffer lies on a rank; ghosts are 0 and WIDE + 1, HIGH + 1. */
double* cell(gex_Rank_t rank, int buffer, int column, int row);
uint32_t* signal_of(gex_Rank_t rank, int side);

void grid_create(int* argc, char*** argv);
/* Collective: teams are destroyed, and their scratch comes back. */
void grid_destroy(void);

/* ---- exchange.c ---- */
void exchange_create(void);
/* Sends the edges of a buffer, and waits for those of the neighbors. */
void exchange(int buffer, uint32_t step);
void exchange_destroy(void);

/* ---- results.c: the whole grid at rank 0, and what collectives say of it ---- */
void check_against(const double* whole, int buffer);
void check_collectives(int buffer);

#endif
