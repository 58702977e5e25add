/* one_sided: the one-sided operations of an MPI library, or (compiled with -DWITH_SHMEM) of an
 * OpenSHMEM library, measured as client/one_sided.cpp measures ours: the same rows between two
 * ranks, each operation complete at the target before the next one begins, the fastest repetition.
 * `causeway bench --one-sided` compiles this with the compilers it finds and launches it.
 *
 * usage: one_sided REPETITIONS AIM_NS BIND(0|1)
 */
#include "rank.h"

#ifdef WITH_SHMEM
#include <shmem.h>
#else
#include <mpi.h>
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kBytes = 8 << 20 };

static char* local;                 /* kBytes */
static const double row_ns = 200e6; /* no more repetitions of a row after this time */

#ifdef WITH_SHMEM
static char* remote;
static void start(int* argc, char*** argv) {
  (void)argc, (void)argv;
  shmem_init();
  rank = shmem_my_pe();
  size = shmem_n_pes();
  remote = shmem_align(4096, kBytes);
  local = shmem_align(4096, kBytes);
  if (remote == NULL || local == NULL) shmem_global_exit(1);
}
static void sync_all(void) { shmem_barrier_all(); }
/* Open MPI 4.1.4 crashes in shmem_finalize() after UCX has been told its transports. */
static void finish(void) {
  shmem_barrier_all();
  shmem_global_exit(0);
}
static void put(size_t bytes, int at_once) {
  for (int i = 0; i < at_once; ++i)
    shmem_putmem_nbi(remote + i * bytes, local + i * bytes, bytes, 1);
  shmem_quiet();
}
static void get(size_t bytes, int at_once) {
  for (int i = 0; i < at_once; ++i)
    shmem_getmem_nbi(local + i * bytes, remote + i * bytes, bytes, 1);
  shmem_quiet();
}
static void fetch_add(size_t bytes, int at_once) {
  (void)bytes, (void)at_once;
  *(volatile uint64_t*)local = (uint64_t)shmem_long_atomic_fetch_add((long*)remote, 1, 1);
}
#else
static MPI_Win window;
static void start(int* argc, char*** argv) {
  char* base = NULL;
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Win_allocate(kBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
  if (posix_memalign((void**)&local, 4096, kBytes) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
  memset(base, 0, kBytes);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
}
static void sync_all(void) { MPI_Barrier(MPI_COMM_WORLD); }
static void finish(void) {
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Finalize();
}
static void put(size_t bytes, int at_once) {
  for (int i = 0; i < at_once; ++i)
    MPI_Put(local + i * bytes, (int)bytes, MPI_BYTE, 1, (MPI_Aint)(i * bytes), (int)bytes, MPI_BYTE,
            window);
  MPI_Win_flush(1, window);
}
static void get(size_t bytes, int at_once) {
  for (int i = 0; i < at_once; ++i)
    MPI_Get(local + i * bytes, (int)bytes, MPI_BYTE, 1, (MPI_Aint)(i * bytes), (int)bytes, MPI_BYTE,
            window);
  MPI_Win_flush(1, window);
}
static void fetch_add(size_t bytes, int at_once) {
  const uint64_t one = 1;
  (void)bytes, (void)at_once;
  MPI_Fetch_and_op(&one, local, MPI_UINT64_T, 1, 0, MPI_SUM, window);
  MPI_Win_flush(1, window);
}
#endif

static const struct row {
  const char* name;
  void (*once)(size_t bytes, int at_once);
  size_t bytes;
  int at_once;
} rows[] = {{"put8", put, 8, 1},
            {"get8", get, 8, 1},
            {"fetch_add8", fetch_add, 8, 1},
            {"put.4KiB", put, 4u << 10, 1},
            {"get.4KiB", get, 4u << 10, 1},
            {"put.1MiB", put, 1u << 20, 8},
            {"get.1MiB", get, 1u << 20, 8}};

/* The second rank waits in the barrier, where it makes progress. */
static void measure(const struct row* row, int repetitions, double aim_ns) {
  const double spent = now_ns();
  if (rank != 0) {
    sync_all();
    return;
  }
  double begin = now_ns();
  row->once(row->bytes, row->at_once);
  double once = now_ns() - begin;
  if (once < aim_ns) {
    begin = now_ns();
    for (int i = 0; i < 4; ++i) row->once(row->bytes, row->at_once);
    once = (now_ns() - begin) / 4;
  }
  unsigned long turns = (unsigned long)(aim_ns / (once > 1 ? once : 1));
  turns = turns < 1 ? 1 : turns > 16384 ? 16384 : turns;
  double fastest = 0;
  for (int i = 0; i < repetitions; ++i) {
    begin = now_ns();
    for (unsigned long k = 0; k < turns; ++k) row->once(row->bytes, row->at_once);
    const double one = (now_ns() - begin) / (double)turns / row->at_once;
    if (i == 0 || one < fastest) fastest = one;
    if (now_ns() - spent > row_ns) break;
  }
  sync_all();
  printf("{\"figure\": \"%s\", \"ours\": %.9g, \"raw\": null, \"path\": \"\", \"note\": \"\"}\n",
         row->name, fastest);
  fflush(stdout);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  if (argc < 4 || size != 2) {
    if (rank == 0) fprintf(stderr, "one_sided: needs 2 ranks and 3 arguments\n");
    exit(2);
  }
  if (atoi(argv[3]) != 0) bind_to_own_core();
  memset(local, 0, kBytes);
  sync_all();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
    measure(&rows[i], atoi(argv[1]), atof(argv[2]));
  finish();
  return 0;
}
