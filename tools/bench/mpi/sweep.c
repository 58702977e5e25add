/* sweep: puts, gets, messages and sums of an MPI library over sizes, measured as client/sweep.cpp
 * measures ours: the same rows, windows and statistics. Messages are sends and receives.
 * `causeway bench --sweep` compiles this with the MPI compilers it finds and launches it.
 *
 * usage: sweep REPETITIONS AIM_NS BIND(0|1) OPERATION,... BYTES...
 */
#include "rank.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kHalf = 16 << 20, kWindow = 64 };
static const double row_ns = 300e6; /* no more repetitions of a row than take so long */

static MPI_Win window;
static char *local, *remote; /* kHalf each */

static void put(int bytes, int at_once) {
  for (int i = 0; i < at_once; ++i)
    MPI_Put(local + i * bytes, bytes, MPI_BYTE, 1, (MPI_Aint)i * bytes, bytes, MPI_BYTE, window);
  MPI_Win_flush(1, window);
}
static void get(int bytes, int at_once) {
  for (int i = 0; i < at_once; ++i)
    MPI_Get(local + i * bytes, bytes, MPI_BYTE, 1, (MPI_Aint)i * bytes, bytes, MPI_BYTE, window);
  MPI_Win_flush(1, window);
}
/* By both ranks: there and back, or so many one way and an answer behind the last of all. */
static void message(int bytes, int at_once) {
  if (at_once == 1) {
    if (rank == 0) MPI_Send(local, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(remote, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(local, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    return;
  }
  MPI_Request requests[kWindow];
  for (int i = 0; i < at_once; ++i) {
    char* const at = (rank == 0 ? local : remote) + i * bytes;
    if (rank == 0) MPI_Isend(at, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &requests[i]);
    if (rank == 1) MPI_Irecv(at, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &requests[i]);
  }
  MPI_Waitall(at_once, requests, MPI_STATUSES_IGNORE);
}
static void all_reduce(int bytes, int at_once) {
  (void)at_once;
  MPI_Allreduce(remote, local, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static const struct operation {
  const char* name;
  void (*once)(int bytes, int at_once);
  int ranks; /* that call it; 0: all */
} operations[] = {
    {"put", put, 1}, {"get", get, 1}, {"am", message, 2}, {"allreduce", all_reduce, 0}};

/* Nanoseconds of an operation, of `turns` times `at_once`. */
static double timed(const struct operation* op, int bytes, int at_once, unsigned long turns) {
  char answer = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = now_ns();
  for (unsigned long i = 0; i < turns && (op->ranks == 0 || rank < op->ranks); ++i)
    op->once(bytes, at_once);
  if (op->once == message && at_once > 1 && rank < 2) {
    if (rank == 1) MPI_Send(&answer, 1, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    if (rank == 0) MPI_Recv(&answer, 1, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  const double elapsed = now_ns() - begin;
  MPI_Barrier(MPI_COMM_WORLD);
  return elapsed / (double)turns / at_once;
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static void measure(const struct operation* op, int bytes, int at_once, int most, double aim_ns) {
  static double all[1000];
  timed(op, bytes, at_once, at_once == 1 ? 16 : 1);
  const double once = timed(op, bytes, at_once, at_once == 1 ? 16 : 1) * at_once + 0.1;
  double turns = aim_ns / once, repetitions;
  turns = turns < 1 ? 1 : turns > 16384 ? 16384 : turns;
  repetitions = row_ns / (2 * once * turns);
  repetitions = repetitions < 5 ? 5 : repetitions > most ? most : repetitions;
  MPI_Bcast(&turns, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Bcast(&repetitions, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  const int count = (int)repetitions;
  for (int i = 0; i < count; ++i) all[i] = timed(op, bytes, at_once, (unsigned long)turns);
  qsort(all, (size_t)count, sizeof *all, ascending);
  const double ns = all[count / 2];
  if (rank != 0) return;
  printf(
      "{\"figure\": \"%s.%s.%d\", \"ours\": %.9g, \"raw\": null, \"path\": \"\", \"note\": \"\"}\n",
      op->name, at_once == 1 ? "latency" : "bandwidth", bytes,
      at_once > 1 ? bytes / ns : ns / (op->once == message ? 2e3 : 1e3));
  fflush(stdout);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc < 6 || size < 2) MPI_Abort(MPI_COMM_WORLD, 2);
  if (atoi(argv[3]) != 0) bind_to_own_core();
  MPI_Win_allocate(kHalf, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &remote, &window);
  if (posix_memalign((void**)&local, 4096, kHalf) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
  memset(local, 0, kHalf);
  memset(remote, 0, kHalf);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
  for (size_t o = 0; o < sizeof operations / sizeof *operations; ++o) {
    if (strstr(argv[4], operations[o].name) == NULL) continue;
    for (int a = 5; a < argc; ++a) {
      const int bytes = atoi(argv[a]), fitting = kHalf / bytes;
      measure(&operations[o], bytes, 1, atoi(argv[1]), atof(argv[2]));
      if (operations[o].ranks != 0)
        measure(&operations[o], bytes, fitting < kWindow ? fitting : kWindow, atoi(argv[1]),
                atof(argv[2]));
    }
  }
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
