// Getters, environment, profiling (chapters 12 to 14).
#include <string.h>

#include <climits>
#include <cstring>

#include "api/gaspi/entry.h"
#include "api/gaspi/error_text.h"

using namespace causeway;
using namespace causeway::gaspi;

#define GETTER_OF(name, type, value)                                 \
  CAUSEWAY_API gaspi_return_t cwy_gaspi_##name##_v1(type* pointer) { \
    return tell("gaspi_" #name "()", pointer, [](World& w) -> type { \
      static_cast<void>(w);                                          \
      return (value);                                                \
    });                                                              \
  }
GETTER_OF(group_max, gaspi_number_t, w.config.group_max)
GETTER_OF(segment_max, gaspi_number_t, w.config.segment_max)
GETTER_OF(queue_size_max, gaspi_number_t, w.config.queue_size_max)
GETTER_OF(queue_max, gaspi_number_t, kQueueIds)
GETTER_OF(transfer_size_max, gaspi_size_t, w.config.transfer_size_max)
GETTER_OF(transfer_size_min, gaspi_size_t, 0)  // nothing may be written, too
GETTER_OF(notification_num, gaspi_number_t, w.config.notification_num)
GETTER_OF(passive_transfer_size_max, gaspi_size_t, w.config.passive_transfer_size_max)
GETTER_OF(passive_transfer_size_min, gaspi_size_t, 1)
GETTER_OF(atomic_max, gaspi_atomic_value_t, ULONG_MAX)
GETTER_OF(allreduce_buf_size, gaspi_size_t, w.config.allreduce_buf_size)
GETTER_OF(allreduce_elem_max, gaspi_number_t, w.config.allreduce_elem_max)
GETTER_OF(rw_list_elem_max, gaspi_number_t, w.config.rw_list_elem_max)
GETTER_OF(network_type, gaspi_network_t, w.config.network)
GETTER_OF(build_infrastructure, gaspi_number_t, w.config.build_infrastructure)
#undef GETTER_OF

CAUSEWAY_API gaspi_return_t cwy_gaspi_queue_num_v1(gaspi_number_t* queue_num) {
  return tell("gaspi_queue_num()", queue_num, [](World& w) {
    gaspi_number_t count = 0;
    for (const auto& queue : w.queues) {
      if (queue.load(std::memory_order_relaxed) != nullptr) ++count;
    }
    return count;
  });
}

// ---- environment: any phase ----

CAUSEWAY_API gaspi_return_t cwy_gaspi_version_v1(float* version) {
  if (version == nullptr) return refuse(GASPI_ERR_NULLPTR, "gaspi_version()", "version is NULL");
  *version = 17.1f;
  return GASPI_SUCCESS;
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_time_get_v1(gaspi_time_t* wtime) {
  if (wtime == nullptr) return refuse(GASPI_ERR_NULLPTR, "gaspi_time_get()", "wtime is NULL");
  *wtime = static_cast<double>(now_ns()) * 1e-6;
  return GASPI_SUCCESS;
}
CAUSEWAY_API gaspi_return_t cwy_gaspi_time_ticks_v1(gaspi_time_t* resolution) {
  if (resolution == nullptr) {
    return refuse(GASPI_ERR_NULLPTR, "gaspi_time_ticks()", "resolution is NULL");
  }
  timespec t{};
  ::clock_getres(CLOCK_MONOTONIC, &t);
  *resolution = static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) * 1e-6;
  return GASPI_SUCCESS;
}
CAUSEWAY_API gaspi_return_t cwy_gaspi_time_ticks_cycles_v1(gaspi_cycles_t* ticks) {
  if (ticks == nullptr) return refuse(GASPI_ERR_NULLPTR, "gaspi_time_ticks()", "ticks is NULL");
#if defined(__x86_64__)
  *ticks = __builtin_ia32_rdtsc();
#else
  *ticks = now_ns();
#endif
  return GASPI_SUCCESS;
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_print_error_v1(gaspi_return_t error_code,
                                                     gaspi_string_t* error_message) {
  if (error_message == nullptr) {
    return refuse(GASPI_ERR_NULLPTR, "gaspi_print_error()", "error_message is NULL");
  }
  // Programs print whatever a call has returned, and assert that it can be printed.
  *error_message = cwy_gaspi_error_str_v1(error_code);
  return GASPI_SUCCESS;
}
CAUSEWAY_API gaspi_return_t cwy_gaspi_error_message_v1(gaspi_return_t error_code,
                                                       gaspi_string_t* error_message) {
  return cwy_gaspi_print_error_v1(error_code, error_message);
}
CAUSEWAY_API gaspi_string_t cwy_gaspi_error_str_v1(gaspi_return_t error_code) {
  const char* const text = error_text(error_code);
  return const_cast<char*>(text != nullptr ? text : "unknown error");
}

// ---- statistics ----

namespace causeway::gaspi {
namespace {

struct CounterText {
  const char *name, *description;
};
constexpr CounterText kCounters[] = {
    {"writes", "pieces written by write calls"},
    {"bytes written", "bytes of these"},
    {"reads", "pieces read by read calls"},
    {"bytes read", "bytes of these"},
    {"notifications", "notifications posted"},
    {"waits", "calls of gaspi_wait"},
    {"atomics", "calls of global atomics"},
    {"barriers", "barriers completed"},
    {"allreduces", "reductions completed"},
    {"passive sends", "passive sends completed"},
    {"passive receives", "passive receives completed"},
    {"bytes written to", "bytes written to one rank"},
    {"bytes read from", "bytes read from one rank"},
};
static_assert(std::size(kCounters) == static_cast<unsigned>(Counter::count));

gaspi_return_t no_counter(const char* call, unsigned counter) {
  return refuse(GASPI_ERROR, call, fmt::format("there is no counter {}", counter));
}

// The argument's value is a rank: more than its enumerators have room for, so it is not read as one
// of them.
unsigned rank_in(const gaspi_statistic_argument_t& argument) {
  unsigned rank;
  static_assert(sizeof rank == sizeof argument);
  std::memcpy(&rank, &argument, sizeof rank);
  return rank;
}

// The world whose statistics count, in any phase: NULL before the start, and after the end what was
// counted until then.
World* counted_world() {
  return g_receiver.load(std::memory_order_acquire);
}

template <typename Value>
gaspi_return_t read_counter(gaspi_statistic_counter_t counter, gaspi_statistic_argument_t argument,
                            Value* value) {
  constexpr const char* kCall = "gaspi_statistic_counter_get()";
  if (counter >= std::size(kCounters)) return no_counter(kCall, counter);
  if (value == nullptr) return refuse(GASPI_ERR_NULLPTR, kCall, "value is NULL");
  const World* const w = counted_world();
  const auto which = static_cast<Counter>(counter);
  const unsigned rank = rank_in(argument);
  if (w != nullptr && w->statistics.takes_rank(which) && rank >= w->size) {
    return refuse(GASPI_ERR_INV_RANK, kCall, fmt::format("there is no rank {}", rank));
  }
  *value = w == nullptr ? 0 : static_cast<Value>(w->statistics.value(which, rank));
  return GASPI_SUCCESS;
}

}  // namespace

uint64_t Statistics::value(Counter counter, uint32_t rank) const {
  if (counter == Counter::bytes_written_to) return by_rank_[rank].load(std::memory_order_relaxed);
  if (counter == Counter::bytes_read_from) {
    return by_rank_[ranks_ + rank].load(std::memory_order_relaxed);
  }
  return totals_[static_cast<unsigned>(counter)].load(std::memory_order_relaxed);
}

void Statistics::reset(Counter counter) {
  slot(counter).store(0, std::memory_order_relaxed);
  if (!takes_rank(counter)) return;
  const uint32_t first = counter == Counter::bytes_written_to ? 0 : ranks_;
  for (uint32_t r = 0; r < ranks_; ++r) by_rank_[first + r].store(0, std::memory_order_relaxed);
}

}  // namespace causeway::gaspi

CAUSEWAY_API gaspi_return_t
cwy_gaspi_statistic_counter_max_v1(gaspi_statistic_counter_t* counter_max) {
  if (counter_max == nullptr) {
    return refuse(GASPI_ERR_NULLPTR, "gaspi_statistic_counter_max()", "counter_max is NULL");
  }
  *counter_max = std::size(kCounters);
  return GASPI_SUCCESS;
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_statistic_counter_info_v1(
    gaspi_statistic_counter_t counter, gaspi_statistic_argument_t* counter_argument,
    gaspi_string_t* counter_name, gaspi_string_t* counter_description,
    gaspi_number_t* verbosity_level) {
  constexpr const char* kCall = "gaspi_statistic_counter_info()";
  if (counter >= std::size(kCounters)) return no_counter(kCall, counter);
  if (counter_argument == nullptr || counter_name == nullptr || counter_description == nullptr ||
      verbosity_level == nullptr) {
    return refuse(GASPI_ERR_NULLPTR, kCall, "a pointer is NULL");
  }
  const bool by_rank = static_cast<Counter>(counter) >= Counter::bytes_written_to;
  *counter_argument = by_rank ? GASPI_STATISTIC_ARGUMENT_RANK : GASPI_STATISTIC_ARGUMENT_NONE;
  *counter_name = const_cast<char*>(kCounters[counter].name);
  *counter_description = const_cast<char*>(kCounters[counter].description);
  *verbosity_level = by_rank ? 2 : 1;
  return GASPI_SUCCESS;
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_statistic_verbosity_level_v1(gaspi_number_t verbosity_level) {
  Statistics::set_level(verbosity_level);
  return GASPI_SUCCESS;
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_statistic_counter_get_v1(gaspi_statistic_counter_t counter,
                                                               gaspi_statistic_argument_t argument,
                                                               gaspi_number_t* value) {
  return read_counter(counter, argument, value);
}
CAUSEWAY_API gaspi_return_t cwy_gaspi_statistic_counter_get_long_v1(
    gaspi_statistic_counter_t counter, gaspi_statistic_argument_t argument, unsigned long* value) {
  return read_counter(counter, argument, value);
}

CAUSEWAY_API gaspi_return_t
cwy_gaspi_statistic_counter_reset_v1(gaspi_statistic_counter_t counter) {
  if (counter >= std::size(kCounters))
    return no_counter("gaspi_statistic_counter_reset()", counter);
  if (World* const w = counted_world()) w->statistics.reset(static_cast<Counter>(counter));
  return GASPI_SUCCESS;
}

// For a tracer that stands before this library; here it does nothing (14.2.1).
CAUSEWAY_API gaspi_return_t cwy_gaspi_pcontrol_v1(gaspi_pointer_t) {
  return GASPI_SUCCESS;
}
