#include "loader/plugin_call.h"

#include <cxxabi.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/fatal.h"
#include "base/log.h"
#include "base/quiet_thread.h"

namespace causeway {
namespace {

struct Call {
  const PluginName& whose;
  const char* name;
  Lasting lasting;
  const pid_t process = ::getpid();  // a child of it may end as it likes
  uint64_t lasted_ns = 0;            // while this process ran: a debugger may stop it
  bool told = false;
  bool waits = false;  // for a call that was made within it
};

// Lives as long as the process: threads may be in plugins at its end.
struct Calls {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Call*> under_way;  // under `mutex`, as what follows
  uint64_t made = 0;
  bool watching = false, sleeping = false;
};
Calls& calls() {
  static auto* all = new Calls;
  return *all;
}
std::thread* g_watch = nullptr;  // of the one PluginWatch

[[gnu::tls_model("initial-exec")]] thread_local constinit Call* t_innermost = nullptr;

void name_who_exits(int status, void*) {
  end_if_in_plugin(status);
}

// A fault comes again by itself, with what it tells a debugger. A signal that another process has
// sent is no crash.
void name_who_crashes(int signal, siginfo_t* info, void*) {
  const Call* const c = t_innermost;
  const bool fault = info->si_code > 0, own = fault || info->si_pid == ::getpid();
  if (own && c != nullptr && c->process == ::getpid())
    write_line_in_handler("error: {}{}{} crashed in {} (signal {}); a debugger shows where",
                          c->whose.kind, *c->whose.kind != '\0' ? " " : "", c->whose.name, c->name,
                          signal);
  ::signal(signal, SIG_DFL);
  if (!fault) ::raise(signal);
}

class Entered {
 public:
  explicit Entered(Call& call) : call_(call), outer_(t_innermost) {
    [[maybe_unused]] static const int once = ::on_exit(name_who_exits, nullptr);
    const std::lock_guard lock(calls().mutex);
    calls().under_way.push_back(&call_);
    ++calls().made;
    if (calls().sleeping) calls().changed.notify_all();
    if (outer_ != nullptr) outer_->waits = true;
    t_innermost = &call_;
  }
  ~Entered() {
    const std::lock_guard lock(calls().mutex);
    std::erase(calls().under_way, &call_);
    if (outer_ != nullptr) outer_->waits = false;
    t_innermost = outer_;
  }
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;

 private:
  Call& call_;
  Call* const outer_;
};

constexpr uint64_t kTellNs = 10'000'000'000;

double seconds(uint64_t ns) {
  return static_cast<double>(ns) / 1e9;
}

// The call that has lasted too long as a line, or nothing. Under the mutex.
std::string look_at(Call& call, uint64_t limit_ns) {
  if (call.lasted_ns > limit_ns && call.lasting == Lasting::ends)
    return fmt::format(
        "{} has not returned from {} within {:g} s (timeouts.start); a debugger shows what it "
        "waits for, and a job that does without it leaves it out of the configuration",
        call.whose.text(), call.name, seconds(limit_ns));
  if (call.lasted_ns < std::min(kTellNs, limit_ns / 2) || call.told) return {};
  call.told = true;
  const std::string end =
      call.lasting == Lasting::is_told
          ? ""
          : fmt::format(", and ends after {:g} s (timeouts.start)", seconds(limit_ns));
  log_warn("{} has been in {} for {:.0f} s; this rank goes on when it returns{}", call.whose.text(),
           call.name, seconds(call.lasted_ns), end);
  return {};
}

// Looks once in a while as long as calls are made, and sleeps where none is for a while.
void watch(uint64_t limit_ns) {
  const uint64_t step_ns = std::clamp<uint64_t>(limit_ns / 8, 1'000'000, 1'000'000'000);
  const std::chrono::nanoseconds step(step_ns);
  std::unique_lock lock(calls().mutex);
  for (uint64_t made = 0; calls().watching;) {
    calls().sleeping = made == calls().made && calls().under_way.empty();
    if (calls().sleeping) calls().changed.wait(lock);
    calls().sleeping = false;
    made = calls().made;
    if (!calls().watching) break;
    if (calls().changed.wait_for(lock, step) != std::cv_status::timeout) continue;
    std::string text;
    for (Call* const call : calls().under_way) {
      if (call->waits) continue;
      call->lasted_ns += step_ns;
      if (text.empty()) text = look_at(*call, limit_ns);
    }
    if (text.empty()) continue;
    lock.unlock();  // the end of the process may come by here
    fatal_text("plugin", text);
  }
}

}  // namespace

void end_if_in_plugin(int status) {
  if (t_innermost == nullptr || t_innermost->process != ::getpid()) return;
  log_error("{} ended the process in {}, with status {}; a plugin must answer an error instead",
            t_innermost->whose.text(), t_innermost->name, status);
  ::_exit((status & 0xff) != 0 ? status : 1);
}

std::string PluginName::text() const {
  return fmt::format("{}{}{}", kind, *kind != '\0' ? " " : "", name);
}

cwy_status plugin_call(const PluginName& whose, const char* call, CallRef made, Lasting lasting) {
  Call entry{whose, call, lasting};
  const Entered entered(entry);
  std::string thrown = ", which must not leave a plugin";
  try {
    return made();
  } catch (const abi::__forced_unwind&) {
    throw;  // the thread ends, by pthread_exit() or pthread_cancel()
  } catch (const std::exception& e) {
    thrown = fmt::format(" ({}){}", one_line(e.what()), thrown);
  } catch (...) {
    // The interface forbids it; an author's first plugin does it all the same.
  }
  throw Error(CWY_ERR_INVALID, "{}: {} threw a C++ exception{}", whose.text(), call, thrown);
}

PluginWatch::PluginWatch(uint64_t limit_ns, bool (*may_catch)(int)) {
  name_crashes(true, may_catch);
  calls().watching = true;
  try {
    g_watch = new std::thread(quiet_thread([limit_ns] { watch(limit_ns); }));
  } catch (const Error& e) {
    log_info("a plugin that hangs is not noticed: {}", e.text());
  }
}

// Handlers that are not this one stay: they are the program's.
void PluginWatch::name_crashes(bool wanted, bool (*may_catch)(int)) {
  for (const int signal : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV}) {
    struct sigaction action {
    }, now{};
    ::sigaction(signal, nullptr, &now);
    const bool ours = now.sa_sigaction == name_who_crashes;
    if (!(wanted ? now.sa_handler == SIG_DFL && may_catch(signal) : ours)) continue;
    if (wanted) action.sa_sigaction = name_who_crashes, action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ::sigaction(signal, &action, nullptr);
  }
}

PluginWatch::~PluginWatch() {
  name_crashes(false);
  {
    const std::lock_guard lock(calls().mutex);
    calls().watching = false;
  }
  calls().changed.notify_all();
  if (g_watch != nullptr) g_watch->join();
  delete std::exchange(g_watch, nullptr);
}

}  // namespace causeway
