// Configuration, processes, connections, the state vector (chapter 5).
#include "api/gaspi/entry.h"
#include "api/gaspi/host.h"
#include "api/gaspi/process.h"
#include "api/gaspi/quiet_end.h"
#include "process/runtime.h"

using namespace causeway;
using namespace causeway::gaspi;

CAUSEWAY_API gaspi_return_t cwy_gaspi_config_get_v1(gaspi_config_t* config) {
  if (config == nullptr) return refuse(GASPI_ERR_NULLPTR, "gaspi_config_get()", "config is NULL");
  *config = world() != nullptr ? world()->config : wishes();
  return GASPI_SUCCESS;
}
CAUSEWAY_API gaspi_return_t cwy_gaspi_config_set_v1(gaspi_config_t new_config) {
  const gaspi_return_t result = set_wishes(new_config);
  if (result == GASPI_SUCCESS) return result;
  return refuse(result, "gaspi_config_set()", "gaspi_proc_init() has begun; call this before");
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_proc_init_v1(gaspi_timeout_t timeout) {
  const gaspi_return_t binding = check_binding();
  if (binding != GASPI_SUCCESS) return binding;
  end_without_backtrace();
  Deadline deadline("gaspi_proc_init()", timeout);
  const gaspi_return_t result = start(deadline);
  if (result == GASPI_SUCCESS) {
    bind_as_asked(runtime().job().host_index(), runtime().job().host().size());
  }
  return result;
}
CAUSEWAY_API gaspi_return_t cwy_gaspi_proc_term_v1(gaspi_timeout_t timeout) {
  Deadline deadline("gaspi_proc_term()", timeout);
  const gaspi_return_t result = finish(deadline);
  if (result != GASPI_ERR_NOINIT) return result;
  return refuse(result, "gaspi_proc_term()", "gaspi_proc_init() has not succeeded");
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_proc_num_v1(gaspi_rank_t* proc_num) {
  return tell("gaspi_proc_num()", proc_num, [](World& w) { return w.size; });
}
CAUSEWAY_API gaspi_return_t cwy_gaspi_proc_rank_v1(gaspi_rank_t* rank) {
  return tell("gaspi_proc_rank()", rank, [](World& w) { return w.rank; });
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_proc_kill_v1(gaspi_rank_t rank, gaspi_timeout_t timeout) {
  return with_world("gaspi_proc_kill()", [&](World& w) {
    if (!rank_exists(w, rank) || rank == w.rank) {
      return refuse(GASPI_ERR_INV_RANK, "gaspi_proc_kill()",
                    fmt::format("rank {} is not another process of the job", rank));
    }
    Deadline deadline("gaspi_proc_kill()", timeout, rank);
    return kill_process(w, rank, deadline);
  });
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_connect_v1(gaspi_rank_t rank, gaspi_timeout_t timeout) {
  return with_world("gaspi_connect()", [&](World& w) {
    const gaspi_return_t known = require_rank(w, "gaspi_connect()", rank);
    if (known != GASPI_SUCCESS) return known;
    Deadline deadline("gaspi_connect()", timeout, rank);
    return connect(w, rank, deadline);
  });
}
CAUSEWAY_API gaspi_return_t cwy_gaspi_disconnect_v1(gaspi_rank_t rank, gaspi_timeout_t timeout) {
  return with_world("gaspi_disconnect()", [&](World& w) {
    const gaspi_return_t known = require_rank(w, "gaspi_disconnect()", rank);
    if (known != GASPI_SUCCESS) return known;
    Deadline deadline("gaspi_disconnect()", timeout, rank);
    return disconnect(w, rank, deadline);
  });
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_state_vec_get_array_v1(gaspi_state_vector_t state_vector) {
  return with_world("gaspi_state_vec_get()", [&](World& w) {
    if (state_vector == nullptr) {
      return refuse(GASPI_ERR_NULLPTR, "gaspi_state_vec_get()", "the vector is NULL");
    }
    // News are waiting, or a rank may have been replaced: a program may look at nothing else.
    if (runtime().attention.load(std::memory_order_relaxed) ||
        w.corrupt.load(std::memory_order_relaxed) != 0) {
      poll_once();
    }
    // Before the states are read: what is lost meanwhile may not be among them.
    const uint32_t losses = w.losses.load(std::memory_order_acquire);
    for (uint32_t r = 0; r < w.size; ++r) {
      state_vector[r] = static_cast<gaspi_state_t>(w.state[r].load(std::memory_order_acquire));
    }
    w.losses_seen.store(losses, std::memory_order_relaxed);
    return GASPI_SUCCESS;
  });
}
CAUSEWAY_API gaspi_return_t cwy_gaspi_state_vec_get_v1(gaspi_state_vector_t* state_vector) {
  if (state_vector == nullptr) {
    return refuse(GASPI_ERR_NULLPTR, "gaspi_state_vec_get()", "the pointer is NULL");
  }
  return cwy_gaspi_state_vec_get_array_v1(*state_vector);
}

// ---- beyond 17.1 ----

CAUSEWAY_API gaspi_return_t cwy_gaspi_initialized_v1(gaspi_number_t* initialized) {
  if (initialized == nullptr) {
    return refuse(GASPI_ERR_NULLPTR, "gaspi_initialized()", "the pointer is NULL");
  }
  *initialized = world() != nullptr ? 1 : 0;
  return GASPI_SUCCESS;
}
CAUSEWAY_API gaspi_return_t cwy_gaspi_proc_local_rank_v1(gaspi_rank_t* local_rank) {
  return tell("gaspi_proc_local_rank()", local_rank,
              [](World&) { return runtime().job().host_index(); });
}
CAUSEWAY_API gaspi_return_t cwy_gaspi_proc_local_num_v1(gaspi_rank_t* local_num) {
  return tell("gaspi_proc_local_num()", local_num,
              [](World&) { return runtime().job().host().size(); });
}
CAUSEWAY_API gaspi_return_t cwy_gaspi_proc_ping_v1(gaspi_rank_t rank, gaspi_timeout_t timeout) {
  return with_world("gaspi_proc_ping()", [&](World& w) {
    const gaspi_return_t known = require_rank(w, "gaspi_proc_ping()", rank);
    if (known != GASPI_SUCCESS) return known;
    Deadline deadline("gaspi_proc_ping()", timeout, rank);
    return ping(w, rank, deadline);
  });
}
CAUSEWAY_API gaspi_return_t cwy_gaspi_proc_incarnation_v1(gaspi_rank_t rank,
                                                          gaspi_number_t* incarnation) {
  constexpr const char* kCall = "gaspi_proc_incarnation()";
  return with_world(kCall, [&](World& w) {
    const gaspi_return_t known = require_rank(w, kCall, rank);
    if (known != GASPI_SUCCESS) return known;
    if (incarnation == nullptr) return refuse(GASPI_ERR_NULLPTR, kCall, "incarnation is NULL");
    *incarnation = w.epoch(rank);
    return GASPI_SUCCESS;
  });
}

CAUSEWAY_API void cwy_gaspi_print_v1(const char* text) {
  const World* const w = world();
  print_line(w != nullptr ? w->rank : 0, text);
}
CAUSEWAY_API void cwy_gaspi_print_to_v1(gaspi_rank_t rank, const char* text) {
  World* const w = world();
  if (w == nullptr || !rank_exists(*w, rank)) return;
  if (rank == w->rank) return print_line(rank, text);
  post(*w, rank, ControlMessage::print, {}, text);
  poll_once();
}
