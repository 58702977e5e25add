// Getters, environment, profiling (chapters 12 to 14).
#include <algorithm>
#include <climits>
#include <cstring>

#include "api/gaspi/entry.h"

namespace causeway::gaspi {

#define GETTER_OF(name, type, value)                                                \
  gaspi_return_t entry_##name(type* pointer) {                                      \
    return tell("gaspi_" #name "()", pointer, "the pointer", [](World& w) -> type { \
      static_cast<void>(w);                                                         \
      return (value);                                                               \
    });                                                                             \
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

gaspi_return_t entry_queue_num(gaspi_number_t* queue_num) {
  return tell("gaspi_queue_num()", queue_num, "the pointer", [](World& w) {
    return std::ranges::count_if(
        w.queues, [](const auto& q) { return q.load(std::memory_order_relaxed) != nullptr; });
  });
}

// ---- environment: any phase ----

gaspi_return_t entry_version(float* version) {
  return tell("gaspi_version()", version, "version", [] { return 17.1f; });
}

gaspi_return_t entry_time_get(gaspi_time_t* wtime) {
  return tell("gaspi_time_get()", wtime, "wtime",
              [] { return static_cast<double>(now_ns()) * 1e-6; });
}
gaspi_return_t entry_time_ticks(gaspi_time_t* resolution) {
  return tell("gaspi_time_ticks()", resolution, "resolution", [] {
    timespec t{};
    ::clock_getres(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) * 1e-6;
  });
}
gaspi_return_t entry_time_ticks_cycles(gaspi_cycles_t* ticks) {
  return tell("gaspi_time_ticks()", ticks, "ticks", [] {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return now_ns();
#endif
  });
}

// ---- the meaning of error codes ----

namespace {

struct ErrorText {
  int code;  // a caller may ask for any number
  const char* text;
};
constexpr ErrorText kErrorTexts[] = {
    {GASPI_ERROR, "general error"},
    {GASPI_SUCCESS, "success"},
    {GASPI_TIMEOUT, "timeout"},
    {GASPI_ERR_EMFILE, "too many open files"},
    {GASPI_ERR_ENV, "the environment is not what was expected"},
    {GASPI_ERR_SN_PORT, "a port is in use"},
    {GASPI_ERR_CONFIG, "the configuration cannot be used"},
    {GASPI_ERR_NOINIT, "gaspi_proc_init() has not succeeded"},
    {GASPI_ERR_INITED, "gaspi_proc_init() has been called already"},
    {GASPI_ERR_NULLPTR, "a pointer is NULL"},
    {GASPI_ERR_INV_SEGSIZE, "invalid size of a segment"},
    {GASPI_ERR_INV_SEG, "invalid segment"},
    {GASPI_ERR_INV_GROUP, "invalid group"},
    {GASPI_ERR_INV_RANK, "invalid rank"},
    {GASPI_ERR_INV_QUEUE, "invalid queue"},
    {GASPI_ERR_INV_LOC_OFF, "invalid local offset"},
    {GASPI_ERR_INV_REM_OFF, "invalid remote offset"},
    {GASPI_ERR_INV_COMMSIZE, "invalid size of a transfer"},
    {GASPI_ERR_INV_NOTIF_VAL, "invalid value of a notification"},
    {GASPI_ERR_INV_NOTIF_ID, "invalid notification"},
    {GASPI_ERR_INV_NUM, "invalid number of elements"},
    {GASPI_ERR_INV_SIZE, "invalid size"},
    {GASPI_ERR_MANY_SEG, "too many segments"},
    {GASPI_ERR_MANY_GRP, "too many groups"},
    {GASPI_QUEUE_FULL, "the queue is full"},
    {GASPI_ERR_UNALIGN_OFF, "the offset is not aligned"},
    {GASPI_ERR_ACTIVE_COLL, "the group has an unfinished collective"},
    {GASPI_ERR_DEVICE, "device error"},
    {GASPI_ERR_SN, "the start-up network failed"},
    {GASPI_ERR_MEMALLOC, "memory cannot be had"},
};

}  // namespace

// Programs print whatever a call has returned, and assert that it can be printed.
gaspi_string_t entry_error_str(gaspi_return_t error_code) {
  const auto* const known =
      std::ranges::find(kErrorTexts, static_cast<int>(error_code), &ErrorText::code);
  return const_cast<char*>(known != std::end(kErrorTexts) ? known->text : "unknown error");
}
gaspi_return_t entry_print_error(gaspi_return_t error_code, gaspi_string_t* error_message) {
  gaspi_string_t const text = entry_error_str(error_code);
  return tell("gaspi_print_error()", error_message, "error_message", [&] { return text; });
}
gaspi_return_t entry_error_message(gaspi_return_t error_code, gaspi_string_t* error_message) {
  return entry_print_error(error_code, error_message);
}

// ---- statistics ----

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

Counter counter_of(gaspi_statistic_counter_t counter) {
  if (counter >= std::size(kCounters)) refuse(GASPI_ERROR, "there is no counter {}", counter);
  return static_cast<Counter>(counter);
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
  return call("gaspi_statistic_counter_get()", [&] {
    const Counter which = counter_of(counter);
    require_pointer(value, "value");
    const World* const w = counted_world();
    const unsigned rank = rank_in(argument);
    if (w != nullptr && w->statistics.takes_rank(which)) require_rank(*w, rank);
    *value = w == nullptr ? 0 : static_cast<Value>(w->statistics.value(which, rank));
  });
}

}  // namespace

uint64_t Statistics::value(Counter counter, uint32_t rank) const {
  if (counter == Counter::bytes_written_to) return by_rank_[rank].load(std::memory_order_relaxed);
  if (counter == Counter::bytes_read_from)
    return by_rank_[ranks_ + rank].load(std::memory_order_relaxed);
  return totals_[static_cast<unsigned>(counter)].load(std::memory_order_relaxed);
}

void Statistics::reset(Counter counter) {
  slot(counter).store(0, std::memory_order_relaxed);
  if (!takes_rank(counter)) return;
  const uint32_t first = counter == Counter::bytes_written_to ? 0 : ranks_;
  for (uint32_t r = 0; r < ranks_; ++r) by_rank_[first + r].store(0, std::memory_order_relaxed);
}

gaspi_return_t entry_statistic_counter_max(gaspi_statistic_counter_t* counter_max) {
  return tell("gaspi_statistic_counter_max()", counter_max, "counter_max",
              [] { return std::size(kCounters); });
}

gaspi_return_t entry_statistic_counter_info(gaspi_statistic_counter_t counter,
                                            gaspi_statistic_argument_t* counter_argument,
                                            gaspi_string_t* counter_name,
                                            gaspi_string_t* counter_description,
                                            gaspi_number_t* verbosity_level) {
  return call("gaspi_statistic_counter_info()", [&] {
    const bool by_rank = Statistics::takes_rank(counter_of(counter));
    if (counter_argument == nullptr || counter_name == nullptr || counter_description == nullptr ||
        verbosity_level == nullptr)
      refuse(GASPI_ERR_NULLPTR, "a pointer is NULL");
    *counter_argument = by_rank ? GASPI_STATISTIC_ARGUMENT_RANK : GASPI_STATISTIC_ARGUMENT_NONE;
    *counter_name = const_cast<char*>(kCounters[counter].name);
    *counter_description = const_cast<char*>(kCounters[counter].description);
    *verbosity_level = by_rank ? 2 : 1;
  });
}

gaspi_return_t entry_statistic_verbosity_level(gaspi_number_t verbosity_level) {
  Statistics::set_level(verbosity_level);
  return GASPI_SUCCESS;
}

gaspi_return_t entry_statistic_counter_get(gaspi_statistic_counter_t counter,
                                           gaspi_statistic_argument_t argument,
                                           gaspi_number_t* value) {
  return read_counter(counter, argument, value);
}
gaspi_return_t entry_statistic_counter_get_long(gaspi_statistic_counter_t counter,
                                                gaspi_statistic_argument_t argument,
                                                unsigned long* value) {
  return read_counter(counter, argument, value);
}

gaspi_return_t entry_statistic_counter_reset(gaspi_statistic_counter_t counter) {
  return call("gaspi_statistic_counter_reset()", [&] {
    const Counter which = counter_of(counter);
    if (World* const w = counted_world()) w->statistics.reset(which);
  });
}

// For a tracer that stands before this library; here it does nothing (14.2.1).
gaspi_return_t entry_pcontrol(gaspi_pointer_t) {
  return GASPI_SUCCESS;
}

}  // namespace causeway::gaspi
