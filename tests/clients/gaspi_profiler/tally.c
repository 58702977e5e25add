/* The gaspi_ procedures are defined here and call the pgaspi_ ones. At the end of the program the
 * first process writes the table of the whole job. */
#include "tally.h"

#include <PGASPI.h>
#include <stdio.h>

struct row {
  const char* name;
  unsigned long calls, bytes;
  double milliseconds;
};

static struct row table[TALLY_COUNT] = {{"gaspi_proc_init", 0, 0, 0},
                                        {"gaspi_segment_create", 0, 0, 0},
                                        {"gaspi_segment_ptr", 0, 0, 0},
                                        {"gaspi_write", 0, 0, 0},
                                        {"gaspi_read", 0, 0, 0},
                                        {"gaspi_notify", 0, 0, 0},
                                        {"gaspi_write_notify", 0, 0, 0},
                                        {"gaspi_write_list", 0, 0, 0},
                                        {"gaspi_notify_waitsome", 0, 0, 0},
                                        {"gaspi_notify_reset", 0, 0, 0},
                                        {"gaspi_wait", 0, 0, 0},
                                        {"gaspi_passive_send", 0, 0, 0},
                                        {"gaspi_passive_receive", 0, 0, 0},
                                        {"gaspi_atomic_fetch_add", 0, 0, 0},
                                        {"gaspi_barrier", 0, 0, 0},
                                        {"gaspi_allreduce", 0, 0, 0},
                                        {"gaspi_allreduce_user", 0, 0, 0},
                                        {"gaspi_state_vec_get", 0, 0, 0},
                                        {"gaspi_time_ticks", 0, 0, 0},
                                        {"gaspi_print_error", 0, 0, 0}};

unsigned long tally_calls(enum tally_procedure which) {
  return table[which].calls;
}
unsigned long tally_bytes(enum tally_procedure which) {
  return table[which].bytes;
}
double tally_milliseconds(enum tally_procedure which) {
  return table[which].milliseconds;
}

static double began(void) {
  gaspi_time_t now = 0;
  return pgaspi_time_get(&now) == GASPI_SUCCESS ? now : 0;
}
static gaspi_return_t ended(enum tally_procedure which, double since, unsigned long bytes,
                            gaspi_return_t result) {
  table[which].calls += 1;
  table[which].bytes += bytes;
  table[which].milliseconds += began() - since;
  return result;
}

#ifdef __cplusplus
extern "C" {
#endif

gaspi_return_t gaspi_proc_init(gaspi_timeout_t timeout) {
  const double since = began();
  return ended(TALLY_PROC_INIT, since, 0, pgaspi_proc_init(timeout));
}

/* The sums are made before the end, and the table is that of rank 0. */
gaspi_return_t gaspi_proc_term(gaspi_timeout_t timeout) {
  gaspi_rank_t rank = 1;
  unsigned long mine[2 * TALLY_COUNT], all[2 * TALLY_COUNT];
  int i;
  for (i = 0; i < TALLY_COUNT; ++i) {
    mine[2 * i] = table[i].calls;
    mine[2 * i + 1] = table[i].bytes;
  }
  if (pgaspi_allreduce(mine, all, 2 * TALLY_COUNT, GASPI_OP_SUM, GASPI_TYPE_ULONG, GASPI_GROUP_ALL,
                       GASPI_BLOCK) == GASPI_SUCCESS &&
      pgaspi_proc_rank(&rank) == GASPI_SUCCESS && rank == 0) {
    for (i = 0; i < TALLY_COUNT; ++i)
      printf("tally: %-22s %8lu calls %10lu bytes\n", table[i].name, all[2 * i], all[2 * i + 1]);
  }
  return pgaspi_proc_term(timeout);
}

gaspi_return_t gaspi_segment_create(gaspi_segment_id_t segment, gaspi_size_t size,
                                    gaspi_group_t group, gaspi_timeout_t timeout,
                                    gaspi_alloc_t policy) {
  const double since = began();
  return ended(TALLY_SEGMENT_CREATE, since, size,
               pgaspi_segment_create(segment, size, group, timeout, policy));
}
gaspi_return_t gaspi_segment_ptr(gaspi_segment_id_t segment, gaspi_pointer_t* pointer) {
  const double since = began();
  return ended(TALLY_SEGMENT_PTR, since, 0, pgaspi_segment_ptr(segment, pointer));
}

gaspi_return_t gaspi_write(gaspi_segment_id_t local, gaspi_offset_t local_offset, gaspi_rank_t rank,
                           gaspi_segment_id_t remote, gaspi_offset_t remote_offset,
                           gaspi_size_t size, gaspi_queue_id_t queue, gaspi_timeout_t timeout) {
  const double since = began();
  return ended(
      TALLY_WRITE, since, size,
      pgaspi_write(local, local_offset, rank, remote, remote_offset, size, queue, timeout));
}
gaspi_return_t gaspi_read(gaspi_segment_id_t local, gaspi_offset_t local_offset, gaspi_rank_t rank,
                          gaspi_segment_id_t remote, gaspi_offset_t remote_offset,
                          gaspi_size_t size, gaspi_queue_id_t queue, gaspi_timeout_t timeout) {
  const double since = began();
  return ended(TALLY_READ, since, size,
               pgaspi_read(local, local_offset, rank, remote, remote_offset, size, queue, timeout));
}
gaspi_return_t gaspi_notify(gaspi_segment_id_t segment, gaspi_rank_t rank,
                            gaspi_notification_id_t id, gaspi_notification_t value,
                            gaspi_queue_id_t queue, gaspi_timeout_t timeout) {
  const double since = began();
  return ended(TALLY_NOTIFY, since, 0, pgaspi_notify(segment, rank, id, value, queue, timeout));
}
gaspi_return_t gaspi_write_notify(gaspi_segment_id_t local, gaspi_offset_t local_offset,
                                  gaspi_rank_t rank, gaspi_segment_id_t remote,
                                  gaspi_offset_t remote_offset, gaspi_size_t size,
                                  gaspi_notification_id_t id, gaspi_notification_t value,
                                  gaspi_queue_id_t queue, gaspi_timeout_t timeout) {
  const double since = began();
  return ended(TALLY_WRITE_NOTIFY, since, size,
               pgaspi_write_notify(local, local_offset, rank, remote, remote_offset, size, id,
                                   value, queue, timeout));
}
gaspi_return_t gaspi_write_list(gaspi_number_t num, gaspi_segment_id_t* local,
                                gaspi_offset_t* local_offset, gaspi_rank_t rank,
                                gaspi_segment_id_t* remote, gaspi_offset_t* remote_offset,
                                gaspi_size_t* size, gaspi_queue_id_t queue,
                                gaspi_timeout_t timeout) {
  const double since = began();
  unsigned long bytes = 0;
  gaspi_number_t i;
  for (i = 0; i < num; ++i) bytes += size[i];
  return ended(TALLY_WRITE_LIST, since, bytes,
               pgaspi_write_list(num, local, local_offset, rank, remote, remote_offset, size, queue,
                                 timeout));
}
gaspi_return_t gaspi_notify_waitsome(gaspi_segment_id_t segment, gaspi_notification_id_t begin,
                                     gaspi_number_t num, gaspi_notification_id_t* first,
                                     gaspi_timeout_t timeout) {
  const double since = began();
  return ended(TALLY_WAITSOME, since, 0,
               pgaspi_notify_waitsome(segment, begin, num, first, timeout));
}
gaspi_return_t gaspi_notify_reset(gaspi_segment_id_t segment, gaspi_notification_id_t id,
                                  gaspi_notification_t* old) {
  const double since = began();
  return ended(TALLY_RESET, since, 0, pgaspi_notify_reset(segment, id, old));
}
gaspi_return_t gaspi_wait(gaspi_queue_id_t queue, gaspi_timeout_t timeout) {
  const double since = began();
  return ended(TALLY_WAIT, since, 0, pgaspi_wait(queue, timeout));
}

gaspi_return_t gaspi_passive_send(gaspi_segment_id_t local, gaspi_offset_t offset,
                                  gaspi_rank_t rank, gaspi_size_t size, gaspi_timeout_t timeout) {
  const double since = began();
  return ended(TALLY_PASSIVE_SEND, since, size,
               pgaspi_passive_send(local, offset, rank, size, timeout));
}
gaspi_return_t gaspi_passive_receive(gaspi_segment_id_t local, gaspi_offset_t offset,
                                     gaspi_rank_t* rank, gaspi_size_t size,
                                     gaspi_timeout_t timeout) {
  const double since = began();
  return ended(TALLY_PASSIVE_RECEIVE, since, size,
               pgaspi_passive_receive(local, offset, rank, size, timeout));
}
gaspi_return_t gaspi_atomic_fetch_add(gaspi_segment_id_t segment, gaspi_offset_t offset,
                                      gaspi_rank_t rank, gaspi_atomic_value_t add,
                                      gaspi_atomic_value_t* old, gaspi_timeout_t timeout) {
  const double since = began();
  return ended(TALLY_FETCH_ADD, since, 8,
               pgaspi_atomic_fetch_add(segment, offset, rank, add, old, timeout));
}

gaspi_return_t gaspi_barrier(gaspi_group_t group, gaspi_timeout_t timeout) {
  const double since = began();
  return ended(TALLY_BARRIER, since, 0, pgaspi_barrier(group, timeout));
}
gaspi_return_t gaspi_allreduce(gaspi_const_pointer_t send, gaspi_pointer_t receive,
                               gaspi_number_t num, gaspi_operation_t operation,
                               gaspi_datatype_t type, gaspi_group_t group,
                               gaspi_timeout_t timeout) {
  const double since = began();
  return ended(TALLY_ALLREDUCE, since, num,
               pgaspi_allreduce(send, receive, num, operation, type, group, timeout));
}
gaspi_return_t gaspi_allreduce_user(gaspi_const_pointer_t send, gaspi_pointer_t receive,
                                    gaspi_number_t num, gaspi_size_t size,
                                    gaspi_reduce_operation_t operation, gaspi_reduce_state_t state,
                                    gaspi_group_t group, gaspi_timeout_t timeout) {
  const double since = began();
  return ended(TALLY_ALLREDUCE_USER, since, num * size,
               pgaspi_allreduce_user(send, receive, num, size, operation, state, group, timeout));
}

gaspi_return_t gaspi_state_vec_get(gaspi_state_vector_t states) {
  const double since = began();
  return ended(TALLY_STATE_VEC, since, 0, pgaspi_state_vec_get(states));
}
gaspi_return_t gaspi_time_ticks(gaspi_cycles_t* ticks) {
  const double since = began();
  return ended(TALLY_TICKS, since, 0, pgaspi_time_ticks(ticks));
}
gaspi_return_t gaspi_print_error(gaspi_return_t code, gaspi_string_t* message) {
  const double since = began();
  return ended(TALLY_PRINT_ERROR, since, 0, pgaspi_print_error(code, message));
}

#ifdef __cplusplus
}
#endif
