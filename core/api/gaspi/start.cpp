// gaspi_proc_init and gaspi_proc_term.
#include <gasnet_ratomic.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "am/internal.h"
#include "api/gaspi/acknowledgements.h"
#include "api/gaspi/entry.h"
#include "api/gaspi/group.h"
#include "api/gaspi/messages.h"
#include "api/gaspi/process.h"
#include "api/gaspi/rejoin.h"
#include "api/gaspi/segment.h"
#include "api/gaspi/world.h"
#include "atomics/domain.h"
#include "base/error.h"
#include "base/log.h"
#include "base/quiet_thread.h"
#include "process/progress_thread.h"
#include "process/report.h"
#include "process/runtime.h"
#include "progress/poll.h"
#include "thread/thread_state.h"

namespace causeway::gaspi {
namespace {

// Not a name that a client could pass to gex_Client_Init().
constexpr const char* kClientName = "causeway.gaspi";
constexpr uint32_t kMostRanks = 65535;

// Something that takes as long as other processes do, on a thread of its own, so that a call that
// timed out can be made again. The thread outlives a program that does not.
class Errand {
 public:
  template <typename Body>
  void begin(Body body) {
    begun_ = true;
    quiet_thread([this, body] {
      enter_as_internal_thread();
      const gaspi_return_t result = body();
      const std::lock_guard lock(mutex_);
      result_ = result;
      changed_.notify_all();
    }).detach();
  }
  bool begun() const { return begun_; }
  gaspi_return_t result() {
    const std::lock_guard lock(mutex_);
    return result_;
  }
  gaspi_return_t wait(Deadline& deadline) {
    deadline.start();
    LastingWait lasting(deadline.subject());
    std::unique_lock lock(mutex_);
    while (result_ == GASPI_TIMEOUT && !deadline.expired()) {
      changed_.wait_for(lock, std::chrono::nanoseconds(std::min(kLastingNs, deadline.left_ns())));
      lasting.look();
    }
    return result_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool begun_ = false;
  gaspi_return_t result_ = GASPI_TIMEOUT;
};

// Under g_start_mutex. Never destroyed: their threads may outlive static destruction.
std::mutex g_start_mutex;
gaspi_config_t g_wishes = {32,
                           255,
                           8,
                           1024,
                           1ul << 30,
                           65536,
                           1024,
                           65535,
                           2040,
                           255,
                           GASPI_ETHERNET,
                           GASPI_TOPOLOGY_STATIC,
                           nullptr,
                           255,
                           0,
                           0,
                           0,
                           0,
                           0,
                           0,
                           {GASPI_ETHERNET, nullptr}};
Errand &g_starting = *new Errand, &g_meeting = *new Errand, &g_leaving = *new Errand;
bool g_exits = false;  // what plugins have in static objects may have ended
enum class Life { none, starting, running, ended } g_life = Life::none;

// ---- the configuration ----

template <typename T>
void cut(T& value, T least, T most) {
  value = std::clamp(value, least, most);
}

// Operands travel in control messages, whose pieces tell the length in 32 bits (control.cpp).
constexpr gaspi_size_t kLongestMessage = UINT32_MAX;

gaspi_config_t possible(gaspi_config_t c) {
  cut(c.group_max, 1u, 255u);
  cut(c.segment_max, 1u, 255u);
  cut(c.queue_num, 1u, kQueueIds);
  cut(c.queue_size_max, 1u, 65536u);
  cut(c.transfer_size_max, 1ul, 1ul << 40);
  cut(c.notification_num, 1u, 1u << 20);
  cut(c.passive_queue_size_max, 1u, 65536u);
  cut(c.passive_transfer_size_max, 1ul, 1ul << 24);
  cut(c.allreduce_buf_size, 8ul, kLongestMessage);
  cut(c.allreduce_elem_max, 1u, static_cast<gaspi_number_t>(kLongestMessage / sizeof(double)));
  cut(c.rw_list_elem_max, 1u, 65536u);
  if (c.build_infrastructure > GASPI_TOPOLOGY_DYNAMIC)
    c.build_infrastructure = GASPI_TOPOLOGY_STATIC;
  return c;
}

bool ignored_fields_equal(const gaspi_config_t& a, const gaspi_config_t& b) {
  return a.logger == b.logger && a.sn_port == b.sn_port && a.net_info == b.net_info &&
         a.user_net == b.user_net && a.sn_persistent == b.sn_persistent &&
         a.sn_timeout == b.sn_timeout && a.dev_config.network == b.dev_config.network &&
         a.dev_config.params == b.dev_config.params && a.network == b.network;
}

// What serves the first rank that is not reached through memory, in GASPI's terms: the answer of
// gaspi_network_type() (12.7.1). GASPI_ETHERNET where all are.
gaspi_network_t chosen_network(const Runtime& rt) {
  for (uint32_t r = 0; r < rt.size(); ++r) {
    if (r == rt.rank()) continue;
    try {
      const Choice choice = choose(rt.config(), rt.conduits(), rt.job().facts_of(r, nullptr));
      const ConduitSpec& spec = choice.put->spec();
      if (spec.plugin == "ofi") return GASPI_OFI;
      if (spec.plugin == "verbs") return GASPI_IB;
      if (spec.plugin != "ucx") continue;
      const auto tls = spec.options.find("tls");
      const bool tcp = tls == spec.options.end() || tls->second.find("tcp") != std::string::npos;
      return tcp ? GASPI_ETHERNET : GASPI_IB;
    } catch (const Error&) {
      continue;  // not reached: who connects is told why
    }
  }
  return GASPI_ETHERNET;
}

// ---- start ----

// Where failures are survived, a rank that fails meanwhile is corrupt, as it would be a moment
// later; the launcher ends a job whose start misses a rank.
void connect_all(World& w) {
  for (uint32_t r = 0; r < w.size; ++r) {
    Deadline forever("gaspi_proc_init()", GASPI_BLOCK);
    const gaspi_return_t result = wait_for(forever, [&] { return try_connect(w, r); });
    if (result != GASPI_SUCCESS && !runtime().survives_failures())
      throw Error(CWY_ERR_UNREACHABLE, "rank {} is not reached", r);
  }
}

// Makes the process' one world. Throws where that cannot be.
void start_up(const gaspi_config_t& wished) {
  Runtime& rt = runtime();
  if (rt.size() > kMostRanks) {
    refuse(GASPI_ERR_CONFIG, "the job has {} ranks; GASPI numbers at most {}", rt.size(),
           kMostRanks);
  }
  const std::lock_guard lock(rt.clients_mutex);
  if (rt.clients.size() == Client::kMax) refuse(GASPI_ERROR, "this process has too many clients");
  rt.raise_mode(ThreadMode::par);
  rt.on_peer_lost(lose_rank);
  rt.on_peer_replaced(replace_rank);
  const bool replacement = rt.bootstrap().epoch() > 1;
  auto* const w = new World(possible(wished), rt.rank(), rt.size());
  w->checks = rt.checks();
  if (replacement) begin_as_replacement(*w);
  g_receiver.store(w, std::memory_order_release);
  set_interface_handler(on_message);
  set_poll_hook(make_progress);
  w->client =
      new Client(static_cast<uint16_t>(rt.clients.size()), kClientName, 0, ClientKind::gaspi);
  rt.clients.push_back(w->client);
  rt.settle_failure_policy();
  w->config.network = chosen_network(rt);
  w->open.store(true, std::memory_order_release);
  start_progress_thread(*w->client);
  if (progress_thread_runs()) w->acknowledgements->let_wait();
  const gaspi_number_t topology = w->config.build_infrastructure;
  // A replacement is in no group of the others before all commit again (6.1).
  w->groups->make_all(topology != GASPI_TOPOLOGY_NONE && !replacement);
  if (replacement)
    join_running_job(*w);
  else
    w->atomics.store(new AtomicDomain(*w->client->team(), GEX_DT_U64, GEX_OP_FADD | GEX_OP_FCAS, 0),
                     std::memory_order_release);
  if (topology == GASPI_TOPOLOGY_STATIC) connect_all(*w);
  w->losses_seen.store(w->losses.load(std::memory_order_acquire), std::memory_order_relaxed);
  rt.note_started();
  g_world.store(w, std::memory_order_release);
}

// On the caller's thread, because CAUSEWAY_RANKS forks here. GASPI_TIMEOUT: this process is a spare
// that no rank has needed yet.
gaspi_return_t make_runtime(Deadline& deadline) {
  try {
    constexpr bool kWait = false;
    start_runtime(ThreadMode::par, kWait);
    deadline.start();
    return runtime().take_place(deadline.left_ns()) ? GASPI_SUCCESS : GASPI_TIMEOUT;
  } catch (const Error& e) {
    refuse(e.status() == CWY_ERR_INVALID ? GASPI_ERR_ENV : GASPI_ERR_SN, "{}", e.text());
  }
}

// ---- end ----

bool alone(const Runtime& rt) {
  return std::ranges::all_of(rt.clients,
                             [](const Client* c) { return c->kind() == ClientKind::gaspi; });
}

// `inside`: a thread of the program's may be inside a conduit until the process ends, and hold its
// locks. Then what belongs to conduits goes with the process.
void release(World& w, bool inside) {
  w.ended.store(true, std::memory_order_relaxed);
  g_world.store(nullptr, std::memory_order_release);
  for (unsigned id = 0; id < kSegmentIds && !inside; ++id)
    if (w.segments[id].load(std::memory_order_acquire) != nullptr) w.segment_table->remove(id);
  if (!alone(runtime())) return;
  log_debug("process: leaves by gaspi_proc_term()");
  if (!inside) print_report_at_exit();
  try {
    runtime().bootstrap().finalize(std::nullopt);
  } catch (const std::exception& e) {
    log_debug("process: leaves without an orderly goodbye: {}", e.what());
  }
}

// All of it on the errand's thread: gaspi_proc_term() may be called in a signal handler (listing
// 9), which may have interrupted a thread that is inside the library and holds its locks.
gaspi_return_t meet(World& w, bool inside) {
  w.ending.store(true, std::memory_order_relaxed);
  constexpr gaspi_timeout_t kPatience = 2000;
  // On yet another thread, which may be left behind at a lock: sending takes what the interrupted
  // thread may hold. The world stays.
  const auto sent = within(std::chrono::milliseconds(kPatience), [&w] {
    enter_as_internal_thread();
    std::vector<uint32_t> killers;
    {
      const std::lock_guard lock(w.process_mutex);
      killers.swap(w.killers);
    }
    for (const uint32_t killer : killers) post(w, killer, ControlMessage::leaving, {});
    Deadline patience("gaspi_proc_term()", kPatience);
    return wait_for(patience, [&] {
      return control_messages_sent(w) && w.acknowledgements->none() ? GASPI_SUCCESS : GASPI_TIMEOUT;
    });
  });
  // The launcher's barrier, which needs no conduit: who comes back knows that nobody waits for a
  // message of this process. Where a rank was replaced, some may have left already, who saw it
  // dead. Nor does one wait without end for ranks that may not have heard that they are to end, or
  // that this one does; or that are lost, and that the launcher does not know as dead.
  const bool unsure = w.kill_is_open.load(std::memory_order_relaxed) ||
                      (inside && sent.value_or(GASPI_TIMEOUT) != GASPI_SUCCESS) ||
                      runtime().bootstrap().epoch() > 1;
  const bool lost = w.losses.load(std::memory_order_acquire) != 0;
  const uint64_t limit = lost ? runtime().config().timeouts.exit_ns : UINT64_MAX;
  try {
    runtime().bootstrap().fence(unsure ? kPatience * 1'000'000 : limit, Bootstrap::Among::living);
  } catch (const std::exception& e) {
    log_debug("process: gaspi_proc_term(): {}", e.what());
  }
  return GASPI_SUCCESS;
}

// Under g_start_mutex, as what follows.
void begin_meeting() {
  if (!g_meeting.begun())
    g_meeting.begin([w = world(), inside = thread_state().polls()] { return meet(*w, inside); });
}

// Others may need this process' progress until they are where it is.
gaspi_return_t await(Errand& errand, Deadline& deadline) {
  return progress_thread_configured() ? errand.wait(deadline)
                                      : wait_for(deadline, [&] { return errand.result(); });
}

// The program ends with 0 and without gaspi_proc_term(), behind which nobody misses it: others may
// still be connecting to this rank in their start. It stays for them as that call would, but not
// for long. Nothing is released: handlers of exit() and threads of the program may still work with
// segments, and may call gaspi_proc_term().
void stay_at_exit(int status, void* process) {
  const std::unique_lock lock(g_start_mutex, std::try_to_lock);
  if (!lock || ::getpid() != static_cast<pid_t>(reinterpret_cast<intptr_t>(process))) return;
  g_exits = true;
  if (status != 0 || g_life != Life::running || g_leaving.begun() || thread_state().polls()) return;
  constexpr uint64_t kLongestMs = 5000;
  const uint64_t ms = std::min(runtime().config().timeouts.exit_ns / 1'000'000, kLongestMs);
  if (ms == 0 || !alone(runtime())) return;
  Deadline patience("exit()", ms);
  begin_meeting();
  call("exit()", [&] { return await(g_meeting, patience); });
}

}  // namespace

gaspi_config_t wishes() {
  const std::lock_guard lock(g_start_mutex);
  return g_wishes;
}

void set_wishes(const gaspi_config_t& wished) {
  const std::lock_guard lock(g_start_mutex);
  if (g_life != Life::none)
    refuse(GASPI_ERR_INITED, "gaspi_proc_init() has begun; call this before");
  if (!ignored_fields_equal(g_wishes, wished)) {
    static bool said = false;
    if (!std::exchange(said, true)) {
      log_warn(
          "gaspi_config_set(): network, logger, sn_*, net_info, user_net and dev_config are "
          "ignored; Causeway's configuration chooses the network");
    }
  }
  g_wishes = wished;
}

gaspi_return_t start(Deadline& deadline) {
  const std::lock_guard lock(g_start_mutex);
  if (g_life == Life::running) return GASPI_ERR_INITED;
  if (g_life == Life::ended) {
    refuse(GASPI_ERROR,
           "gaspi_proc_term() was called, or an earlier start failed; a process is initialised "
           "once");
  }
  const auto start_all = [wished = g_wishes] {
    return call("gaspi_proc_init()", [&] { start_up(wished); });
  };
  gaspi_return_t result = call("gaspi_proc_init()", [&] { return make_runtime(deadline); });
  if (result == GASPI_SUCCESS && deadline.is_block() && !g_starting.begun()) {
    result = start_all();
  } else if (result == GASPI_SUCCESS) {
    g_life = Life::starting;
    if (!g_starting.begun()) g_starting.begin(start_all);
    result = g_starting.wait(deadline);
  }
  if (result == GASPI_SUCCESS) {
    g_life = Life::running;
    ::on_exit(stay_at_exit, reinterpret_cast<void*>(intptr_t{::getpid()}));
  }
  if (result != GASPI_SUCCESS && result != GASPI_TIMEOUT) g_life = Life::ended;
  return result;
}

gaspi_return_t finish(Deadline& deadline) {
  const std::lock_guard lock(g_start_mutex);
  if (g_life != Life::running) started_world();  // which refuses
  begin_meeting();
  // The world is gone as soon as the errand is done, which may be between two calls.
  if (!g_leaving.begun())
    g_leaving.begin([w = world(), inside = thread_state().polls() || g_exits] {
      Deadline met("gaspi_proc_term()", GASPI_BLOCK);
      g_meeting.wait(met);
      release(*w, inside);
      return GASPI_SUCCESS;
    });
  const gaspi_return_t result = await(g_leaving, deadline);
  if (result == GASPI_SUCCESS) g_life = Life::ended;
  return result;
}

}  // namespace causeway::gaspi
