/* Where 17.1 and the field differ in a prototype, both kinds of source compile and mean the same:
 * in C99 one of them (the field's with GASPI_GPI2_SOURCE), in C11 and C++ both. FORMS_FIELD and
 * FORMS_STANDARD say what this build has. Prints "forms: right". Catches: an overload or a
 * selection that takes the other form, a header that a strict compiler rejects, a procedure
 * that a profiler in the program cannot stand before. */
#include <GASPI.h>
#include <stdio.h>
#include <stdlib.h>

#include "profiler.h"

static unsigned wrong = 0;
#define CHECK(condition)                                           \
  do {                                                             \
    if (!(condition)) {                                            \
      fprintf(stderr, "%d: not true: %s\n", __LINE__, #condition); \
      ++wrong;                                                     \
    }                                                              \
  } while (0)
#define CHECK_OK(call) CHECK((call) == GASPI_SUCCESS)

static void statistics_of_a_write(gaspi_statistic_counter_t* counter, gaspi_rank_t rank) {
  gaspi_statistic_counter_t count = 0, c;
  CHECK_OK(gaspi_statistic_counter_max(&count));
  for (c = 0; c < count; ++c) {
    gaspi_statistic_argument_t argument;
    gaspi_string_t name, description;
    gaspi_number_t level;
    CHECK_OK(gaspi_statistic_counter_info(c, &argument, &name, &description, &level));
    if (argument == GASPI_STATISTIC_ARGUMENT_RANK) break; /* bytes written to a rank */
  }
  *counter = c;
  CHECK_OK(gaspi_statistic_counter_reset(c));
  CHECK_OK(gaspi_statistic_verbosity_level(2));
  CHECK_OK(gaspi_write(0, 0, rank, 0, 64, 24, 0, GASPI_BLOCK));
  CHECK_OK(gaspi_wait(0, GASPI_BLOCK));
  CHECK_OK(gaspi_statistic_verbosity_level(0));
}

#ifdef FORMS_STANDARD
static gaspi_return_t largest(gaspi_const_pointer_t one, gaspi_const_pointer_t two,
                              gaspi_pointer_t result, gaspi_reduce_state_t state,
                              gaspi_timeout_t timeout) {
  const int a = *(const int*)one, b = *(const int*)two;
  (void)state;
  (void)timeout;
  *(int*)result = a > b ? a : b;
  return GASPI_SUCCESS;
}

static void standard_forms(gaspi_rank_t rank, gaspi_rank_t ranks) {
  gaspi_state_t* const states = (gaspi_state_t*)calloc(ranks, sizeof *states);
  gaspi_state_vector_t vector = states;
  gaspi_time_t resolution = -1;
  gaspi_number_t value = 0;
  gaspi_statistic_counter_t counter;
  gaspi_pointer_t base = NULL;
  int mine[3], all[3] = {-1, -1, -1};

  states[rank] = GASPI_STATE_CORRUPT;
  CHECK_OK(gaspi_state_vec_get(&vector));
  CHECK(states[rank] == GASPI_STATE_HEALTHY);
  CHECK_OK(gaspi_time_ticks(&resolution));
  CHECK(resolution > 0 && resolution < 1);
  statistics_of_a_write(&counter, rank);
  CHECK_OK(gaspi_statistic_counter_get(counter, (gaspi_statistic_argument_t)rank, &value));
  CHECK(value == 24);
  mine[0] = rank;
  mine[1] = -(int)rank;
  mine[2] = 7;
  CHECK_OK(gaspi_allreduce_user(mine, all, 3, sizeof mine[0], largest, NULL, GASPI_GROUP_ALL,
                                GASPI_BLOCK));
  CHECK(all[0] == ranks - 1 && all[1] == 0 && all[2] == 7);
  CHECK_OK(gaspi_segment_ptr(0, &base));
  CHECK(base != NULL);
  free(states);
}
#endif

#if defined(FORMS_FIELD) && defined(GASPI_GPI2_SOURCE)
/* With types of its own, as programs of the field declare it: it is cast. */
static gaspi_return_t largest_of_ints(int* const one, int* const two, int* const result,
                                      gaspi_reduce_state_t state, const gaspi_number_t num,
                                      const gaspi_size_t element_size,
                                      const gaspi_timeout_t timeout) {
  gaspi_number_t i;
  (void)state;
  (void)timeout;
  if (num != 3 || element_size != sizeof(int)) return GASPI_ERROR;
  for (i = 0; i < num; ++i) result[i] = one[i] > two[i] ? one[i] : two[i];
  return GASPI_SUCCESS;
}

static void cast_forms(gaspi_rank_t rank, gaspi_rank_t ranks) {
  gaspi_reduce_operation_t operation = (gaspi_reduce_operation_t)(void (*)(void))largest_of_ints;
  int mine[3], all[3] = {-1, -1, -1};
  mine[0] = rank;
  mine[1] = -(int)rank;
  mine[2] = 7;
  CHECK_OK(gaspi_allreduce_user(mine, all, 3, sizeof mine[0], operation, NULL, GASPI_GROUP_ALL,
                                GASPI_BLOCK));
  CHECK(all[0] == ranks - 1 && all[1] == 0 && all[2] == 7);
}
#endif

#ifdef FORMS_FIELD
static gaspi_return_t largest_of_all(gaspi_const_pointer_t one, gaspi_const_pointer_t two,
                                     gaspi_pointer_t result, gaspi_reduce_state_t state,
                                     gaspi_number_t num, gaspi_size_t element_size,
                                     gaspi_timeout_t timeout) {
  const int* const a = (const int*)one;
  const int* const b = (const int*)two;
  gaspi_number_t i;
  (void)timeout;
  if (num != 3 || element_size != sizeof(int)) return GASPI_ERROR;
  for (i = 0; i < num; ++i) ((int*)result)[i] = a[i] > b[i] ? a[i] : b[i];
  ++*(unsigned*)state;
  return GASPI_SUCCESS;
}

static void field_forms(gaspi_rank_t rank, gaspi_rank_t ranks) {
  gaspi_state_vector_t states = (gaspi_state_vector_t)calloc(ranks, sizeof *states);
  gaspi_cycles_t before = 0, after = 0;
  unsigned long value = 0;
  gaspi_statistic_counter_t counter;
  unsigned calls = 0, all_calls = 0;
  int* typed = NULL;
  int mine[3], all[3] = {-1, -1, -1};

  states[rank] = GASPI_STATE_CORRUPT;
  CHECK_OK(gaspi_state_vec_get(states));
  CHECK(states[rank] == GASPI_STATE_HEALTHY);
  CHECK_OK(gaspi_time_ticks(&before));
  CHECK_OK(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
  CHECK_OK(gaspi_time_ticks(&after));
  CHECK(after > before);
  statistics_of_a_write(&counter, rank);
  CHECK_OK(gaspi_statistic_counter_get(counter, (gaspi_statistic_argument_t)rank, &value));
  CHECK(value == 24);
  mine[0] = rank;
  mine[1] = -(int)rank;
  mine[2] = 7;
  CHECK_OK(gaspi_allreduce_user(mine, all, 3, sizeof mine[0], largest_of_all, &calls,
                                GASPI_GROUP_ALL, GASPI_BLOCK));
  CHECK(all[0] == ranks - 1 && all[1] == 0 && all[2] == 7);
  CHECK_OK(gaspi_allreduce(&calls, &all_calls, 1, GASPI_OP_SUM, GASPI_TYPE_UINT, GASPI_GROUP_ALL,
                           GASPI_BLOCK));
  CHECK(all_calls >= ranks - 1u);
  CHECK_OK(gaspi_segment_ptr(0, (gaspi_pointer_t*)&typed)); /* as it is often written */
  CHECK(typed != NULL);
  free(states);
}
#endif

int main(void) {
  gaspi_rank_t rank = 0, ranks = 0;
  double* typed = NULL;
  unsigned all_wrong = 0;

  CHECK_OK(gaspi_proc_init(GASPI_BLOCK));
  CHECK_OK(gaspi_proc_rank(&rank));
  CHECK_OK(gaspi_proc_num(&ranks));
  CHECK_OK(gaspi_segment_create(0, 128, GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED));
  CHECK_OK(gaspi_segment_ptr(0, &typed)); /* as in listings 11 and 12 */
  CHECK(typed != NULL && typed[0] == 0);
#ifdef FORMS_STANDARD
  standard_forms(rank, ranks);
#endif
#ifdef FORMS_FIELD
  field_forms(rank, ranks);
#endif
#if defined(FORMS_FIELD) && defined(GASPI_GPI2_SOURCE)
  cast_forms(rank, ranks);
#endif
  CHECK_OK(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
  CHECK(profiled == PROFILED_ALL);
  CHECK_OK(gaspi_allreduce(&wrong, &all_wrong, 1, GASPI_OP_SUM, GASPI_TYPE_UINT, GASPI_GROUP_ALL,
                           GASPI_BLOCK));
  if (rank == 0 && all_wrong == 0) printf("forms: right\n");
  CHECK_OK(gaspi_proc_term(GASPI_BLOCK));
  return all_wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
