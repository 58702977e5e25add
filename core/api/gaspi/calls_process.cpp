// Configuration, processes, connections, the state vector (chapter 5).
#include "api/gaspi/entry.h"
#include "api/gaspi/host.h"
#include "api/gaspi/process.h"
#include "process/runtime.h"

namespace causeway::gaspi {

gaspi_return_t entry_config_get(gaspi_config_t* config) {
  return tell("gaspi_config_get()", config, "config",
              [] { return world() != nullptr ? world()->config : wishes(); });
}
gaspi_return_t entry_config_set(gaspi_config_t new_config) {
  return call("gaspi_config_set()", [&] { set_wishes(new_config); });
}

gaspi_return_t entry_proc_init(gaspi_timeout_t timeout) {
  return call("gaspi_proc_init()", [&] {
    check_binding();
    end_without_backtrace();
    Deadline deadline("gaspi_proc_init()", timeout);
    const gaspi_return_t result = start(deadline);
    if (result == GASPI_SUCCESS)
      bind_as_asked(runtime().job().host_index(), runtime().job().host().size());
    return result;
  });
}
gaspi_return_t entry_proc_term(gaspi_timeout_t timeout) {
  return call("gaspi_proc_term()", [&] {
    Deadline deadline("gaspi_proc_term()", timeout);
    return finish(deadline);
  });
}

gaspi_return_t entry_proc_num(gaspi_rank_t* proc_num) {
  return tell("gaspi_proc_num()", proc_num, "the pointer", [](World& w) { return w.size; });
}
gaspi_return_t entry_proc_rank(gaspi_rank_t* rank) {
  return tell("gaspi_proc_rank()", rank, "the pointer", [](World& w) { return w.rank; });
}

gaspi_return_t entry_proc_kill(gaspi_rank_t rank, gaspi_timeout_t timeout) {
  return call("gaspi_proc_kill()", [&](World& w) {
    if (!rank_exists(w, rank) || rank == w.rank)
      refuse(GASPI_ERR_INV_RANK, "rank {} is not another process of the job", rank);
    Deadline deadline("gaspi_proc_kill()", timeout, rank);
    return kill_process(w, rank, deadline);
  });
}

gaspi_return_t entry_connect(gaspi_rank_t rank, gaspi_timeout_t timeout) {
  return timed_call("gaspi_connect()", rank, timeout,
                    [&](World& w, Deadline& deadline) { return connect(w, rank, deadline); });
}
gaspi_return_t entry_disconnect(gaspi_rank_t rank, gaspi_timeout_t timeout) {
  return timed_call("gaspi_disconnect()", rank, timeout,
                    [&](World& w, Deadline& deadline) { return disconnect(w, rank, deadline); });
}

gaspi_return_t entry_state_vec_get_array(gaspi_state_vector_t state_vector) {
  return call("gaspi_state_vec_get()", [&](World& w) {
    require_pointer(state_vector, "the vector");
    // News are waiting, or a rank may have been replaced: a program may look at nothing else.
    if (runtime().attention.load(std::memory_order_relaxed) ||
        w.corrupt.load(std::memory_order_relaxed) != 0)
      poll_for_client();
    // Before the states are read: what is lost meanwhile may not be among them.
    const uint32_t losses = w.losses.load(std::memory_order_acquire);
    for (uint32_t r = 0; r < w.size; ++r)
      state_vector[r] = static_cast<gaspi_state_t>(w.state[r].load(std::memory_order_acquire));
    w.losses_seen.store(losses, std::memory_order_relaxed);
  });
}
gaspi_return_t entry_state_vec_get(gaspi_state_vector_t* state_vector) {
  return call("gaspi_state_vec_get()", [&] {
    require_pointer(state_vector, "the pointer");
    return entry_state_vec_get_array(*state_vector);
  });
}

// ---- beyond 17.1 ----

gaspi_return_t entry_initialized(gaspi_number_t* initialized) {
  return tell("gaspi_initialized()", initialized, "the pointer",
              [] { return world() != nullptr ? 1 : 0; });
}
gaspi_return_t entry_proc_local_rank(gaspi_rank_t* local_rank) {
  return tell("gaspi_proc_local_rank()", local_rank, "the pointer",
              [](World&) { return runtime().job().host_index(); });
}
gaspi_return_t entry_proc_local_num(gaspi_rank_t* local_num) {
  return tell("gaspi_proc_local_num()", local_num, "the pointer",
              [](World&) { return runtime().job().host().size(); });
}
gaspi_return_t entry_proc_ping(gaspi_rank_t rank, gaspi_timeout_t timeout) {
  return timed_call("gaspi_proc_ping()", rank, timeout,
                    [&](World& w, Deadline& deadline) { return ping(w, rank, deadline); });
}
gaspi_return_t entry_proc_incarnation(gaspi_rank_t rank, gaspi_number_t* incarnation) {
  return call("gaspi_proc_incarnation()", [&](World& w) {
    require_rank(w, rank);
    require_pointer(incarnation, "incarnation");
    *incarnation = w.epoch(rank);
  });
}

void entry_print(const char* text) {
  const World* const w = world();
  print_line(w != nullptr ? w->rank : 0, text);
}
void entry_print_to(gaspi_rank_t rank, const char* text) {
  World* const w = world();
  if (w == nullptr || !rank_exists(*w, rank)) return;
  if (rank == w->rank) return print_line(rank, text);
  post(*w, rank, ControlMessage::print, {}, text);
  poll_for_client();
}

}  // namespace causeway::gaspi
