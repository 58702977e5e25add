// Chapter 5: processes, connections, the state vector; and the field's questions about them.
#include <GASPI_Ext.h>

#include <vector>

#include "testing.h"

using namespace spec;

// Catches: a process that is started or configured twice, numbers that are not those of the job.
SPEC_CASE(process, numbers) {
  CHECK_EQ(gaspi_proc_init(GASPI_BLOCK), GASPI_ERR_INITED);
  gaspi_config_t config;
  CHECK_OK(gaspi_config_get(&config));
  CHECK_EQ(gaspi_config_set(config), GASPI_ERR_INITED);
  gaspi_rank_t rank = 999, num = 0, local = 999, locals = 0;
  CHECK_OK(gaspi_proc_rank(&rank));
  CHECK_OK(gaspi_proc_num(&num));
  CHECK_EQ(rank, job().rank);
  CHECK_EQ(num, job().size);
  CHECK_OK(gaspi_proc_local_rank(&local));
  CHECK_OK(gaspi_proc_local_num(&locals));
  CHECK(local < locals && locals <= num);
  gaspi_number_t initialized = 7;
  CHECK_OK(gaspi_initialized(&initialized));
  CHECK_EQ(initialized, 1u);
  CHECK_EQ(gaspi_proc_rank(nullptr), GASPI_ERR_NULLPTR);
}

// Catches: a vector with other entries than one healthy state per rank; either form of the call.
SPEC_CASE(process, state_vector) {
  std::vector<gaspi_state_t> states(job().size, GASPI_STATE_CORRUPT);
  gaspi_state_vector_t vector = states.data();
  CHECK_OK(gaspi_state_vec_get(&vector));
  for (const gaspi_state_t s : states) CHECK_EQ(s, GASPI_STATE_HEALTHY);
  states.assign(job().size, GASPI_STATE_CORRUPT);
  CHECK_OK(gaspi_state_vec_get(vector));
  for (const gaspi_state_t s : states) CHECK_EQ(s, GASPI_STATE_HEALTHY);
  states.assign(job().size, GASPI_STATE_CORRUPT);
  CHECK_OK(gaspi_state_vec_get_array(vector));
  for (const gaspi_state_t s : states) CHECK_EQ(s, GASPI_STATE_HEALTHY);
  gaspi_state_vector_t none = nullptr;
  CHECK_EQ(gaspi_state_vec_get(none), GASPI_ERR_NULLPTR);
}

// Catches: a connection that stays usable after a disconnect by either side, or cannot come back.
SPEC_CASE(process, disconnect, 2) {
  const gaspi_rank_t other = static_cast<gaspi_rank_t>(job().rank ^ 1u);
  const bool pair = other < job().size;
  if (pair) CHECK_OK(gaspi_connect(other, kLong));
  barrier();
  if (pair && job().rank < other) CHECK_OK(gaspi_disconnect(other, kLong));
  if (pair && job().rank < other) CHECK_OK(gaspi_disconnect(other, kLong));  // superfluous
  barrier();
  if (pair) {
    gaspi_segment_id_t id = 0;
    gaspi_offset_t offset = 64;
    gaspi_size_t size = 8;
    CHECK_EQ(gaspi_write(0, 0, other, 0, 64, 8, 0, kLong), GASPI_ERROR);
    CHECK_EQ(gaspi_read(0, 0, other, 0, 64, 8, 0, kLong), GASPI_ERROR);
    CHECK_EQ(gaspi_notify(0, other, 0, 1, 0, kLong), GASPI_ERROR);
    CHECK_EQ(gaspi_write_notify(0, 0, other, 0, 64, 8, 0, 1, 0, kLong), GASPI_ERROR);
    CHECK_EQ(gaspi_read_notify(0, 0, other, 0, 64, 8, 0, 0, kLong), GASPI_ERROR);
    CHECK_EQ(gaspi_write_list(1, &id, &offset, other, &id, &offset, &size, 0, kLong), GASPI_ERROR);
    CHECK_EQ(gaspi_read_list(1, &id, &offset, other, &id, &offset, &size, 0, kLong), GASPI_ERROR);
    gaspi_atomic_value_t old;
    CHECK_EQ(gaspi_atomic_fetch_add(0, 0, other, 1, &old, kLong), GASPI_ERROR);
    CHECK_EQ(gaspi_passive_send(0, 0, other, 8, kLong), GASPI_ERROR);
  }
  barrier();
  if (pair && job().rank > other) CHECK_OK(gaspi_connect(other, kLong));
  barrier();
  if (pair) {
    CHECK_OK(gaspi_write_notify(0, 0, other, 0, 64, 8, 1, 5, 0, kLong));
    CHECK_EQ(take_note(0, 1), 5u);
    CHECK_OK(gaspi_wait(0, kLong));
  }
  CHECK_EQ(gaspi_connect(job().size, kLong), GASPI_ERR_INV_RANK);
  CHECK_EQ(gaspi_disconnect(job().size, kLong), GASPI_ERR_INV_RANK);
  CHECK_EQ(gaspi_proc_kill(job().rank, GASPI_TEST), GASPI_ERR_INV_RANK);
}

// Catches: questions that are lost when a call times out, or answered by nobody.
SPEC_CASE(process, ping) {
  for (gaspi_rank_t r = 0; r < job().size; ++r) {
    gaspi_return_t result;
    do {
      result = gaspi_proc_ping(r, 1);
    } while (result == GASPI_TIMEOUT);
    CHECK_EQ(result, GASPI_SUCCESS);
  }
  CHECK_EQ(gaspi_proc_ping(job().size, 1), GASPI_ERR_INV_RANK);
}

// Catches: a crash or a hang of what prints.
SPEC_CASE(process, printing) {
  gaspi_printf("%s\n", "a line of its own");
  gaspi_printf_to(job().peer(), "a line from rank %u\n", job().rank);
  gaspi_printf_to(job().size, "nobody sees this\n");
  const std::string longer(2000, 'x');
  gaspi_printf("%s\n", longer.c_str());
  CHECK_OK(gaspi_print_affinity_mask());
}

// Catches: sockets that do not exist. The system of a container may say nothing: that is an error
// and no crash.
SPEC_CASE(process, host) {
  gaspi_float mhz = -1;
  if (gaspi_cpu_frequency(&mhz) == GASPI_SUCCESS) CHECK(mhz > 100);
  gaspi_uchar socket = 0;
  if (gaspi_numa_socket(&socket) == GASPI_SUCCESS) CHECK_OK(gaspi_set_socket_affinity(socket));
  CHECK_EQ(gaspi_set_socket_affinity(250), GASPI_ERROR);
}
