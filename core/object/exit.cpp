#include "object/exit.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "am/internal.h"
#include "checks/call_arguments.h"
#include "diag/log.h"
#include "object/client.h"
#include "object/exit_limit.h"
#include "object/fatal.h"
#include "object/leak_check.h"
#include "object/report.h"
#include "object/runtime.h"
#include "object/stops.h"
#include "progress/poll.h"
#include "progress/thread_state.h"

namespace causeway {
namespace {

// Exchanged by the first thread that leaves (acq_rel); the others wait for the process to end.
std::atomic<bool> g_exiting{false};
// How this thread ends the process, if it does: what it still calls may fail.
enum class Leaving : uint8_t { no, with_code, after_error };
thread_local Leaving t_leaving = Leaving::no;
// What a remote gasnet_exit asked for, or the own one; used by the default SIGQUIT action. Relaxed:
// written and read by one process in an order its own raise() gives.
std::atomic<int> g_remote_code{1};
// Set in a delivery, taken by the next poll. Relaxed: `attention` orders it.
std::atomic<bool> g_asked{false};
constexpr int kSendTries = 64;

void on_sigquit(int) {
  exit_job(g_remote_code.load(std::memory_order_relaxed));
}

// The news travels along the hypercube edges from every rank that learns it: log2(n) messages
// each, on the reply lane so that full request queues do not stop it. A peer that is not reached
// in a few tries is left to the launcher.
void tell_others(int code) {
  if (runtime().clients.empty()) return;
  Endpoint& ep = *runtime().clients.front()->endpoint();
  const uint32_t n = runtime().size();
  const int32_t args[] = {code};
  for (uint32_t bit = 1; bit < n; bit <<= 1) {
    Peer& peer = ep.peer((runtime().rank() + bit) % n);
    cwyc_conn* conn = peer.am.load(std::memory_order_acquire);
    if (conn == &peer.stub) continue;  // never contacted: not worth a wire-up now
    for (int i = 0; i < kSendTries; ++i) {
      const cwy_status status =
          conn->ops->am_short(conn, internal_word(Internal::exit, true), args, 1, CWYC_LANE_REPLY);
      if (status != CWY_RETRY) break;
      poll_replies(ep);
    }
  }
}

// GASNET_CATCH_EXIT=0: a rank that ends by exit() is not missed. It says goodbye, and nobody else
// is told anything.
void leave_alone() {
  if (g_runtime == nullptr || g_exiting.exchange(true, std::memory_order_acq_rel)) return;
  try {
    runtime().bootstrap().finalize(std::nullopt);
  } catch (const std::exception& e) {
    log_debug("leaving without an orderly goodbye: {}", e.what());
  }
}

[[noreturn]] void say_goodbye(int code) {
  try {
    if (g_runtime != nullptr) runtime().bootstrap().finalize(code);
  } catch (const std::exception& e) {
    log_debug("leaving without an orderly goodbye: {}", e.what());
  }
  ::_exit(code);
}

// For a thread that cannot go on while the process ends. Another thread ends it, and what trouble
// this one met no longer counts; or this very thread does, and met it in its last messages.
[[noreturn]] void end_with_exit() {
  if (t_leaving == Leaving::with_code) say_goodbye(g_remote_code.load(std::memory_order_relaxed));
  if (t_leaving == Leaving::after_error) ::_exit(1);
  for (;;) ::pause();
}

// Comes back when nothing is learnt about who is missing: after `looking_ms` where somebody is
// being looked into, else after `silent_ms`. SIGQUIT ends this too.
void wait_for_verdict(uint64_t looking_ms, uint64_t silent_ms) {
  constexpr uint64_t kStepMs = 1;
  const bool surviving = runtime().survives_failures();
  for (uint64_t ms = 0;; ms += kStepMs) {
    if (exiting()) end_with_exit();
    if (!surviving) runtime().attend();
    const bool looking = !surviving && runtime().looks_into_losses();
    if (ms >= (looking ? looking_ms : silent_ms)) return;
    ::usleep(kStepMs * 1000);
  }
}

bool catches_exit() {
  const char* wish = std::getenv("GASNET_CATCH_EXIT");
  return wish == nullptr || std::strchr("nN0", wish[0]) == nullptr || wish[0] == '\0';
}

}  // namespace

bool exiting() {
  return g_exiting.load(std::memory_order_acquire);
}

void install_exit_signals() {
  if (!catches_exit()) std::atexit(leave_alone);
  struct sigaction old {};
  ::sigaction(SIGQUIT, nullptr, &old);
  if (old.sa_handler == SIG_DFL && may_catch(SIGQUIT)) {
    struct sigaction action {};
    action.sa_handler = on_sigquit;
    ::sigaction(SIGQUIT, &action, nullptr);
  }
  ::sigaction(SIGURG, nullptr, &old);
  if (old.sa_handler == SIG_DFL && may_catch(SIGURG)) {
    struct sigaction action {};
    action.sa_handler = [](int) {};  // only interrupts a sleep (service_wake)
    ::sigaction(SIGURG, &action, nullptr);
  }
}

// Inside a delivery, which holds the conduit's lane: the poll around it acts (Runtime::attend).
void on_remote_exit(Peer&, const int32_t* args, unsigned, void*, size_t) {
  ask_to_leave(args[0]);
}

void ask_to_leave(int code) {
  if (exiting()) return;
  take_exit_code(code);
  g_asked.store(true, std::memory_order_relaxed);
  runtime().attention.store(true, std::memory_order_release);
}

void on_leave_told() {
  if (catches_exit()) ask_to_leave(0);
}

void take_exit_code(int code) {
  g_remote_code.store(code, std::memory_order_relaxed);
}

bool asked_to_leave() {
  return g_asked.exchange(false, std::memory_order_relaxed);
}

void leave_as_asked() {
  struct sigaction action {};
  ::sigaction(SIGQUIT, nullptr, &action);
  // Our own action without the signal: nothing is restricted then, as it would be in a handler.
  if (action.sa_handler == on_sigquit) exit_job(g_remote_code.load(std::memory_order_relaxed));
  // The client's handler, in a thread of the client's; it calls gasnet_exit (GASNet-1 2.1.5).
  if (thread_state().internal) {
    ::kill(::getpid(), SIGQUIT);
  } else {
    ::raise(SIGQUIT);
  }
}

void exit_job(int code) {
  if (g_exiting.exchange(true, std::memory_order_acq_rel)) end_with_exit();
  // Takes a while: before anybody is told, who would then wait for this process to be gone.
  if (leaks_memory() && code == 0) code = 1;
  t_leaving = Leaving::with_code;
  g_remote_code.store(code, std::memory_order_relaxed);
  // What is beside the goodbye takes milliseconds, or is stuck.
  constexpr std::chrono::seconds kSecond(1);
  const std::chrono::nanoseconds spare =
      g_runtime != nullptr ? std::chrono::nanoseconds(runtime().config().timeouts.exit_ns)
                           : kSecond;
  limit_exit(code, static_cast<unsigned>((Bootstrap::kFinalizeWithin + spare) / kSecond) + 1);
  ::fflush(nullptr);
  if (g_runtime != nullptr) {
    print_report_at_exit();
    tell_others(code);
    ::fflush(nullptr);
  }
  say_goodbye(code);
}

void fatal_text(const char* call, const std::string& text) {
  const bool first = !g_exiting.exchange(true, std::memory_order_acq_rel);
  if (!first && t_leaving != Leaving::no) end_with_exit();
  write_client_error(fmt::format("{}: {}{}", call, text, noted_arguments(call)));
  if (!first) end_with_exit();
  t_leaving = Leaving::after_error;
  stop_on_error();
  ::fflush(nullptr);
  ::_exit(1);
}

void fatal_peer_lost(const char* call, const std::string& text) {
  // Longer than a goodbye takes to be found, and than our launcher takes to say who died.
  constexpr uint64_t kGoodbyeMs = 15'000, kLauncherMs = 1000;
  if (g_runtime != nullptr)
    wait_for_verdict(runtime().config().timeouts.exit_ns / 1'000'000 + kGoodbyeMs,
                     runtime().bootstrap().own_launcher() ? kLauncherMs : 0);
  write_client_error(fmt::format("{}: {}", call, text));
  ::fflush(nullptr);
  ::_exit(1);
}

void fatal_unreached(const char* call, const std::string& text) {
  constexpr uint64_t kGoodbyeMs = 2500;
  if (g_runtime != nullptr) wait_for_verdict(kGoodbyeMs, 0);
  fatal_text(call, text);
}

void end_without(uint32_t rank, const std::string& text) {
  if (g_runtime != nullptr && !runtime().survives_failures()) runtime().note_loss(rank, 1, text);
  fatal_peer_lost("communication", text);
}

}  // namespace causeway
