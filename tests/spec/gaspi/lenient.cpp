// Expectations of the field's programs beyond the letter of 17.1: reductions of many elements,
// lists that count their elements in the queue, a reset that asks for no value; and the field's own
// threads. A program of its own, because it configures itself.
#include <GASPI_Threads.h>

#include <atomic>
#include <vector>

#include "testing.h"

using namespace spec;

namespace {

constexpr gaspi_number_t kQueueSize = 64, kMany = 300000;

gaspi_number_t counted(gaspi_queue_id_t queue) {
  gaspi_number_t size = 0;
  CHECK_OK(gaspi_queue_size(queue, &size));
  return size;
}

// Lists of so many elements of 8 bytes each.
struct Lists {
  explicit Lists(gaspi_number_t n) : num(n), ids(n, 0), offsets(n), sizes(n, 8) {
    for (gaspi_number_t i = 0; i < n; ++i) offsets[i] = 8 * i;
  }
  gaspi_return_t write(gaspi_queue_id_t queue) {
    return gaspi_write_list(num, ids.data(), offsets.data(), job().peer(), ids.data(),
                            offsets.data(), sizes.data(), queue, kLong);
  }
  gaspi_return_t write_notify(gaspi_queue_id_t queue) {
    return gaspi_write_list_notify(num, ids.data(), offsets.data(), job().peer(), ids.data(),
                                   offsets.data(), sizes.data(), 0, 5, 1, queue, kLong);
  }
  gaspi_return_t read(gaspi_queue_id_t queue) {
    return gaspi_read_list(num, ids.data(), offsets.data(), job().peer(), ids.data(),
                           offsets.data(), sizes.data(), queue, kLong);
  }
  gaspi_return_t read_notify(gaspi_queue_id_t queue) {
    return gaspi_read_list_notify(num, ids.data(), offsets.data(), job().peer(), ids.data(),
                                  offsets.data(), sizes.data(), 0, 6, queue, kLong);
  }
  gaspi_number_t num;
  std::vector<gaspi_segment_id_t> ids;
  std::vector<gaspi_offset_t> offsets;
  std::vector<gaspi_size_t> sizes;
};

std::atomic<int> g_seen{0}, g_wrong{0};

void* of_a_thread(void* argument) {
  gaspi_int tid = -1, again = -1;
  if (argument != &g_seen) ++g_wrong;
  if (gaspi_threads_get_tid(&tid) != GASPI_ERROR) ++g_wrong;
  if (gaspi_threads_register(&tid) != GASPI_SUCCESS) ++g_wrong;
  if (gaspi_threads_get_tid(&again) != GASPI_SUCCESS || again != tid) ++g_wrong;
  g_seen |= 1 << tid;
  gaspi_threads_sync();
  if (g_seen != 7) ++g_wrong;  // all three have been here
  if (gaspi_threads_sync_all(GASPI_GROUP_ALL, kLong) != GASPI_SUCCESS) ++g_wrong;
  return nullptr;
}

}  // namespace

// Catches: a reduction that is cut, or refused, at 2^17 elements.
SPEC_CASE(lenient, reductions_of_many_elements) {
  gaspi_number_t most = 0;
  CHECK_OK(gaspi_allreduce_elem_max(&most));
  CHECK_EQ(most, kMany);
  std::vector<double> mine(kMany), sum(kMany, -1);
  for (gaspi_number_t i = 0; i < kMany; ++i) mine[i] = i + job().rank;
  CHECK_OK(gaspi_allreduce(mine.data(), sum.data(), kMany, GASPI_OP_SUM, GASPI_TYPE_DOUBLE,
                           GASPI_GROUP_ALL, kLong));
  const double n = job().size;
  for (const gaspi_number_t i : {0u, 1u << 17, kMany - 1})
    CHECK_EQ(sum[i], n * i + n * (n - 1) / 2);
}

// Catches: a list that counts as one request, that is posted in part, or that can never be posted
// because it is longer than the queue.
SPEC_CASE(lenient, lists_count_their_elements) {
  constexpr gaspi_queue_id_t kQueue = 2;
  CHECK_OK(gaspi_wait(kQueue, kLong));
  Lists five(5), sixty(60), hundred(100);
  CHECK_OK(five.write(kQueue));
  CHECK_EQ(counted(kQueue), 5u);
  CHECK_OK(five.write_notify(kQueue));
  CHECK_OK(five.read(kQueue));
  CHECK_OK(five.read_notify(kQueue));
  CHECK_EQ(counted(kQueue), 20u);
  CHECK_EQ(sixty.write(kQueue), GASPI_QUEUE_FULL);
  CHECK_EQ(counted(kQueue), 20u);
  CHECK_OK(gaspi_write(0, 0, job().peer(), 0, 0, 8, kQueue, kLong));
  CHECK_EQ(counted(kQueue), 21u);
  CHECK_OK(gaspi_wait(kQueue, kLong));
  CHECK_OK(hundred.write(kQueue));
  CHECK_EQ(counted(kQueue), kQueueSize);
  CHECK_EQ(gaspi_notify(0, job().peer(), 7, 1, kQueue, kLong), GASPI_QUEUE_FULL);
  CHECK_OK(gaspi_wait(kQueue, kLong));
  CHECK(take_note(0, 5) == 1);
  CHECK(take_note(0, 6) == 1);
}

// Catches: a NULL that is refused, or written to; a notification that stays.
SPEC_CASE(lenient, reset_without_value) {
  gaspi_notification_id_t first = 0;
  gaspi_notification_t old = 9;
  CHECK_OK(gaspi_notify(0, job().peer(), 3, 4, 0, kLong));
  CHECK_OK(gaspi_notify_waitsome(0, 3, 1, &first, kLong));
  CHECK_OK(gaspi_notify_reset(0, 3, nullptr));
  CHECK_OK(gaspi_notify_reset(0, 3, &old));
  CHECK_EQ(old, 0u);
  CHECK_OK(gaspi_wait(0, kLong));
}

// Catches: threads that share a number, that pass a synchronization alone, or are not waited for.
SPEC_CASE(lenient, threads_of_the_field) {
  gaspi_int value = -1;
  CHECK_EQ(gaspi_threads_register(&value), GASPI_ERROR);
  CHECK_EQ(gaspi_threads_run(of_a_thread, nullptr), GASPI_ERROR);
  CHECK_EQ(gaspi_threads_term(), GASPI_ERROR);
  CHECK_OK(gaspi_threads_get_num_cores(&value));
  CHECK(value >= 1);
  const gaspi_int cores = value;
  CHECK_OK(gaspi_threads_init(&value));
  CHECK_EQ(value, cores);
  CHECK_OK(gaspi_threads_term());
  for (int turn = 0; turn < 3; ++turn) {  // threads are numbered anew
    g_seen = 0;
    CHECK_OK(gaspi_threads_init_user(3));
    CHECK_EQ(gaspi_threads_init_user(2), GASPI_ERROR);
    CHECK_OK(gaspi_threads_get_total(&value));
    CHECK_EQ(value, 3);
    CHECK_OK(gaspi_threads_run(of_a_thread, &g_seen));
    CHECK_OK(gaspi_threads_run(of_a_thread, &g_seen));
    of_a_thread(&g_seen);  // as programs do: the first thread works too
    CHECK_EQ(gaspi_threads_get_tid(&value), GASPI_SUCCESS);
    CHECK_OK(gaspi_threads_term());
    CHECK_EQ(g_seen.load(), 7);
  }
  CHECK_EQ(g_wrong.load(), 0);
  gaspi_delay();
}

// Catches: a text of Fortran's that is taken for a format.
SPEC_CASE(lenient, texts_are_no_formats) {
  if (job().rank == 0) gaspi_print_text("100%s\n");
}

int main(int argc, char** argv) {
  gaspi_config_t config;
  if (gaspi_config_get(&config) != GASPI_SUCCESS) return 1;
  config.allreduce_elem_max = kMany;
  config.queue_size_max = kQueueSize;
  if (gaspi_config_set(config) != GASPI_SUCCESS) return 1;
  if (gaspi_proc_init(GASPI_BLOCK) != GASPI_SUCCESS) return 1;
  return run_cases_of_started(argc, argv);
}
