#include "process/exit.h"

#include <fmt/core.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>

#include "am/internal.h"
#include "base/call_arguments.h"
#include "base/fatal.h"
#include "base/log.h"
#include "base/quiet_thread.h"
#include "object/client.h"
#include "object/connect.h"
#include "process/departed.h"
#include "process/interrupted.h"
#include "process/leak_check.h"
#include "process/linger.h"
#include "process/progress_thread.h"
#include "process/report.h"
#include "process/runtime.h"
#include "process/status.h"
#include "process/stops.h"
#include "progress/poll.h"
#include "thread/thread_state.h"

namespace causeway {
namespace {

// How this thread ends the process, if it does: what it still calls may fail.
enum class Leaving : uint8_t { no, with_code, after_error };
thread_local Leaving t_leaving = Leaving::no;
// The code that leave_as_asked() and SIGQUIT's default action leave with. Relaxed: written and read
// by one process in an order its own raise() gives.
std::atomic<int> g_quit_code{1};
// The first code other than 0 that a remote gasnet_exit had; 0: none had. The job's status is that
// one, whatever this rank leaves with then, in a handler of SIGQUIT for one. Relaxed: a number.
std::atomic<int> g_told_code{0};
// Set by the thread that waits for the others' patience to end, taken by the next poll. Relaxed:
// `attention` orders it.
std::atomic<bool> g_asked{false};
// The exit() of this process is the rank's end: a process that it has forked leaves nothing.
pid_t g_pid = 0;
// Ranks that leave together with a code need so long to come to it, and hear of each other before.
constexpr uint64_t kTogetherNs = 200'000'000;
// The longest that a rank stays for others that go on.
constexpr uint64_t kLongestLinger = 5'000'000'000;
constexpr int kSendTries = 64;

void on_sigquit(int) {
  end_lingering();
  exit_job(g_quit_code.load(std::memory_order_relaxed));
}

// ---- a process that does not get out of gasnet_exit ----

// Written before the alarm is set, read after it went off, in one process: relaxed.
std::atomic<int> g_limit_code{1};
std::atomic<unsigned> g_limit_seconds{0};
std::atomic<uint64_t> g_limit_ns{0};  // SIGALRM comes earlier from a timer of the program's

void on_abort(int) {
  ::_exit(g_limit_code.load(std::memory_order_relaxed));
}

void on_limit(int) {
  if (now_ns() + 500'000'000 < g_limit_ns.load(std::memory_order_relaxed)) return void(::alarm(1));
  write_line_in_handler(
      "gasnet_exit has not ended after {} s (was it called in a handler, or does a thread keep "
      "stdout locked?): ended without a goodbye",
      g_limit_seconds.load(std::memory_order_relaxed));
  ::_exit(g_limit_code.load(std::memory_order_relaxed));
}

// From now on the process has so many seconds before it ends with `code` as it stands, with a line
// on stderr. gasnet_exit may be called in a signal's handler (GASNet-1 specification 2.1.5), and
// what that interrupted may hold a lock of the C library which the goodbye needs. Calls nothing but
// what POSIX allows in a handler; takes SIGALRM and the alarm away from the program, which is
// leaving. Any thread.
//
// SIGABRT ends it with `code` too: a library's own farewell may abort (UCX 1.13's does where a peer
// goes while they introduce themselves), and what the process had to say it has said.
void limit_exit(int code, unsigned seconds) {
  g_limit_code.store(code, std::memory_order_relaxed);
  g_limit_seconds.store(seconds, std::memory_order_relaxed);
  g_limit_ns.store(now_ns() + seconds * 1'000'000'000ull, std::memory_order_relaxed);
  struct sigaction action {};
  action.sa_handler = on_limit;
  ::sigaction(SIGALRM, &action, nullptr);
  action.sa_handler = on_abort;
  ::sigaction(SIGABRT, &action, nullptr);
  sigset_t alarms;
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  ::pthread_sigmask(SIG_UNBLOCK, &alarms, nullptr);
  ::alarm(seconds);
}

// The program goes on: its own handlers of exit() have as long as they like, and may abort.
void unlimit_exit() {
  ::alarm(0);
  ::signal(SIGABRT, SIG_DFL);
}

// ---- leaving ----

bool catches_exit() {
  const char* wish = std::getenv("GASNET_CATCH_EXIT");
  return wish == nullptr || std::strchr("nN0", wish[0]) == nullptr || wish[0] == '\0';
}

// The news travels along the hypercube edges from every rank that learns it: log2(n) messages
// each, on the reply lane so that full request queues do not stop it. A peer that is not reached
// in a few tries is left to the launcher. Our launcher tells of a 0 itself, to those that stay.
void tell_others(int code) {
  if (runtime().clients.empty()) return;
  if (code == 0 && runtime().bootstrap().own_launcher()) return;
  if (!may_enter_conduits()) return;  // the launcher tells them
  Endpoint& ep = *runtime().clients.front()->endpoint();
  const uint32_t n = runtime().size();
  const int32_t args[] = {code};
  for (uint32_t bit = 1; bit < n; bit <<= 1) {
    const Peer* const peer = ep.met(0, (runtime().rank() + bit) % n);
    cwyc_conn* conn = peer != nullptr ? peer->am.load(std::memory_order_acquire) : nullptr;
    if (conn == nullptr || is_stub(conn)) continue;  // never contacted: not worth a wire-up now
    for (int i = 0; i < kSendTries; ++i) {
      const cwy_status status =
          conn->ops->am_short(conn, internal_word(Internal::exit, true), args, 1, CWYC_LANE_REPLY);
      if (status != CWY_RETRY) break;
      poll_replies(ep.conduit_eps());
    }
  }
}

void say_goodbye(std::optional<int> said) {
  try {
    if (g_runtime != nullptr) runtime().bootstrap().finalize(said);
  } catch (const std::exception& e) {
    log_debug("process: leaves without an orderly goodbye: {}", e.what());
  }
}

uint64_t exit_patience() {
  return std::min(runtime().config().timeouts.exit_ns, kLongestLinger);
}

// All but the end of the process. `said`: nothing where it leaves alone.
void leave(int status, std::optional<int> said) {
  t_leaving = Leaving::with_code;
  g_quit_code.store(status, std::memory_order_relaxed);
  // All but the goodbye takes milliseconds, or is stuck.
  constexpr std::chrono::seconds kSecond(1);
  const std::chrono::nanoseconds spare =
      g_runtime != nullptr ? std::chrono::nanoseconds(runtime().config().timeouts.exit_ns)
                           : kSecond;
  limit_exit(status, static_cast<unsigned>((Bootstrap::kFinalizeWithin + spare) / kSecond) + 1);
  ::fflush(nullptr);
  if (g_runtime != nullptr) {
    show_phase(StatusPage::leaves);
    log_debug("process: leaves with status {}{}", status, said ? "" : ", the others stay");
    print_report_at_exit();
    const bool met = runtime().bootstrap().begin_leave(said);
    if (said) tell_others(*said);
    if (met && runtime().size() > 1) linger(said.value_or(0) == 0 ? exit_patience() : kTogetherNs);
    ::fflush(nullptr);
  }
  say_goodbye(said);
}

// Objects of libraries end next, and threads of the client's may be polling.
void end_polls_of_others() {
  end_polls();
  end_status();
}

// The program calls exit(), or its main returns. With a status it is gasnet_exit; with 0, or where
// exit() is not to be caught, this rank leaves alone: it says goodbye, and nobody else is told
// anything. Ranks of a program that survives failures take leave by its own call, or are missed.
void leave_at_exit(int status, void*) {
  if (g_runtime == nullptr || ::getpid() != g_pid || runtime().survives_failures()) return;
  end_if_in_plugin(status);
  if (exiting()) return;
  stop_progress_thread();
  if (g_exiting.exchange(true, std::memory_order_acq_rel)) return;
  status &= 0xff;
  leave(status, status != 0 && catches_exit() ? std::optional(status) : std::nullopt);
  end_polls_of_others();
  unlimit_exit();
}

// When objects of the program and libraries end, behind the program's own handlers of exit(): what
// comes now is the farewell of libraries, among them those that conduits brought, which were loaded
// later than this one. What they do, or cannot end, is not this rank's status any more.
__attribute__((destructor)) void limit_libraries() {
  if (g_runtime == nullptr || ::getpid() != g_pid) return;
  if (!exiting()) return end_polls_of_others();  // a program that took leave by its own call
  limit_exit(g_quit_code.load(std::memory_order_relaxed),
             static_cast<unsigned>(exit_patience() / 1'000'000'000) + 1);
}

// Ends a thread that met trouble while the process leaves. Where another thread ends the process
// the trouble no longer counts; where this thread does, it met the trouble in its last messages, or
// is in a handler of exit() that was registered before the start, and may still name a code.
[[noreturn]] void end_with_exit(int named = 0) {
  if (t_leaving == Leaving::with_code) {
    const int left = g_quit_code.load(std::memory_order_relaxed), code = left != 0 ? left : named;
    say_goodbye(code);
    ::_exit(code);
  }
  if (t_leaving == Leaving::after_error) ::_exit(1);
  for (;;) ::pause();
}

// The goodbye is the rank's, and the threads that would carry it stayed with the parent.
[[noreturn]] void end_forked_child(int code) {
  limit_exit(code, 2);  // a thread of the parent's may have held stdout
  ::fflush(nullptr);
  ::_exit(code);
}

// Returns when nothing is learnt about the missing peer: after `looking_ms` where a peer is being
// looked into, else after `silent_ms`. SIGQUIT ends this too.
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

}  // namespace

void leave_before_new_libraries() {
  ::on_exit(leave_at_exit, nullptr);  // the first of them to run leaves
}

void install_exit_signals() {
  g_pid = ::getpid();
  note_usual_signals();
  leave_before_new_libraries();
  struct sigaction old {};
  ::sigaction(SIGQUIT, nullptr, &old);
  if (old.sa_handler == SIG_DFL && may_catch(SIGQUIT)) {
    struct sigaction action {};
    action.sa_handler = on_sigquit;
    ::sigaction(SIGQUIT, &action, nullptr);
  }
  listen_for_questions();
}

// Inside a delivery, which holds the conduit's lane: a poll acts later (Runtime::attend).
void on_remote_exit(Peer&, const int32_t* args, unsigned, void*, size_t) {
  told_of_exit(args[0]);
}

void told_of_exit(int code) {
  if (exiting()) return;
  code &= 0xff;
  int none = 0;
  if (code != 0) g_told_code.compare_exchange_strong(none, code, std::memory_order_relaxed);
  // To stay for a while after a 0 is no fault, and our launcher says when it is over.
  if (code == 0 && runtime().bootstrap().own_launcher()) return;
  const int told = g_told_code.load(std::memory_order_relaxed);
  g_quit_code.store(told != 0 ? told : code, std::memory_order_relaxed);
  static std::atomic<bool> waiting[2];  // for a 0, and for another code. Relaxed: flags alone
  if (waiting[code != 0].exchange(true, std::memory_order_relaxed)) return;
  const uint64_t ns = code == 0 ? runtime().config().timeouts.exit_ns : kTogetherNs;
  // A thread waits, so that polls of this rank in all that time need no look at the clock.
  const auto leave_in = [](uint64_t wait) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(wait));
    if (exiting()) return;
    g_asked.store(true, std::memory_order_relaxed);
    runtime().attention.store(true, std::memory_order_release);
  };
  if (!quiet_thread_beside("leaves at once", [=] { leave_in(ns); })) leave_in(0);
}

bool asked_to_leave() {
  return g_asked.exchange(false, std::memory_order_relaxed);
}

void leave_as_asked() {
  end_lingering();  // the job ends: who leaves now waits for nobody
  struct sigaction action {};
  ::sigaction(SIGQUIT, nullptr, &action);
  // Our own action without the signal: nothing is restricted then, as it would be in a handler.
  if (action.sa_handler == on_sigquit) exit_job(g_quit_code.load(std::memory_order_relaxed));
  // The client's handler, in a thread of the client's; it calls gasnet_exit (GASNet-1 2.1.5).
  if (thread_state().internal)
    ::kill(::getpid(), SIGQUIT);
  else
    ::raise(SIGQUIT);
}

void exit_job(int code) {
  if (g_pid != 0 && ::getpid() != g_pid) end_forked_child(code & 0xff);
  if (g_exiting.exchange(true, std::memory_order_acq_rel)) end_with_exit(code & 0xff);
  const int told = g_told_code.load(std::memory_order_relaxed);
  code = told != 0 ? told : code & 0xff;
  // The look for leaks takes a while, so it comes before the others are told, who then wait for
  // this process to be gone.
  if (leaks_memory() && code == 0) code = 1;
  leave(code, code);
  ::_exit(code);
}

void end_for_mistake(const char* call, const std::string& text) {
  const bool first = !g_exiting.exchange(true, std::memory_order_acq_rel);
  if (!first && t_leaving != Leaving::no) end_with_exit();
  write_client_error(fmt::format("{}: {}{}", call, text, noted_arguments(call)));
  if (!first) end_with_exit();
  t_leaving = Leaving::after_error;
  stop_on_error();
  limit_exit(1, 2);  // a thread that hangs may hold a file of stdio's
  ::fflush(nullptr);
  ::_exit(1);
}

namespace {

// Longer than our launcher takes to say who died, and to end the others.
constexpr uint64_t kLauncherMs = 1000;

// `more` is asked when the line is written: what has become of the peer.
template <typename More>
[[noreturn]] void say_peer_lost(const char* call, const std::string& text, More&& more) {
  constexpr uint64_t kGoodbyeMs = 15'000;  // longer than a goodbye takes to be found
  if (g_runtime != nullptr)
    wait_for_verdict(runtime().config().timeouts.exit_ns / 1'000'000 + kGoodbyeMs,
                     runtime().bootstrap().own_launcher() ? kLauncherMs : 0);
  write_client_error(fmt::format("{}: {}{}", call, text, more()));
  ::fflush(nullptr);
  ::_exit(1);
}

}  // namespace

void wait_for_launcher() {
  if (g_runtime == nullptr || !runtime().bootstrap().own_launcher()) return;
  wait_for_verdict(kLauncherMs, kLauncherMs);
}

void end_for_lost_peer(const char* call, const std::string& text) {
  say_peer_lost(call, text, [] { return ""; });
}

void end_for_unreached(const char* call, const std::string& text) {
  constexpr uint64_t kGoodbyeMs = 2500;
  if (g_runtime != nullptr) wait_for_verdict(kGoodbyeMs, 0);
  end_for_mistake(call, text);
}

void end_for_missing(uint32_t rank, const std::string& text) {
  if (g_runtime != nullptr && !runtime().survives_failures()) runtime().note_loss(rank, 1, text);
  // Known by the time the line is written, if at all.
  const auto words = [rank] { return departed_words(rank); };
  say_peer_lost("communication", text, words);
}

}  // namespace causeway
