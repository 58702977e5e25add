// Partner: the second process of a case, and the zygote that makes it.
//
// The zygote is forked from the harness before anything else happens, so that partners are
// copies of a process without threads and without the plugin; being copies, they have every
// function at the same address, and a case can name what its partner shall do by a function
// pointer: `partner.call(function, argument)`.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <type_traits>

#include "clock.h"
#include "plugin_host.h"

namespace causeway::conformance {

struct Side;

// Memory that all processes of the suite share, for signals that must not use the conduit under
// test. Zeroed before each case. Sequentially consistent everywhere: it is never on a fast path.
struct Blackboard {
  std::atomic<uint64_t> slot[64];
};
Blackboard& blackboard();

class Zygote {
 public:
  // Forks it. `settings` are what partners will use.
  static void start(const Settings& settings);
  // Makes a partner; returns its end of the control connection.
  static int spawn(uint32_t epoch, pid_t& pid);
  // SIGKILL (or only waiting, when it ends by itself) and reaping. Returns the wait status.
  static int kill_and_reap(pid_t pid);
  static void stop();
};

using Thunk = void (*)(Side&, void (*fn)(), const void* arg, void* result);
inline constexpr size_t kMaxTransfer = 8192;

class Partner {
 public:
  explicit Partner(uint32_t epoch);
  ~Partner();
  Partner(const Partner&) = delete;
  Partner& operator=(const Partner&) = delete;

  // Run between calls of partner functions; by default the partner makes progress there.
  void hold();  // no more progress
  void resume();

  // Begins fn(side, argument) in the partner.
  template <typename A, typename R>
  void start(R (*fn)(Side&, const A&), const A& argument) {
    static_assert(std::is_trivially_copyable_v<A> && std::is_trivially_copyable_v<R>);
    static_assert(sizeof(A) <= kMaxTransfer && sizeof(R) <= kMaxTransfer);
    send_call(thunk<A, R>, reinterpret_cast<void (*)()>(fn), &argument, sizeof(A));
  }
  // Waits for its result, calling `meanwhile` again and again. Throws Stuck with the partner's
  // own words when it failed there.
  template <typename R>
  R finish(const std::function<void()>& meanwhile, double seconds = 30.0) {
    R result;
    receive_result(&result, sizeof result, meanwhile, seconds);
    return result;
  }

  pid_t pid() const { return pid_; }
  uint32_t epoch() const { return epoch_; }
  bool alive() const { return fd_ >= 0; }
  void kill();  // SIGKILL, and reaped on return
  // It has closed everything: what is left behind from now on is the conduit's fault.
  void closed() { closed_ = true; }
  // Whether a partner was killed with its endpoint open since the last call.
  static bool killed_open();

 private:
  template <typename A, typename R>
  static void thunk(Side& side, void (*fn)(), const void* arg, void* result) {
    A argument;
    std::memcpy(&argument, arg, sizeof argument);
    const R value = reinterpret_cast<R (*)(Side&, const A&)>(fn)(side, argument);
    std::memcpy(result, &value, sizeof value);
  }
  void send_call(Thunk run, void (*fn)(), const void* arg, size_t length);
  void receive_result(void* result, size_t length, const std::function<void()>& meanwhile,
                      double seconds);
  [[noreturn]] void died();

  int fd_ = -1;
  pid_t pid_ = -1;
  uint32_t epoch_;
  bool closed_ = false;
};

}  // namespace causeway::conformance
