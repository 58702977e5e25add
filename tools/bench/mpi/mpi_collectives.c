/* mpi_collectives: the collectives of an MPI library, measured as client/collectives.cpp measures
 * ours: the same rows, the same operations, each rank on the same core, the same statistics.
 * `causeway bench --collectives` compiles this with the MPI compilers it finds and launches it.
 *
 * usage: mpi_collectives REPETITIONS AIM_NS BIND(0|1) [ROW...]
 */
#include "rank.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double *src, *dst;
static unsigned turn;               /* whose turn it is to be root */
static const double row_ns = 400e6; /* no more repetitions of a row after this time */

static void barrier(size_t bytes) {
  (void)bytes;
  MPI_Barrier(MPI_COMM_WORLD);
}
static void broadcast(size_t bytes) {
  const int root = bytes == 8 ? (int)(turn++ % (unsigned)size) : 0;
  /* MPI's buffer is source and destination: the root has no copy of its own to make. */
  MPI_Bcast(dst, (int)bytes, MPI_BYTE, root, MPI_COMM_WORLD);
}
static void all_reduce(size_t bytes) {
  MPI_Allreduce(src, dst, (int)(bytes / sizeof(double)), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static const struct row {
  const char* name;
  void (*once)(size_t bytes);
  size_t bytes;
} rows[] = {{"barrier", barrier, 0},
            {"broadcast.8", broadcast, 8},
            {"allreduce.8", all_reduce, 8},
            {"allreduce.64KiB", all_reduce, 64u << 10},
            {"allreduce.1MiB", all_reduce, 1u << 20},
            {"allreduce.8MiB", all_reduce, 8u << 20},
            {"broadcast.8MiB", broadcast, 8u << 20}};

/* Of the slowest rank. */
static double timed(const struct row* row, unsigned long count) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = now_ns();
  for (unsigned long i = 0; i < count; ++i) row->once(row->bytes);
  double own = now_ns() - start, slowest = own;
  MPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest / (double)count;
}

static void measure(const struct row* row, int repetitions, double aim_ns) {
  timed(row, 2);
  const double once = timed(row, 4);
  unsigned long turns = (unsigned long)(aim_ns / (once > 1 ? once : 1));
  turns = turns < 1 ? 1 : turns > 16384 ? 16384 : turns;
  MPI_Bcast(&turns, 1, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
  double fastest = timed(row, turns);
  const double begun = now_ns();
  for (int i = 1; i < repetitions; ++i) {
    const double one = timed(row, turns);
    if (one < fastest) fastest = one;
    int over = now_ns() - begun > row_ns;
    MPI_Bcast(&over, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (over) break;
  }
  if (rank == 0) {
    printf("{\"figure\": \"%s\", \"ours\": %.9g, \"raw\": null, \"path\": \"\", \"note\": \"\"}\n",
           row->name, fastest);
    fflush(stdout);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc < 4) MPI_Abort(MPI_COMM_WORLD, 2);
  if (atoi(argv[3]) != 0) bind_to_own_core();
  const size_t most = 8u << 20;
  if (posix_memalign((void**)&src, 4096, most) != 0 ||
      posix_memalign((void**)&dst, 4096, most) != 0)
    MPI_Abort(MPI_COMM_WORLD, 1);
  memset(src, 0, most);
  memset(dst, 0, most);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    int wanted = argc == 4;
    for (int a = 4; a < argc; ++a) wanted |= strcmp(argv[a], rows[i].name) == 0;
    if (wanted) measure(&rows[i], atoi(argv[1]), atof(argv[2]));
  }
  MPI_Finalize();
  return 0;
}
