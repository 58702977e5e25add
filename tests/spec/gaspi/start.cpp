// Chapters 5.2 and 5.3: configuration before the start, a start and an end in portions, what calls
// answer outside the working phase. A program of its own: a process starts once.
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "survivors.h"

using namespace spec;

namespace {

template <typename... Arguments>
gaspi_return_t with_zeros(gaspi_return_t (*call)(Arguments...)) {
  return call(Arguments{}...);
}

struct Call {
  const char* name;
  gaspi_return_t (*call)();
};
#define CALL(name)                          \
  Call {                                    \
#name, [] { return with_zeros(&name); } \
  }
#define CALL_OF(name, type)                                                        \
  Call {                                                                           \
#name, [] { return with_zeros(static_cast<gaspi_return_t (*)(type)>(&name)); } \
  }

// Every procedure that is of the working phase, with zeros and NULL for arguments.
const Call kOfWork[] = {CALL(gaspi_proc_num),
                        CALL(gaspi_proc_rank),
                        CALL(gaspi_proc_kill),
                        CALL(gaspi_connect),
                        CALL(gaspi_disconnect),
                        CALL(gaspi_state_vec_get_array),
                        CALL(gaspi_group_create),
                        CALL(gaspi_group_add),
                        CALL(gaspi_group_commit),
                        CALL(gaspi_group_delete),
                        CALL(gaspi_group_num),
                        CALL(gaspi_group_size),
                        CALL(gaspi_group_ranks),
                        CALL(gaspi_segment_alloc),
                        CALL(gaspi_segment_register),
                        CALL(gaspi_segment_create),
                        CALL(gaspi_segment_bind),
                        CALL(gaspi_segment_use),
                        CALL(gaspi_segment_delete),
                        CALL(gaspi_segment_num),
                        CALL(gaspi_segment_list),
                        CALL(gaspi_write),
                        CALL(gaspi_read),
                        CALL(gaspi_wait),
                        CALL(gaspi_notify),
                        CALL(gaspi_notify_waitsome),
                        CALL(gaspi_notify_reset),
                        CALL(gaspi_write_notify),
                        CALL(gaspi_write_list),
                        CALL(gaspi_write_list_notify),
                        CALL(gaspi_read_notify),
                        CALL(gaspi_read_list),
                        CALL(gaspi_read_list_notify),
                        CALL(gaspi_queue_create),
                        CALL(gaspi_queue_delete),
                        CALL(gaspi_queue_size),
                        CALL(gaspi_queue_purge),
                        CALL(gaspi_passive_send),
                        CALL(gaspi_passive_receive),
                        CALL(gaspi_passive_queue_purge),
                        CALL(gaspi_atomic_fetch_add),
                        CALL(gaspi_atomic_compare_swap),
                        CALL(gaspi_barrier),
                        CALL(gaspi_allreduce),
                        CALL(gaspi_allreduce_user_counted),
                        CALL(gaspi_proc_ping),
                        CALL(gaspi_proc_local_rank),
                        CALL(gaspi_proc_local_num),
                        CALL(gaspi_proc_incarnation),
                        CALL(gaspi_segment_avail_local),
                        CALL(gaspi_segment_size)};
// Those that answer what is configured.
const Call kOfConfiguration[] = {CALL(gaspi_group_max),
                                 CALL(gaspi_segment_max),
                                 CALL(gaspi_queue_num),
                                 CALL(gaspi_queue_size_max),
                                 CALL(gaspi_queue_max),
                                 CALL(gaspi_transfer_size_max),
                                 CALL(gaspi_notification_num),
                                 CALL(gaspi_passive_transfer_size_max),
                                 CALL(gaspi_atomic_max),
                                 CALL(gaspi_allreduce_buf_size),
                                 CALL(gaspi_allreduce_elem_max),
                                 CALL(gaspi_network_type),
                                 CALL(gaspi_build_infrastructure),
                                 CALL(gaspi_rw_list_elem_max),
                                 CALL(gaspi_transfer_size_min),
                                 CALL(gaspi_passive_transfer_size_min)};
// Those of any phase (13 and 14), and of none.
const Call kOfAnyPhase[] = {CALL(gaspi_config_get),
                            CALL(gaspi_version),
                            CALL(gaspi_time_get),
                            CALL_OF(gaspi_time_ticks, gaspi_time_t*),
                            CALL(gaspi_print_error),
                            CALL(gaspi_error_message),
                            CALL(gaspi_statistic_counter_max),
                            CALL(gaspi_statistic_counter_info),
                            CALL(gaspi_statistic_verbosity_level),
                            CALL(gaspi_statistic_counter_get_long),
                            CALL(gaspi_statistic_counter_reset),
                            CALL(gaspi_pcontrol),
                            CALL_OF(gaspi_initialized, gaspi_number_t*),
                            CALL(gaspi_cpu_frequency),
                            CALL(gaspi_numa_socket),
                            CALL(gaspi_print_affinity_mask)};

// Before the start and after the end: an error, and no crash, whatever the arguments.
void outside_of_work() {
  for (const Call& c : kOfWork) {
    const gaspi_return_t result = c.call();
    if (result != GASPI_ERR_NOINIT) std::fprintf(stderr, "%s answers %d\n", c.name, result);
    EXPECT(result == GASPI_ERR_NOINIT);
  }
  for (const Call& c : kOfConfiguration) {
    const gaspi_return_t result = c.call();
    EXPECT(result != GASPI_TIMEOUT && result != GASPI_QUEUE_FULL);
  }
  for (const Call& c : kOfAnyPhase) {
    const gaspi_return_t result = c.call();
    if (result == GASPI_ERR_NOINIT) std::fprintf(stderr, "%s is refused\n", c.name);
    EXPECT(result != GASPI_ERR_NOINIT && result != GASPI_TIMEOUT && result != GASPI_QUEUE_FULL);
  }
  gaspi_state_t state = GASPI_STATE_HEALTHY;
  gaspi_state_vector_t states = &state;
  EXPECT(gaspi_state_vec_get(&states) == GASPI_ERR_NOINIT);
  EXPECT(gaspi_error_str(GASPI_ERR_NOINIT) != nullptr);
  gaspi_pointer_t pointer = nullptr;
  EXPECT(gaspi_segment_ptr(0, &pointer) == GASPI_ERR_NOINIT && pointer == nullptr);
  gaspi_printf("printed outside\n");
  gaspi_printf_to(0, "printed outside\n");
}

// The counter of barriers, by its name.
gaspi_number_t barriers_counted() {
  gaspi_statistic_counter_t most = 0;
  EXPECT(gaspi_statistic_counter_max(&most) == GASPI_SUCCESS);
  gaspi_number_t value = 99;
  for (gaspi_statistic_counter_t c = 0; c < most; ++c) {
    gaspi_statistic_argument_t argument;
    gaspi_string_t name = nullptr, text = nullptr;
    gaspi_number_t level = 0;
    EXPECT(gaspi_statistic_counter_info(c, &argument, &name, &text, &level) == GASPI_SUCCESS);
    if (std::string(name) != "barriers") continue;
    EXPECT(gaspi_statistic_counter_get(c, argument, &value) == GASPI_SUCCESS);
  }
  return value;
}

// Passive sends that nobody receives, to oneself: as many as the queue was asked to take.
void fill_passive_queue(gaspi_rank_t rank, unsigned places) {
  for (unsigned i = 0; i < places; ++i) {
    EXPECT(gaspi_passive_send(3, i, rank, 8, GASPI_TEST) == GASPI_TIMEOUT);
  }
  EXPECT(gaspi_passive_send(3, places, rank, 8, GASPI_TEST) == GASPI_ERROR);
  EXPECT(gaspi_passive_send(3, 0, rank, 8, GASPI_TEST) == GASPI_TIMEOUT);  // it has its place
  EXPECT(gaspi_passive_queue_purge(GASPI_BLOCK) == GASPI_SUCCESS);
  EXPECT(gaspi_passive_send(3, places, rank, 8, GASPI_TEST) == GASPI_TIMEOUT);
  EXPECT(gaspi_passive_queue_purge(GASPI_BLOCK) == GASPI_SUCCESS);
}

}  // namespace

// Catches: wishes that are lost or not cut, timeouts that start twice, calls that crash before the
// start or after the end.
SPEC_CASE(start, life_of_a_process) {
  gaspi_config_t config;
  EXPECT(gaspi_config_get(&config) == GASPI_SUCCESS);
  EXPECT(config.build_infrastructure == GASPI_TOPOLOGY_STATIC);
  config.group_max = 40;
  config.queue_num = 2;
  config.queue_size_max = 64;
  config.notification_num = 100;
  config.passive_queue_size_max = 3;
  config.allreduce_elem_max = 4000000000u;
  config.allreduce_buf_size = 4096;
  config.rw_list_elem_max = 10;
  config.network = GASPI_ETHERNET;
  config.sn_port = 4711;
  config.logger = config.net_info = config.user_net = config.sn_persistent = 0;
  config.sn_timeout = 10;
  const gaspi_dev_config_t device = {GASPI_IB, nullptr};
  config.dev_config = device;
  config.build_infrastructure = GASPI_TOPOLOGY_NONE;
  int mine = 0;
  config.user_defined = &mine;
  EXPECT(gaspi_config_set(config) == GASPI_SUCCESS);
  gaspi_rank_t rank = 0, num = 0;
  gaspi_number_t number = 9;
  EXPECT(gaspi_proc_rank(&rank) == GASPI_ERR_NOINIT);
  EXPECT(gaspi_write(0, 0, 0, 0, 0, 8, 0, GASPI_BLOCK) == GASPI_ERR_NOINIT);
  EXPECT(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK) == GASPI_ERR_NOINIT);
  EXPECT(gaspi_proc_term(GASPI_BLOCK) == GASPI_ERR_NOINIT);
  EXPECT(gaspi_initialized(&number) == GASPI_SUCCESS && number == 0);
  outside_of_work();
  float version = 0;
  EXPECT(gaspi_version(&version) == GASPI_SUCCESS);
  EXPECT(gaspi_statistic_verbosity_level(1) == GASPI_SUCCESS);  // counts from the start
  EXPECT(barriers_counted() == 0);

  gaspi_return_t result = gaspi_proc_init(GASPI_TEST);
  for (int i = 0; result == GASPI_TIMEOUT && i < 100000; ++i) result = gaspi_proc_init(1);
  EXPECT(result == GASPI_SUCCESS);
  EXPECT(gaspi_proc_rank(&rank) == GASPI_SUCCESS && gaspi_proc_num(&num) == GASPI_SUCCESS);
  EXPECT(gaspi_config_get(&config) == GASPI_SUCCESS && config.user_defined == &mine);
  EXPECT(gaspi_queue_num(&number) == GASPI_SUCCESS && number == 2);
  EXPECT(gaspi_queue_size_max(&number) == GASPI_SUCCESS && number == 64);
  EXPECT(gaspi_notification_num(&number) == GASPI_SUCCESS && number == 100);
  EXPECT(gaspi_allreduce_elem_max(&number) == GASPI_SUCCESS && number < 4000000000u);
  EXPECT(gaspi_group_max(&number) == GASPI_SUCCESS && number == 40);

  // No infrastructure was built: the group of all has to be committed.
  EXPECT(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK) == GASPI_ERR_INV_GROUP);
  do {
    result = gaspi_group_commit(GASPI_GROUP_ALL, 1);
  } while (result == GASPI_TIMEOUT);
  EXPECT(result == GASPI_SUCCESS);
  EXPECT(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK) == GASPI_SUCCESS);
  // gaspi_segment_alloc leaves a segment to the end of the process.
  EXPECT(gaspi_segment_alloc(3, 100, GASPI_ALLOC_DEFAULT) == GASPI_SUCCESS);
  fill_passive_queue(rank, 3);
  if (rank == num - 1) ::usleep(100000);  // the others' end has to wait
  do {
    result = gaspi_proc_term(rank % 2 == 0 ? GASPI_TEST : 3);
  } while (result == GASPI_TIMEOUT);
  EXPECT(result == GASPI_SUCCESS);
  EXPECT(gaspi_proc_rank(&rank) == GASPI_ERR_NOINIT);
  EXPECT(gaspi_proc_term(GASPI_BLOCK) == GASPI_ERR_NOINIT);
  EXPECT(barriers_counted() == 1);
  outside_of_work();
  EXPECT(gaspi_proc_init(GASPI_BLOCK) == GASPI_ERROR);  // once per process
  EXPECT(gaspi_initialized(&number) == GASPI_SUCCESS && number == 0);
}

spec::Registration::Registration(const char*, const char*, void (*)(), unsigned) {}

int main() {
  start_life_of_a_process();
  return failures == 0 ? 0 : 1;
}
