#include "process/progress_thread.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/fatal.h"
#include "base/log.h"
#include "base/quiet_thread.h"
#include "config/rank_set.h"
#include "object/client.h"
#include "process/runtime.h"
#include "progress/poll.h"
#include "progress/waiter.h"
#include "thread/thread_state.h"

namespace causeway {
namespace {

// Polls in vain before the thread sleeps: few, since those who compute need the processor.
constexpr unsigned kSpins = 16;

// Set once, when the process ends by exit(); release/acquire is not needed for a lone flag.
std::atomic<bool> g_stop{false};
// Some client has started or prepared the thread. Relaxed: who asks later sees it.
std::atomic<bool> g_started{false};
// The thread, however it was started. Under the mutex.
std::mutex g_thread_mutex;
bool g_running = false;
pthread_t g_thread;

void sleep_ns(uint64_t ns) {
  const timespec t{static_cast<time_t>(ns / 1000000000ull), static_cast<long>(ns % 1000000000ull)};
  ::clock_nanosleep(CLOCK_MONOTONIC, 0, &t, nullptr);
}

const std::string& setting(const char* key) {
  return runtime().config().values.at(key);
}

bool stopping() {
  // gasnet_exit ends the process around this thread; it only has to keep still.
  while (exiting()) ::pause();
  return g_stop.load(std::memory_order_relaxed);
}

// Sleeps until something arrives. When it wakes early and nothing is there, a thread of the
// client's is attentive and took it: then this one stays out of the way for a while, so that
// senders do not wake it for every message.
void rest(uint64_t idle_ns) {
  const uint64_t start = now_ns();
  nap(idle_ns);
  if (now_ns() - start < idle_ns && poll_once() == 0) sleep_ns(idle_ns);
}

// Threads of the client's poll: they need no second thread beside them, which would hold conduits'
// locks, and a processor, at the wrong moments. To look whether they still do costs a turn of the
// processor as well, so that it is done half as often after each of `in_a_row` looks that found
// them at it.
void stay_away(uint64_t idle_ns, unsigned in_a_row) {
  client_polled.store(false, std::memory_order_relaxed);
  constexpr unsigned kGrowths = 20;  // shifts nothing out
  constexpr uint64_t kLongest = 2'000'000;
  const uint64_t shortest = idle_ns / 2;
  sleep_ns(std::max(shortest, std::min(kLongest, shortest << std::min(in_a_row, kGrowths))));
}

void make_progress() {
  const uint64_t idle_ns = parse_time_ns(setting("threads.idle"));
  unsigned in_vain = 0, attentive = 0;
  while (!stopping()) {
    if (sleeping_waiters.load(std::memory_order_relaxed) != 0) {
      sleep_ns(idle_ns);  // who sleeps in a wait is woken by what arrives, and polls
    } else if (client_polled.load(std::memory_order_relaxed)) {
      stay_away(idle_ns, attentive++);
      in_vain = 0;
    } else if (attentive = 0; poll_once() != 0) {
      in_vain = 0;
    } else if (++in_vain < kSpins) {
      ::sched_yield();
    } else {
      rest(idle_ns);
    }
  }
}

void note_running() {
  ::pthread_setname_np(::pthread_self(), "cwy-progress");
  const std::lock_guard lock(g_thread_mutex);
  g_thread = ::pthread_self();
  g_running = true;
}

void run_progress_thread() {
  enter_as_internal_thread();
  progress_thread_polls.store(true, std::memory_order_relaxed);
  or_fatal("progress thread", [] { make_progress(); });
}

// The function that a client starts with GEX_FLAG_DEFER_THREADS. Does not return (specification).
void* deferred_main(void*) {
  // As quiet_thread: signals are for the program's own threads.
  sigset_t blocked;
  sigfillset(&blocked);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS})
    sigdelset(&blocked, fault);
  ::pthread_sigmask(SIG_SETMASK, &blocked, nullptr);
  note_running();
  run_progress_thread();
  ::pthread_exit(nullptr);
}

// ---- where it runs ----

std::vector<int> allowed_cpus(const RankSet& wanted) {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  std::vector<int> cpus;
  if (::sched_getaffinity(0, sizeof mine, &mine) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &mine) && wanted.contains(static_cast<uint32_t>(cpu))) cpus.push_back(cpu);
  return cpus;
}

// Whose turn it is among the ranks of this host.
int chosen_cpu(const std::string& text) {
  const bool spread = text == "spread";
  const std::vector<int> cpus = allowed_cpus(RankSet::parse(spread ? "" : text));
  if (cpus.empty()) {
    throw Error(CWY_ERR_INVALID, "threads.cpus is {}, but this process may run on none of them",
                text);
  }
  const size_t turn = runtime().job().facts().local_index % cpus.size();
  return spread ? cpus[cpus.size() - 1 - turn] : cpus[turn];
}

void bind(std::thread& thread, int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<size_t>(cpu), &set);
  if (::pthread_setaffinity_np(thread.native_handle(), sizeof set, &set) != 0)
    log_warn("the progress thread cannot be bound to processor {}; it runs anywhere", cpu);
}

void start_now() {
  const std::string& cpus = setting("threads.cpus");
  const int cpu = cpus == "any" ? -1 : chosen_cpu(cpus);
  // Joined through its handle by stop_progress_thread().
  std::thread thread = quiet_thread([] { run_progress_thread(); });
  if (cpu >= 0) bind(thread, cpu);
  ::pthread_setname_np(thread.native_handle(), "cwy-progress");
  const std::lock_guard lock(g_thread_mutex);
  g_thread = thread.native_handle();
  g_running = true;
  // Never destroyed: the thread is joined by its handle.
  static std::thread* const owner = new std::thread(std::move(thread));
  static_cast<void>(owner);
}

// ---- deferral, by client ----

struct Deferral {
  const Client* client = nullptr;  // the one that starts the thread
  std::string devices;
  gex_ProgressThreadInfo_t info{};
  std::set<const Client*> asked;
};
std::mutex g_deferral_mutex;
Deferral& deferral() {
  static Deferral instance;
  return instance;
}

void prepare_deferred(const Client& client) {
  const std::lock_guard lock(g_deferral_mutex);
  Deferral& d = deferral();
  d.client = &client;
  d.devices = polled_conduits();
  d.info = {d.devices.c_str(), GEX_THREAD_ROLE_RCV | GEX_THREAD_ROLE_SND, deferred_main, nullptr};
}

void set_limit() {
  const bool one = runtime().mode() == ThreadMode::seq && runtime().checks();
  set_thread_limit(one ? 1 : static_cast<uint32_t>(std::stoul(setting("threads.max"))));
}

}  // namespace

bool progress_thread_configured() {
  return setting("threads.progress") == "thread" || g_started.load(std::memory_order_relaxed);
}

bool progress_thread_runs() {
  const std::lock_guard lock(g_thread_mutex);
  return g_running;
}

void stop_progress_thread() {
  g_stop.store(true, std::memory_order_relaxed);
  bool running;
  {
    const std::lock_guard lock(g_thread_mutex);
    running = std::exchange(g_running, false);
  }
  // In an exit that began before the thread did, the thread has stopped at once, and stays.
  if (running && !exiting() && !::pthread_equal(g_thread, ::pthread_self()))
    ::pthread_join(g_thread, nullptr);
}

void start_progress_thread(const Client& client) {
  set_limit();  // again for a later client, which may have promised less
  const std::string& wish = setting("threads.progress");
  const bool wanted = wish == "thread" || (wish == "auto" && client.kind() == ClientKind::gaspi);
  // Clients start one after the other. Relaxed: ordered by that.
  if (!wanted || g_started.exchange(true, std::memory_order_relaxed)) return;
  runtime().raise_threads();
  std::atexit(stop_progress_thread);
  if (client.flags() & GEX_FLAG_DEFER_THREADS)
    prepare_deferred(client);
  else
    start_now();
}

DeferredThreads deferred_progress_threads(const Client& client) {
  if (!(client.flags() & GEX_FLAG_DEFER_THREADS))
    return {"this client did not pass GEX_FLAG_DEFER_THREADS to gex_Client_Init()", 0, nullptr};
  const std::lock_guard lock(g_deferral_mutex);
  Deferral& d = deferral();
  if (!d.asked.insert(&client).second) return {"called a second time for this client", 0, nullptr};
  if (d.client != &client) return {nullptr, 0, nullptr};
  return {nullptr, 1, &d.info};
}

}  // namespace causeway
