/* A GASPI program that tells where it runs: "rank R of N, L of M here, arguments A". */
#include <GASPI.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(gaspi_return_t result, const char* what) {
  if (result == GASPI_SUCCESS) return;
  fprintf(stderr, "%s: %s\n", what, gaspi_error_str(result));
  exit(9);
}

int main(int argc, char** argv) {
  gaspi_rank_t rank, ranks, local, locals;
  unsigned one = 1, all = 0;
  check(gaspi_proc_init(GASPI_BLOCK), "gaspi_proc_init");
  check(gaspi_proc_rank(&rank), "gaspi_proc_rank");
  check(gaspi_proc_num(&ranks), "gaspi_proc_num");
  check(gaspi_proc_local_rank(&local), "gaspi_proc_local_rank");
  check(gaspi_proc_local_num(&locals), "gaspi_proc_local_num");
  check(gaspi_allreduce(&one, &all, 1, GASPI_OP_SUM, GASPI_TYPE_UINT, GASPI_GROUP_ALL, GASPI_BLOCK),
        "gaspi_allreduce");
  if (all != ranks) return 8;
  printf("rank %u of %u, %u of %u here, %s with %d arguments%s\n", rank, ranks, local, locals,
         strrchr(argv[0], '/') == NULL ? argv[0] : strrchr(argv[0], '/') + 1, argc - 1,
         getenv("GASPI_BIND") != NULL ? ", bound" : "");
  fflush(stdout);
  check(gaspi_proc_term(GASPI_BLOCK), "gaspi_proc_term");
  return argc > 2 ? atoi(argv[2]) : 0;
}
