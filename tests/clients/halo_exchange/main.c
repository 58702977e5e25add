/* Heat in a plate whose lower wall is warm, step by step between two buffers, on ranks and alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grid.h"

enum { STEPS = 40 };

static double stepped(const double* middle, size_t row) {
  return 0.5 * middle[0] + 0.125 * ((middle[-1] + middle[1]) + (*(middle - row) + *(middle + row)));
}

/* The whole plate on one rank: ghosts of the sides are copies of the other side. */
static double* alone(void) {
  const size_t wide = (size_t)grid.columns * WIDE, high = (size_t)grid.rows * HIGH, row = wide + 2;
  double* now = calloc(row * (high + 2), sizeof *now);
  double* next = calloc(row * (high + 2), sizeof *next);
  double* const whole = malloc(wide * high * sizeof *whole);
  for (size_t x = 0; x < row; ++x) now[x] = next[x] = 1.0;
  for (int step = 0; step < STEPS; ++step) {
    for (size_t y = 1; y <= high; ++y) {
      now[y * row] = now[y * row + wide];
      now[y * row + wide + 1] = now[y * row + 1];
      for (size_t x = 1; x <= wide; ++x) next[y * row + x] = 0;
    }
    for (size_t y = 1; y <= high; ++y)
      for (size_t x = 1; x <= wide; ++x) next[y * row + x] = stepped(&now[y * row + x], row);
    double* const other = now;
    now = next, next = other;
  }
  for (size_t y = 0; y < high; ++y)
    memcpy(whole + y * wide, now + (y + 1) * row + 1, wide * sizeof *now);
  free(now);
  free(next);
  return whole;
}

int main(int argc, char** argv) {
  grid_create(&argc, &argv);
  if (grid.y == 0)
    for (int x = 0; x < ROW; ++x) *cell(grid.me, 0, x, 0) = *cell(grid.me, 1, x, 0) = 1.0;
  exchange_create();
  for (uint32_t step = 0; step < STEPS; ++step) {
    const int now = (int)(step % 2), next = 1 - now;
    exchange(now, step + 1);
    for (int y = 1; y <= HIGH; ++y)
      for (int x = 1; x <= WIDE; ++x)
        *cell(grid.me, next, x, y) = stepped(cell(grid.me, now, x, y), ROW);
    if (step % 10 == 9) check_collectives(next);
  }
  double* const whole = alone();
  check_against(whole, STEPS % 2);
  free(whole);
  exchange_destroy();
  grid_destroy();
  printf("rank %u of %u: ok\n", (unsigned)grid.me, (unsigned)grid.ranks);
  fflush(stdout);
  gasnet_exit(0);
}
