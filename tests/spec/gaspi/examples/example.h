/* What the examples share: the end of a program whose call failed (listings 17 and 18 of
 * GASPI 17.1), a request that finds its queue full (listing 19), and a verdict for the test. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <GASPI.h>
#include <stdio.h>
#include <stdlib.h>

static inline void must_succeed(gaspi_return_t result, const char* call, const char* file,
                                int line) {
  gaspi_string_t text = NULL;
  if (result == GASPI_SUCCESS) return;
  gaspi_error_message(result, &text);
  fprintf(stderr, "%s:%d: %s: %s\n", file, line, call, text);
  exit(EXIT_FAILURE);
}
#define MUST(call) must_succeed((call), #call, __FILE__, __LINE__)

/* Posts to a queue; as often as that is full, waits until it is empty and posts again. */
#define POST(call, queue)                                                                  \
  do {                                                                                     \
    gaspi_return_t posted_;                                                                \
    while ((posted_ = (call)) == GASPI_QUEUE_FULL) MUST(gaspi_wait((queue), GASPI_BLOCK)); \
    must_succeed(posted_, #call, __FILE__, __LINE__);                                      \
  } while (0)

struct job {
  gaspi_rank_t rank, ranks;
};

static inline struct job start_job(void) {
  struct job job;
  MUST(gaspi_proc_init(GASPI_BLOCK));
  MUST(gaspi_proc_rank(&job.rank));
  MUST(gaspi_proc_num(&job.ranks));
  return job;
}

/* A segment of every rank. */
static inline void* make_segment(gaspi_segment_id_t id, gaspi_size_t bytes) {
  gaspi_pointer_t base = NULL;
  MUST(gaspi_segment_create(id, bytes, GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED));
  MUST(gaspi_segment_ptr(id, &base));
  return base;
}

/* Takes part in the verdict, ends the job, and gives the program's status. `wrong` counts what
 * this rank found wrong; rank 0 says what came of it on all. */
static inline int finish_job(const char* name, struct job job, unsigned wrong) {
  unsigned all_wrong = 0;
  MUST(gaspi_allreduce(&wrong, &all_wrong, 1, GASPI_OP_SUM, GASPI_TYPE_UINT, GASPI_GROUP_ALL,
                       GASPI_BLOCK));
  if (job.rank == 0) {
    if (all_wrong == 0)
      printf("%s: right on %u ranks\n", name, job.ranks);
    else
      printf("%s: %u WRONG\n", name, all_wrong);
    fflush(stdout);
  }
  MUST(gaspi_proc_term(GASPI_BLOCK));
  return all_wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
