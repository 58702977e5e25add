// Chapters 12 to 14: getters, environment, statistics; and the constants that programs compare.
#include <PGASPI.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <thread>

#include "testing.h"

using namespace spec;

// Catches: limits below what the field relies on, or that are not those of the configuration.
SPEC_CASE(info, getters) {
  gaspi_config_t c;
  CHECK_OK(gaspi_config_get(&c));
  gaspi_number_t n = 0;
  gaspi_size_t s = 0;
  CHECK_OK(gaspi_group_max(&n));
  CHECK(n >= 32 && n == c.group_max);
  CHECK_OK(gaspi_segment_max(&n));
  CHECK(n >= 255 && n == c.segment_max);
  CHECK_OK(gaspi_queue_num(&n));
  CHECK(n >= 8 && n == c.queue_num);
  CHECK_OK(gaspi_queue_max(&n));
  CHECK(n >= 16);
  CHECK_OK(gaspi_queue_size_max(&n));
  CHECK(n >= 1024 && n == c.queue_size_max);
  CHECK_OK(gaspi_notification_num(&n));
  CHECK(n >= 65536 && n == c.notification_num);
  CHECK_OK(gaspi_transfer_size_max(&s));
  CHECK(s >= (1ul << 30) && s == c.transfer_size_max);
  CHECK_OK(gaspi_transfer_size_min(&s));
  CHECK_EQ(s, 0u);
  CHECK_OK(gaspi_passive_transfer_size_max(&s));
  CHECK(s >= 65535 && s == c.passive_transfer_size_max);
  CHECK_OK(gaspi_passive_transfer_size_min(&s));
  CHECK_EQ(s, 1u);
  CHECK(c.passive_queue_size_max >= 1024);
  CHECK_OK(gaspi_rw_list_elem_max(&n));
  CHECK(n >= 255 && n == c.rw_list_elem_max);
  CHECK_OK(gaspi_build_infrastructure(&n));
  CHECK_EQ(n, c.build_infrastructure);
  gaspi_network_t network;
  CHECK_OK(gaspi_network_type(&network));
  CHECK(network == GASPI_IB || network == GASPI_ROCE || network == GASPI_ETHERNET ||
        network == GASPI_OFI);
  CHECK_EQ(gaspi_group_max(nullptr), GASPI_ERR_NULLPTR);
}

// Catches: a wish that is answered as if it had been granted. SPEC_NETWORK: what the configuration
// of the job chooses.
SPEC_CASE(info, network) {
  gaspi_config_t c;
  CHECK_OK(gaspi_config_get(&c));
  gaspi_network_t network;
  CHECK_OK(gaspi_network_type(&network));
  CHECK_EQ(network, c.network);
  const char* const chosen = std::getenv("SPEC_NETWORK");
  if (chosen == nullptr) return skip_case("SPEC_NETWORK does not say what is chosen");
  CHECK_EQ(static_cast<int>(network), job().size == 1 ? GASPI_ETHERNET : std::atoi(chosen));
}

// Catches: a clock that stands still, goes back, or counts in another unit.
SPEC_CASE(info, time) {
  float version = 0;
  CHECK_OK(gaspi_version(&version));
  CHECK(std::fabs(version - 17.1f) < 0.01f);
  CHECK_EQ(static_cast<int>(version), GASPI_MAJOR_VERSION);
  CHECK_EQ(GASPI_MINOR_VERSION, 1);
  gaspi_time_t before = 0, after = 0, resolution = 0;
  CHECK_OK(gaspi_time_get(&before));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK_OK(gaspi_time_get(&after));
  CHECK(after - before >= 19.9 && after - before < 30000);
  CHECK_OK(gaspi_time_ticks(&resolution));
  CHECK(resolution > 0 && resolution < 1);
  gaspi_cycles_t one = 0, two = 0;
  CHECK_OK(gaspi_time_ticks(&one));
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  CHECK_OK(gaspi_time_ticks(&two));
  CHECK(two > one);
  CHECK_OK(gaspi_time_ticks_cycles(&one));
  CHECK(one > two);
}

// Catches: a code without a text, two codes with one, numbers that programs in the field compare
// and that are others.
SPEC_CASE(info, errors) {
  std::set<std::string> texts;
  for (int code = -1; code <= 28; ++code) {
    gaspi_string_t text = nullptr;
    CHECK_OK(gaspi_print_error(static_cast<gaspi_return_t>(code), &text));
    CHECK(texts.insert(text).second);
    CHECK_EQ(std::string(gaspi_error_str(static_cast<gaspi_return_t>(code))), std::string(text));
    CHECK_OK(gaspi_error_message(static_cast<gaspi_return_t>(code), &text));
  }
  gaspi_string_t text = nullptr;
  CHECK_OK(gaspi_print_error(static_cast<gaspi_return_t>(99), &text));  // clients assert it
  CHECK_EQ(std::string(text), std::string("unknown error"));
  constexpr int kCodes[] = {GASPI_ERROR,
                            GASPI_SUCCESS,
                            GASPI_TIMEOUT,
                            GASPI_ERR_EMFILE,
                            GASPI_ERR_ENV,
                            GASPI_ERR_SN_PORT,
                            GASPI_ERR_CONFIG,
                            GASPI_ERR_NOINIT,
                            GASPI_ERR_INITED,
                            GASPI_ERR_NULLPTR,
                            GASPI_ERR_INV_SEGSIZE,
                            GASPI_ERR_INV_SEG,
                            GASPI_ERR_INV_GROUP,
                            GASPI_ERR_INV_RANK,
                            GASPI_ERR_INV_QUEUE,
                            GASPI_ERR_INV_LOC_OFF,
                            GASPI_ERR_INV_REM_OFF,
                            GASPI_ERR_INV_COMMSIZE,
                            GASPI_ERR_INV_NOTIF_VAL,
                            GASPI_ERR_INV_NOTIF_ID,
                            GASPI_ERR_INV_NUM,
                            GASPI_ERR_INV_SIZE,
                            GASPI_ERR_MANY_SEG,
                            GASPI_ERR_MANY_GRP,
                            GASPI_QUEUE_FULL,
                            GASPI_ERR_UNALIGN_OFF,
                            GASPI_ERR_ACTIVE_COLL,
                            GASPI_ERR_DEVICE,
                            GASPI_ERR_SN,
                            GASPI_ERR_MEMALLOC};
  for (int i = 0; i < 30; ++i) CHECK_EQ(kCodes[i], i - 1);
  static_assert(GASPI_OP_MIN == 0 && GASPI_OP_MAX == 1 && GASPI_OP_SUM == 2);
  static_assert(GASPI_TYPE_INT == 0 && GASPI_TYPE_UINT == 1 && GASPI_TYPE_FLOAT == 2 &&
                GASPI_TYPE_DOUBLE == 3 && GASPI_TYPE_LONG == 4 && GASPI_TYPE_ULONG == 5);
  static_assert(GASPI_TOPOLOGY_NONE == 0 && GASPI_TOPOLOGY_STATIC == 1 &&
                GASPI_TOPOLOGY_DYNAMIC == 2);
  static_assert(GASPI_TEST == 0 && GASPI_BLOCK == ~0ul);
}

// Catches: types that do not hold what programs put there.
SPEC_CASE(info, types) {
  static_assert(sizeof(gaspi_rank_t) >= 2 && sizeof(gaspi_group_t) >= 1);
  static_assert(sizeof(gaspi_queue_id_t) >= 1 && sizeof(gaspi_segment_id_t) >= 1);
  static_assert(sizeof(gaspi_number_t) >= 4 && sizeof(gaspi_notification_id_t) >= 4);
  static_assert(sizeof(gaspi_notification_t) >= 4 && sizeof(gaspi_statistic_counter_t) >= 4);
  static_assert(sizeof(gaspi_size_t) == 8 && sizeof(gaspi_offset_t) == 8);
  static_assert(sizeof(gaspi_atomic_value_t) == 8 && sizeof(gaspi_timeout_t) == 8);
  static_assert(sizeof(gaspi_cycles_t) == 8 && sizeof(gaspi_alloc_t) == 8);
  static_assert(std::is_floating_point_v<gaspi_time_t>);
  static_assert(std::is_same_v<gaspi_pointer_t, void*>);
  static_assert(std::is_same_v<gaspi_const_pointer_t, const void*>);
  static_assert(std::is_same_v<gaspi_reduce_state_t, void*>);
  static_assert(std::is_same_v<gaspi_string_t, char*>);
  static_assert(std::is_same_v<gaspi_memory_description_t, int>);
  static_assert(std::is_same_v<gaspi_state_vector_t, gaspi_state_t*>);
  static_assert(std::is_pointer_v<gaspi_returns_t>);
  static_assert(std::is_function_v<gaspi_reduce_operation>);
  static_assert(std::is_function_v<gaspi_reduce_operation_counted>);
  static_assert(std::is_pointer_v<gaspi_reduce_operation_counted_t>);
  static_assert(std::is_enum_v<gaspi_topology_t>);
  static_assert(GASPI_ERR_QUEUE_FULL == GASPI_QUEUE_FULL);
  static_assert(std::is_pointer_v<gaspi_reduce_operation_t>);
  static_assert(std::is_enum_v<gaspi_operation_t> && std::is_enum_v<gaspi_datatype_t>);
  static_assert(std::is_same_v<gaspi_char, char> && std::is_same_v<gaspi_uchar, unsigned char>);
  static_assert(std::is_same_v<gaspi_short, short> && std::is_same_v<gaspi_ushort, unsigned short>);
  static_assert(std::is_same_v<gaspi_int, int> && std::is_same_v<gaspi_uint, unsigned>);
  static_assert(std::is_same_v<gaspi_long, long> && std::is_same_v<gaspi_ulong, unsigned long>);
  static_assert(std::is_same_v<gaspi_float, float> && std::is_same_v<gaspi_double, double>);
  CHECK(true);
}

// Catches: counters that count without being asked to, or something else than their name says.
SPEC_CASE(info, statistics) {
  gaspi_statistic_counter_t most = 0;
  CHECK_OK(gaspi_statistic_counter_max(&most));
  CHECK(most > 0);
  gaspi_statistic_counter_t written = most, to = most;
  for (gaspi_statistic_counter_t c = 0; c < most; ++c) {
    gaspi_statistic_argument_t argument;
    gaspi_string_t name = nullptr, description = nullptr;
    gaspi_number_t level = 0;
    CHECK_OK(gaspi_statistic_counter_info(c, &argument, &name, &description, &level));
    CHECK(level >= 1 && std::strlen(description) > 0);
    if (std::string(name) == "bytes written") {
      CHECK_EQ(argument, GASPI_STATISTIC_ARGUMENT_NONE);
      written = c;
    }
    if (argument == GASPI_STATISTIC_ARGUMENT_RANK && to == most) to = c;
    CHECK_OK(gaspi_statistic_counter_reset(c));
  }
  if (!CHECK(written < most && to < most)) return;
  CHECK_OK(gaspi_write(0, 0, job().peer(), 0, 64, 40, 0, kLong));
  gaspi_number_t value = 99;
  const auto none = GASPI_STATISTIC_ARGUMENT_NONE;
  CHECK_OK(gaspi_statistic_counter_get(written, none, &value));
  CHECK_EQ(value, 0u);
  CHECK_OK(gaspi_statistic_verbosity_level(1));
  CHECK_OK(gaspi_write(0, 0, job().peer(), 0, 64, 40, 0, kLong));
  CHECK_OK(gaspi_statistic_counter_get(to, static_cast<gaspi_statistic_argument_t>(job().peer()),
                                       &value));
  CHECK_EQ(value, 0u);  // it needs more
  CHECK_OK(gaspi_statistic_counter_reset(written));
  CHECK_OK(gaspi_statistic_verbosity_level(2));
  CHECK_OK(gaspi_write(0, 0, job().peer(), 0, 64, 40, 0, kLong));
  CHECK_OK(gaspi_statistic_verbosity_level(0));
  CHECK_OK(gaspi_write(0, 0, job().peer(), 0, 64, 40, 0, kLong));
  CHECK_OK(gaspi_wait(0, kLong));
  CHECK_OK(gaspi_statistic_counter_get(written, none, &value));
  CHECK_EQ(value, 40u);
  unsigned long wide = 0;
  const auto rank = static_cast<gaspi_statistic_argument_t>(job().peer());
  CHECK_OK(gaspi_statistic_counter_get(to, rank, &wide));
  CHECK_EQ(wide, 40u);
  wide = 0;
  CHECK_OK(gaspi_statistic_counter_get_long(written, none, &wide));
  CHECK_EQ(wide, 40u);
  CHECK_EQ(gaspi_statistic_counter_get(most, none, &value), GASPI_ERROR);
  CHECK_EQ(gaspi_statistic_counter_reset(most), GASPI_ERROR);
  CHECK_OK(gaspi_pcontrol(nullptr));
}

// Catches: a procedure that a profiler cannot reach under the other prefix.
SPEC_CASE(info, shifted_names) {
  gaspi_rank_t rank = 999;
  CHECK_OK(pgaspi_proc_rank(&rank));
  CHECK_EQ(rank, job().rank);
  CHECK_OK(pgaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
  CHECK(reinterpret_cast<void*>(&pgaspi_write) != nullptr);
}
