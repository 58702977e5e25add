/* A profiler's procedures, of those that PGASPI.h is asked for: with GASPI_GPI2_SOURCE in the
 * field's forms, else in 17.1's (14.2). Those that are macros in GASPI.h are functions here. */
#include "profiler.h"

#include <PGASPI.h>

#ifdef GASPI_GPI2_SOURCE
typedef gaspi_state_vector_t states_argument;
typedef gaspi_cycles_t* ticks_argument;
typedef unsigned long* value_argument;
#else
typedef gaspi_state_vector_t* states_argument;
typedef gaspi_time_t* ticks_argument;
typedef gaspi_number_t* value_argument;
#endif

#ifdef __cplusplus
extern "C" {
#endif

unsigned profiled = 0;

gaspi_return_t gaspi_barrier(gaspi_group_t group, gaspi_timeout_t timeout) {
  profiled |= PROFILED_BARRIER;
  return pgaspi_barrier(group, timeout);
}
gaspi_return_t gaspi_segment_ptr(gaspi_segment_id_t segment, gaspi_pointer_t* pointer) {
  profiled |= PROFILED_SEGMENT_PTR;
  return pgaspi_segment_ptr(segment, pointer);
}
gaspi_return_t gaspi_allreduce_user(gaspi_const_pointer_t send, gaspi_pointer_t receive,
                                    gaspi_number_t num, gaspi_size_t size,
                                    gaspi_reduce_operation_t operation, gaspi_reduce_state_t state,
                                    gaspi_group_t group, gaspi_timeout_t timeout) {
  profiled |= PROFILED_ALLREDUCE_USER;
  return pgaspi_allreduce_user(send, receive, num, size, operation, state, group, timeout);
}

gaspi_return_t gaspi_state_vec_get(states_argument states) {
  profiled |= PROFILED_STATE_VEC;
  return pgaspi_state_vec_get(states);
}
gaspi_return_t gaspi_time_ticks(ticks_argument ticks) {
  profiled |= PROFILED_TICKS;
  return pgaspi_time_ticks(ticks);
}
gaspi_return_t gaspi_statistic_counter_get(gaspi_statistic_counter_t counter,
                                           gaspi_statistic_argument_t argument,
                                           value_argument value) {
  profiled |= PROFILED_COUNTER;
  return pgaspi_statistic_counter_get(counter, argument, value);
}

#ifdef __cplusplus
}
#endif
