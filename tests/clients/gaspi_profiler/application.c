/* An application of GASPI that is profiled: it passes a token around, counts on rank 0, and reduces
 * with an operation of its own. It knows of the profiler only to compare what that has counted with
 * what it did. */
#include <GASPI.h>
#include <stdio.h>
#include <stdlib.h>

#include "tally.h"

#define ROUNDS 50
#define WORDS 16

#define MUST(call)                                                  \
  do {                                                              \
    const gaspi_return_t result_ = (call);                          \
    if (result_ != GASPI_SUCCESS) {                                 \
      gaspi_string_t text_ = NULL;                                  \
      gaspi_print_error(result_, &text_);                           \
      fprintf(stderr, "line %d: %s: %s\n", __LINE__, #call, text_); \
      exit(1);                                                      \
    }                                                               \
  } while (0)

static gaspi_rank_t rank, ranks;
static long* words;

static void pass_token(void) {
  const gaspi_rank_t next = (gaspi_rank_t)((rank + 1) % ranks);
  int round;
  for (round = 1; round <= ROUNDS; ++round) {
    gaspi_notification_id_t id = 99;
    gaspi_notification_t value = 0;
    words[0] = round * 1000L + rank;
    MUST(gaspi_write_notify(0, 0, next, 0, 64, sizeof(long), 3, (gaspi_notification_t)round, 0,
                            GASPI_BLOCK));
    MUST(gaspi_notify_waitsome(0, 3, 1, &id, GASPI_BLOCK));
    MUST(gaspi_notify_reset(0, id, &value));
    MUST(gaspi_wait(0, GASPI_BLOCK));
    if (value != (unsigned)round || words[8] != round * 1000L + (rank + ranks - 1) % ranks) {
      fprintf(stderr, "rank %u: round %d: %u, %ld\n", rank, round, value, words[8]);
      exit(1);
    }
    MUST(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK)); /* the word is read before the next one */
  }
}

static void write_lists(void) {
  gaspi_segment_id_t ids[3] = {0, 0, 0};
  gaspi_offset_t from[3] = {0, 8, 16}, to[3] = {128, 136, 144};
  gaspi_size_t sizes[3] = {8, 8, 8};
  MUST(gaspi_write_list(3, ids, from, (gaspi_rank_t)((rank + 1) % ranks), ids, to, sizes, 1,
                        GASPI_BLOCK));
  MUST(gaspi_write(0, 0, rank, 0, 256, 40, 1, GASPI_BLOCK));
  MUST(gaspi_read(0, 320, rank, 0, 256, 40, 1, GASPI_BLOCK));
  MUST(gaspi_wait(1, GASPI_BLOCK));
}

static void count_and_send(void) {
  gaspi_atomic_value_t before = 0;
  MUST(gaspi_atomic_fetch_add(0, 512, 0, 1, &before, GASPI_BLOCK));
  if (before >= ranks) exit(1);
  if (rank != 0) {
    MUST(gaspi_passive_send(0, 0, 0, 8, GASPI_BLOCK));
  } else {
    gaspi_rank_t from = 0, received;
    for (received = 1; received < ranks; ++received)
      MUST(gaspi_passive_receive(0, 600, &from, 8, GASPI_BLOCK));
  }
}

/* The field's form: all elements in one call. */
static gaspi_return_t multiply(double* const one, double* const two, double* const result,
                               gaspi_reduce_state_t state, const gaspi_number_t num,
                               const gaspi_size_t size, const gaspi_timeout_t timeout) {
  gaspi_number_t i;
  (void)state;
  (void)timeout;
  if (size != sizeof *result) return GASPI_ERROR;
  for (i = 0; i < num; ++i) result[i] = one[i] * two[i];
  return GASPI_SUCCESS;
}

static void reduce(void) {
  double factors[WORDS], products[WORDS], expected = 1;
  unsigned one = 1, sum = 0;
  int i;
  for (i = 0; i < ranks; ++i) expected *= i + 1;
  for (i = 0; i < WORDS; ++i) factors[i] = rank + 1;
  MUST(gaspi_allreduce_user(factors, products, WORDS, sizeof(double),
                            (gaspi_reduce_operation_t)multiply, NULL, GASPI_GROUP_ALL,
                            GASPI_BLOCK));
  for (i = 0; i < WORDS; ++i)
    if (products[i] != expected) exit(1);
  MUST(gaspi_allreduce(&one, &sum, 1, GASPI_OP_SUM, GASPI_TYPE_UINT, GASPI_GROUP_ALL, GASPI_BLOCK));
  if (sum != ranks) exit(1);
}

static void look_around(void) {
  gaspi_state_vector_t states = (gaspi_state_vector_t)calloc(ranks, sizeof *states);
  gaspi_cycles_t ticks = 0;
  gaspi_rank_t r;
  MUST(gaspi_state_vec_get(states));
  for (r = 0; r < ranks; ++r)
    if (states[r] != GASPI_STATE_HEALTHY) exit(1);
  MUST(gaspi_time_ticks(&ticks));
  free(states);
}

static int wrong = 0;
static void expect(enum tally_procedure which, unsigned long calls, unsigned long bytes) {
  if (tally_calls(which) == calls && tally_bytes(which) == bytes && tally_milliseconds(which) >= 0)
    return;
  fprintf(stderr, "rank %u: procedure %d: %lu calls of %lu bytes, made were %lu of %lu\n", rank,
          (int)which, tally_calls(which), tally_bytes(which), calls, bytes);
  wrong = 1;
}

int main(void) {
  MUST(gaspi_proc_init(GASPI_BLOCK));
  MUST(gaspi_proc_rank(&rank));
  MUST(gaspi_proc_num(&ranks));
  MUST(gaspi_segment_create(0, 4096, GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED));
  MUST(gaspi_segment_ptr(0, (gaspi_pointer_t*)&words));
  pass_token();
  write_lists();
  count_and_send();
  reduce();
  look_around();

  expect(TALLY_PROC_INIT, 1, 0);
  expect(TALLY_SEGMENT_CREATE, 1, 4096);
  expect(TALLY_SEGMENT_PTR, 1, 0);
  expect(TALLY_WRITE, 1, 40);
  expect(TALLY_READ, 1, 40);
  expect(TALLY_NOTIFY, 0, 0);
  expect(TALLY_WRITE_NOTIFY, ROUNDS, ROUNDS * sizeof(long));
  expect(TALLY_WRITE_LIST, 1, 24);
  expect(TALLY_WAITSOME, ROUNDS, 0);
  expect(TALLY_RESET, ROUNDS, 0);
  expect(TALLY_WAIT, ROUNDS + 1, 0);
  expect(TALLY_PASSIVE_SEND, rank != 0, rank != 0 ? 8 : 0);
  expect(TALLY_PASSIVE_RECEIVE, rank != 0 ? 0 : ranks - 1u, rank != 0 ? 0 : 8 * (ranks - 1u));
  expect(TALLY_FETCH_ADD, 1, 8);
  expect(TALLY_BARRIER, ROUNDS, 0);
  expect(TALLY_ALLREDUCE, 1, 1);
  expect(TALLY_ALLREDUCE_USER, 1, WORDS * sizeof(double));
  expect(TALLY_STATE_VEC, 1, 0);
  expect(TALLY_TICKS, 1, 0);
  expect(TALLY_PRINT_ERROR, 0, 0);
  MUST(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
  if (!wrong) printf("rank %u of %u: ok\n", rank, ranks);
  fflush(stdout);
  MUST(gaspi_proc_term(GASPI_BLOCK));
  return wrong;
}
