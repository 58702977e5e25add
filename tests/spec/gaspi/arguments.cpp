// Arguments that cannot be: each is refused under its own name, nothing crashes, and nothing has
// happened afterwards. transfer.mistakes has those of one-sided calls with right pointers.
#include <climits>

#include "testing.h"

using namespace spec;

namespace {

constexpr gaspi_segment_id_t kNoSegment = 77;
constexpr gaspi_group_t kNoGroup = 201;
constexpr gaspi_queue_id_t kNoQueue = 201;
constexpr gaspi_size_t kHuge[] = {ULONG_MAX, ULONG_MAX - 63, 1ul << 63, (1ul << 63) - 1};

gaspi_return_t sum(gaspi_const_pointer_t, gaspi_const_pointer_t, gaspi_pointer_t,
                   gaspi_reduce_state_t, gaspi_timeout_t) {
  return GASPI_SUCCESS;
}
gaspi_return_t sum_of_all(gaspi_const_pointer_t, gaspi_const_pointer_t, gaspi_pointer_t,
                          gaspi_reduce_state_t, gaspi_number_t, gaspi_size_t, gaspi_timeout_t) {
  return GASPI_SUCCESS;
}

gaspi_number_t segments() {
  gaspi_number_t count = 0;
  CHECK_OK(gaspi_segment_num(&count));
  return count;
}

}  // namespace

// Catches: an answer that is written through a NULL pointer.
SPEC_CASE(arguments, null) {
  const gaspi_rank_t me = job().rank;
  CHECK_EQ(gaspi_config_get(nullptr), GASPI_ERR_NULLPTR);
  CHECK_EQ(gaspi_proc_num(nullptr), GASPI_ERR_NULLPTR);
  CHECK_EQ(gaspi_state_vec_get_array(nullptr), GASPI_ERR_NULLPTR);
  CHECK_EQ(gaspi_group_create(nullptr), GASPI_ERR_NULLPTR);
  CHECK_EQ(gaspi_group_num(nullptr), GASPI_ERR_NULLPTR);
  CHECK_EQ(gaspi_group_size(GASPI_GROUP_ALL, nullptr), GASPI_ERR_NULLPTR);
  CHECK_EQ(gaspi_group_ranks(GASPI_GROUP_ALL, nullptr), GASPI_ERR_NULLPTR);
  CHECK_EQ(gaspi_segment_num(nullptr), GASPI_ERR_NULLPTR);
  CHECK_EQ(gaspi_segment_list(1, nullptr), GASPI_ERR_NULLPTR);
  CHECK_EQ(gaspi_segment_ptr(0, static_cast<gaspi_pointer_t*>(nullptr)), GASPI_ERR_NULLPTR);
  CHECK_EQ(gaspi_segment_size(0, me, nullptr), GASPI_ERR_NULLPTR);
  CHECK_EQ(gaspi_segment_avail_local(nullptr), GASPI_ERR_NULLPTR);
  CHECK_EQ(gaspi_segment_bind(kNoSegment, nullptr, 64, 0), GASPI_ERR_NULLPTR);
  CHECK_EQ(gaspi_segment_use(kNoSegment, nullptr, 64, GASPI_GROUP_ALL, kLong, 0),
           GASPI_ERR_NULLPTR);
  CHECK_EQ(gaspi_notify_waitsome(0, 0, 1, nullptr, GASPI_TEST), GASPI_ERR_NULLPTR);
  CHECK_EQ(gaspi_queue_create(nullptr, kLong), GASPI_ERR_NULLPTR);
  CHECK_EQ(gaspi_queue_size(0, nullptr), GASPI_ERR_NULLPTR);
  CHECK_EQ(gaspi_queue_num(nullptr), GASPI_ERR_NULLPTR);
  CHECK_EQ(gaspi_passive_receive(0, 0, nullptr, 8, GASPI_TEST), GASPI_ERR_NULLPTR);
  CHECK_EQ(gaspi_atomic_fetch_add(0, 0, me, 1, nullptr, kLong), GASPI_ERR_NULLPTR);
  CHECK_EQ(gaspi_atomic_compare_swap(0, 0, me, 0, 1, nullptr, kLong), GASPI_ERR_NULLPTR);
  CHECK_EQ(gaspi_version(nullptr), GASPI_ERR_NULLPTR);
  CHECK_EQ(gaspi_time_get(nullptr), GASPI_ERR_NULLPTR);
  CHECK_EQ(gaspi_time_ticks_cycles(nullptr), GASPI_ERR_NULLPTR);
  CHECK_EQ(gaspi_print_error(GASPI_SUCCESS, nullptr), GASPI_ERR_NULLPTR);
  CHECK_EQ(gaspi_statistic_counter_max(nullptr), GASPI_ERR_NULLPTR);
  CHECK_EQ(gaspi_statistic_counter_get_long(0, GASPI_STATISTIC_ARGUMENT_NONE, nullptr),
           GASPI_ERR_NULLPTR);
  gaspi_number_t level = 0;
  CHECK_EQ(gaspi_statistic_counter_info(0, nullptr, nullptr, nullptr, &level), GASPI_ERR_NULLPTR);
  CHECK_EQ(gaspi_cpu_frequency(nullptr), GASPI_ERR_NULLPTR);
  CHECK_EQ(gaspi_numa_socket(nullptr), GASPI_ERR_NULLPTR);
  CHECK(gaspi_error_str(static_cast<gaspi_return_t>(12345)) != nullptr);
}

// Catches: sums that overflow, so that a segment is said to be larger than its memory.
SPEC_CASE(arguments, segments) {
  const gaspi_number_t before = segments();
  alignas(8) static char memory[64];
  CHECK_EQ(gaspi_segment_alloc(kNoSegment, 0, GASPI_ALLOC_DEFAULT), GASPI_ERR_INV_SEGSIZE);
  CHECK_EQ(gaspi_segment_bind(kNoSegment, memory, 0, 0), GASPI_ERR_INV_SEGSIZE);
  for (const gaspi_size_t huge : kHuge) {
    CHECK_EQ(gaspi_segment_alloc(kNoSegment, huge, GASPI_MEM_INITIALIZED), GASPI_ERR_INV_SEGSIZE);
    CHECK_EQ(gaspi_segment_create(kNoSegment, huge, GASPI_GROUP_ALL, kLong, GASPI_ALLOC_DEFAULT),
             GASPI_ERR_INV_SEGSIZE);
    CHECK_EQ(gaspi_segment_bind(kNoSegment, memory, huge, 0), GASPI_ERR_INV_SEGSIZE);
    CHECK_EQ(gaspi_segment_use(kNoSegment, memory, huge, GASPI_GROUP_ALL, kLong, 0),
             GASPI_ERR_INV_SEGSIZE);
  }
  CHECK_EQ(gaspi_segment_alloc(0, 64, GASPI_ALLOC_DEFAULT), GASPI_ERR_INV_SEG);
  CHECK_EQ(gaspi_segment_bind(0, memory, 64, 0), GASPI_ERR_INV_SEG);
  CHECK_EQ(gaspi_segment_bind(kNoSegment, memory, 64, 12345), GASPI_ERR_DEVICE);
  CHECK_EQ(gaspi_segment_create(kNoSegment, 64, kNoGroup, kLong, GASPI_ALLOC_DEFAULT),
           GASPI_ERR_INV_GROUP);
  CHECK_EQ(gaspi_segment_register(kNoSegment, job().rank, kLong), GASPI_ERR_INV_SEG);
  CHECK_EQ(gaspi_segment_register(0, job().size, kLong), GASPI_ERR_INV_RANK);
  CHECK_EQ(gaspi_segment_delete(kNoSegment), GASPI_ERR_INV_SEG);
  gaspi_segment_id_t list[300];
  CHECK_EQ(gaspi_segment_list(before + 1, list), GASPI_ERR_INV_NUM);
  gaspi_pointer_t base = nullptr;
  CHECK_EQ(gaspi_segment_ptr(kNoSegment, &base), GASPI_ERR_INV_SEG);
  gaspi_size_t size = 0;
  CHECK_EQ(gaspi_segment_size(0, job().size, &size), GASPI_ERR_INV_RANK);
  CHECK_EQ(gaspi_segment_size(kNoSegment, job().rank, &size), GASPI_ERR_INV_SEG);
  CHECK_EQ(segments(), before);
  // The id is still free.
  CHECK_OK(gaspi_segment_alloc(kNoSegment, 64, GASPI_ALLOC_DEFAULT));
  CHECK_OK(gaspi_segment_delete(kNoSegment));
}

// Catches: groups and collectives that read or write behind what they were given.
SPEC_CASE(arguments, collectives) {
  gaspi_config_t c;
  CHECK_OK(gaspi_config_get(&c));
  gaspi_number_t before = 0, after = 0;
  CHECK_OK(gaspi_group_num(&before));
  double in[2] = {1, 2}, out[2] = {7, 7};
  const auto refused = [&](gaspi_return_t result, gaspi_return_t expected) {
    CHECK_EQ(result, expected);
    CHECK(out[0] == 7 && out[1] == 7);
  };
  for (const gaspi_group_t group : {kNoGroup, gaspi_group_t{255}}) {
    refused(gaspi_barrier(group, kLong), GASPI_ERR_INV_GROUP);
    refused(gaspi_group_add(group, 0), GASPI_ERR_INV_GROUP);
    refused(gaspi_group_commit(group, kLong), GASPI_ERR_INV_GROUP);
    refused(gaspi_group_delete(group), GASPI_ERR_INV_GROUP);
    gaspi_number_t size = 0;
    gaspi_rank_t ranks[1];
    refused(gaspi_group_size(group, &size), GASPI_ERR_INV_GROUP);
    refused(gaspi_group_ranks(group, ranks), GASPI_ERR_INV_GROUP);
    refused(gaspi_allreduce(in, out, 1, GASPI_OP_SUM, GASPI_TYPE_DOUBLE, group, kLong),
            GASPI_ERR_INV_GROUP);
  }
  refused(gaspi_group_delete(GASPI_GROUP_ALL), GASPI_ERR_INV_GROUP);
  for (const gaspi_number_t num : {0u, c.allreduce_elem_max + 1, UINT_MAX}) {
    refused(gaspi_allreduce(in, out, num, GASPI_OP_SUM, GASPI_TYPE_DOUBLE, GASPI_GROUP_ALL, kLong),
            GASPI_ERR_INV_NUM);
    refused(gaspi_allreduce_user(in, out, num, 8, sum, nullptr, GASPI_GROUP_ALL, kLong),
            num == 0 ? GASPI_ERR_INV_NUM : GASPI_ERR_INV_SIZE);
  }
  refused(gaspi_allreduce(nullptr, out, 1, GASPI_OP_SUM, GASPI_TYPE_DOUBLE, GASPI_GROUP_ALL, kLong),
          GASPI_ERR_NULLPTR);
  refused(gaspi_allreduce(in, nullptr, 1, GASPI_OP_SUM, GASPI_TYPE_DOUBLE, GASPI_GROUP_ALL, kLong),
          GASPI_ERR_NULLPTR);
  refused(gaspi_allreduce(in, out, 1, static_cast<gaspi_operation_t>(3), GASPI_TYPE_DOUBLE,
                          GASPI_GROUP_ALL, kLong),
          GASPI_ERROR);
  refused(gaspi_allreduce(in, out, 1, GASPI_OP_SUM, static_cast<gaspi_datatype_t>(6),
                          GASPI_GROUP_ALL, kLong),
          GASPI_ERROR);
  // Products that overflow to something small.
  for (const gaspi_size_t size :
       {0ul, c.allreduce_buf_size, 1ul << 63, (1ul << 63) + 1, ULONG_MAX}) {
    refused(gaspi_allreduce_user(in, out, 2, size, sum, nullptr, GASPI_GROUP_ALL, kLong),
            GASPI_ERR_INV_SIZE);
    refused(
        gaspi_allreduce_user_counted(in, out, 2, size, sum_of_all, nullptr, GASPI_GROUP_ALL, kLong),
        GASPI_ERR_INV_SIZE);
  }
  refused(gaspi_allreduce_user_counted(in, out, 1, 8, nullptr, nullptr, GASPI_GROUP_ALL, kLong),
          GASPI_ERR_NULLPTR);
  CHECK_OK(gaspi_group_num(&after));
  CHECK_EQ(after, before);
}

// Catches: ranges whose end overflows, lists with holes, queues beyond the last one.
SPEC_CASE(arguments, transfers) {
  const gaspi_rank_t other = job().peer();
  gaspi_config_t c;
  CHECK_OK(gaspi_config_get(&c));
  CHECK_EQ(gaspi_wait(kNoQueue, GASPI_TEST), GASPI_ERR_INV_QUEUE);
  CHECK_EQ(gaspi_queue_delete(kNoQueue), GASPI_ERR_INV_QUEUE);
  CHECK_EQ(gaspi_queue_purge(kNoQueue, GASPI_TEST), GASPI_ERR_INV_QUEUE);
  gaspi_number_t n = 0;
  CHECK_EQ(gaspi_queue_size(kNoQueue, &n), GASPI_ERR_INV_QUEUE);
  gaspi_notification_id_t first = 5;
  gaspi_notification_t old = 5;
  CHECK_EQ(gaspi_notify_waitsome(kNoSegment, 0, 1, &first, GASPI_TEST), GASPI_ERR_INV_SEG);
  CHECK_EQ(gaspi_notify_waitsome(0, 1, UINT_MAX, &first, GASPI_TEST), GASPI_ERR_INV_NOTIF_ID);
  CHECK_EQ(gaspi_notify_waitsome(0, UINT_MAX, 1, &first, GASPI_TEST), GASPI_ERR_INV_NOTIF_ID);
  CHECK_EQ(gaspi_notify_waitsome(0, c.notification_num, 1, &first, GASPI_TEST),
           GASPI_ERR_INV_NOTIF_ID);
  CHECK_OK(gaspi_notify_waitsome(0, 0, 0, &first, GASPI_TEST));  // 8.3.3: at once
  CHECK_EQ(first, 5u);
  CHECK_EQ(gaspi_notify_reset(0, c.notification_num, &old), GASPI_ERR_INV_NOTIF_ID);
  CHECK_EQ(gaspi_notify_reset(kNoSegment, 0, &old), GASPI_ERR_INV_SEG);
  CHECK_EQ(old, 5u);

  gaspi_segment_id_t local[2] = {0, 0}, remote[2] = {1, 1};
  gaspi_offset_t local_offset[2] = {0, 64}, remote_offset[2] = {0, 64};
  gaspi_size_t size[2] = {8, 8};
  const auto write = [&](gaspi_number_t num, gaspi_size_t* sizes = nullptr) {
    return gaspi_write_list(num, local, local_offset, other, remote, remote_offset,
                            sizes != nullptr ? sizes : size, 0, kLong);
  };
  *at<uint64_t>(0) = 42;
  barrier();
  CHECK_EQ(write(0), GASPI_ERR_INV_NUM);
  CHECK_EQ(write(c.rw_list_elem_max + 1), GASPI_ERR_INV_NUM);
  CHECK_EQ(gaspi_write_list(2, nullptr, local_offset, other, remote, remote_offset, size, 0, kLong),
           GASPI_ERR_NULLPTR);
  CHECK_EQ(gaspi_read_list(2, local, local_offset, other, remote, nullptr, size, 0, kLong),
           GASPI_ERR_NULLPTR);
  // A later element is wrong: the earlier ones are not written.
  gaspi_size_t wrong_size[2] = {8, ULONG_MAX};
  CHECK_EQ(write(2, wrong_size), GASPI_ERR_INV_COMMSIZE);
  wrong_size[1] = kBytes;
  CHECK_EQ(write(2, wrong_size), GASPI_ERR_INV_LOC_OFF);
  remote_offset[1] = ULONG_MAX - 7;
  CHECK_EQ(write(2), GASPI_ERR_INV_REM_OFF);
  CHECK_EQ(gaspi_write_list_notify(1, local, local_offset, other, remote, remote_offset, size, 1, 0,
                                   0, 0, kLong),
           GASPI_ERR_INV_NOTIF_VAL);
  CHECK_EQ(gaspi_read_list_notify(1, local, local_offset, other, remote, remote_offset, size,
                                  kNoSegment, 0, 0, kLong),
           GASPI_ERR_INV_SEG);
  CHECK_OK(gaspi_queue_size(0, &n));
  CHECK_EQ(n, 0u);
  barrier();
  CHECK_EQ(*reinterpret_cast<uint64_t*>(memory1()), 0u);
}

// Catches: an atomic or a passive message at an address that is not the segment's.
SPEC_CASE(arguments, passive_and_atomics) {
  const gaspi_rank_t other = job().peer();
  gaspi_size_t most = 0;
  CHECK_OK(gaspi_passive_transfer_size_max(&most));
  gaspi_rank_t sender = 9999;
  for (const gaspi_size_t size : {0ul, most + 1, ULONG_MAX}) {
    CHECK_EQ(gaspi_passive_send(0, 0, other, size, kLong), GASPI_ERR_INV_COMMSIZE);
    CHECK_EQ(gaspi_passive_receive(0, 0, &sender, size, GASPI_TEST), GASPI_ERR_INV_COMMSIZE);
  }
  for (const gaspi_offset_t offset : {kBytes - 7, kBytes, ULONG_MAX - 3}) {
    CHECK_EQ(gaspi_passive_send(0, offset, other, 8, kLong), GASPI_ERR_INV_LOC_OFF);
    CHECK_EQ(gaspi_passive_receive(0, offset, &sender, 8, GASPI_TEST), GASPI_ERR_INV_LOC_OFF);
  }
  CHECK_EQ(gaspi_passive_send(kNoSegment, 0, other, 8, kLong), GASPI_ERR_INV_SEG);
  CHECK_EQ(gaspi_passive_send(0, 0, job().size, 8, kLong), GASPI_ERR_INV_RANK);
  CHECK_EQ(gaspi_passive_receive(kNoSegment, 0, &sender, 8, GASPI_TEST), GASPI_ERR_INV_SEG);
  CHECK_EQ(sender, 9999u);

  gaspi_atomic_value_t old = 5;
  for (const gaspi_offset_t offset : {kBytes - 7, kBytes, ULONG_MAX - 6}) {
    CHECK_EQ(gaspi_atomic_fetch_add(0, offset, other, 1, &old, kLong), GASPI_ERR_INV_REM_OFF);
  }
  for (const gaspi_offset_t offset : {1ul, 4ul, kBytes - 12}) {
    CHECK_EQ(gaspi_atomic_compare_swap(0, offset, other, 0, 1, &old, kLong), GASPI_ERR_UNALIGN_OFF);
  }
  CHECK_EQ(gaspi_atomic_fetch_add(kNoSegment, 0, other, 1, &old, kLong), GASPI_ERR_INV_SEG);
  CHECK_EQ(gaspi_atomic_fetch_add(0, 0, job().size, 1, &old, kLong), GASPI_ERR_INV_RANK);
  CHECK_EQ(old, 5u);
  barrier();
  CHECK_EQ(*at<uint64_t>(0), 0u);
}

// Catches: counters beyond the last one, arguments that are no rank.
SPEC_CASE(arguments, statistics) {
  gaspi_statistic_counter_t most = 0;
  CHECK_OK(gaspi_statistic_counter_max(&most));
  gaspi_statistic_argument_t argument = GASPI_STATISTIC_ARGUMENT_NONE;
  gaspi_string_t name = nullptr, text = nullptr;
  gaspi_number_t level = 0, value = 5;
  for (const gaspi_statistic_counter_t counter : {most, UINT_MAX}) {
    CHECK_EQ(gaspi_statistic_counter_info(counter, &argument, &name, &text, &level), GASPI_ERROR);
    CHECK_EQ(gaspi_statistic_counter_get(counter, argument, &value), GASPI_ERROR);
    CHECK_EQ(gaspi_statistic_counter_reset(counter), GASPI_ERROR);
  }
  for (gaspi_statistic_counter_t counter = 0; counter < most; ++counter) {
    CHECK_OK(gaspi_statistic_counter_info(counter, &argument, &name, &text, &level));
    if (argument != GASPI_STATISTIC_ARGUMENT_RANK) continue;
    const auto nobody = static_cast<gaspi_statistic_argument_t>(job().size);
    CHECK_EQ(gaspi_statistic_counter_get(counter, nobody, &value), GASPI_ERR_INV_RANK);
  }
  CHECK_EQ(value, 5u);
}
