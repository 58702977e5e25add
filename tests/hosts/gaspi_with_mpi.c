/* GASPI in an MPI program, as GASPI 17.1 lays out in 5.6: the start is MPI's, the two take turns,
 * and each turn of one ends before the other's begins. Both move data in every turn.
 * Usage: gaspi_with_mpi [TURNS] */
#include <GASPI.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size;

static void require(int condition, const char* what, int line) {
  if (condition) return;
  fprintf(stderr, "rank %d: gaspi_with_mpi.c:%d: not true: %s\n", rank, line, what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}
#define REQUIRE(condition) require((condition) != 0, #condition, __LINE__)
#define OK(call) REQUIRE((call) == GASPI_SUCCESS)

enum { kInts = 5000, kNote = 3 };

static void start_gaspi(int** data) {
  gaspi_rank_t own, all;
  gaspi_pointer_t pointer = NULL;
  OK(gaspi_proc_init(GASPI_BLOCK));
  OK(gaspi_proc_rank(&own));
  OK(gaspi_proc_num(&all));
  REQUIRE(all == size);
  /* Whoever starts the processes, both number them alike. */
  REQUIRE(own == rank);
  OK(gaspi_segment_create(0, 2 * kInts * sizeof(int), GASPI_GROUP_ALL, GASPI_BLOCK,
                          GASPI_MEM_INITIALIZED));
  OK(gaspi_segment_ptr(0, &pointer));
  *data = (int*)pointer;
}

/* Sends `data` once around by MPI; what comes in is behind it. */
static void mpi_turn(int* data, int turn) {
  int i, sum = 0;
  for (i = 0; i < kInts; ++i) data[i] = turn * 1000 + rank;
  MPI_Sendrecv(data, kInts, MPI_INT, (rank + 1) % size, turn, data + kInts, kInts, MPI_INT,
               (rank + size - 1) % size, turn, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  REQUIRE(data[2 * kInts - 1] == turn * 1000 + (rank + size - 1) % size);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  REQUIRE(sum == size * (size - 1) / 2);
}

/* The same by GASPI, the other way around. */
static void gaspi_turn(int* data, int turn) {
  const gaspi_rank_t to = (gaspi_rank_t)((rank + size - 1) % size);
  gaspi_notification_id_t found;
  gaspi_notification_t value;
  int i, sum = 0;
  for (i = 0; i < kInts; ++i) data[i] = -(turn * 1000 + rank);
  OK(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
  OK(gaspi_write_notify(0, 0, to, 0, kInts * sizeof(int), kInts * sizeof(int), kNote,
                        (gaspi_notification_t)turn + 1, 0, GASPI_BLOCK));
  OK(gaspi_notify_waitsome(0, kNote, 1, &found, GASPI_BLOCK));
  OK(gaspi_notify_reset(0, found, &value));
  REQUIRE(value == (gaspi_notification_t)turn + 1);
  REQUIRE(data[2 * kInts - 1] == -(turn * 1000 + (rank + 1) % size));
  OK(gaspi_wait(0, GASPI_BLOCK));
  OK(gaspi_allreduce(&rank, &sum, 1, GASPI_OP_SUM, GASPI_TYPE_INT, GASPI_GROUP_ALL, GASPI_BLOCK));
  REQUIRE(sum == size * (size - 1) / 2);
  OK(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
}

int main(int argc, char** argv) {
  const int turns = argc > 1 ? atoi(argv[1]) : 20;
  int turn, *data = NULL, plain[2 * kInts];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  mpi_turn(plain, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  start_gaspi(&data);
  for (turn = 1; turn <= turns; ++turn) {
    /* MPI on memory of a segment. */
    mpi_turn(data, turn);
    MPI_Barrier(MPI_COMM_WORLD);
    gaspi_turn(data, turn);
  }
  OK(gaspi_proc_term(GASPI_BLOCK));
  mpi_turn(plain, turns + 1);
  MPI_Finalize();
  if (rank == 0) printf("%d turns on %d ranks: well\n", turns, size);
  return 0;
}
