// A thread that takes no signal meant for the process, so that the program's handlers run in the
// program's own threads. Threads that it starts (PMIx's) inherit that. within() makes a call that
// may never return in such a thread. A limit may forbid one more thread: an Error says so.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/log.h"

namespace causeway {

template <typename Body>
std::thread quiet_thread(Body&& body) {
  sigset_t blocked, before;
  sigfillset(&blocked);
  // Faults are sent to the thread that commits them; blocked, they would skip the handler.
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS})
    sigdelset(&blocked, fault);
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  struct Restore {
    const sigset_t& mask;
    ~Restore() { pthread_sigmask(SIG_SETMASK, &mask, nullptr); }
  } restore{before};
  try {
    return std::thread(std::forward<Body>(body));
  } catch (const std::system_error& e) {
    throw Error(CWY_ERR_NOMEM,
                "no thread can be started ({}); raise the limit of processes (ulimit -u) or of "
                "memory (ulimit -v)",
                e.code().message());
  }
}

// A thread that the process can do without: false, and a line of what it lacks, where none is had.
template <typename Body>
bool quiet_thread_beside(const char* lacks, Body&& body) {
  try {
    quiet_thread(std::forward<Body>(body)).detach();
    return true;
  } catch (const std::exception& e) {
    log_warn("{}: {}", lacks, e.what());
    return false;
  }
}

// The result of `body`; nothing where it has not come back within `limit`. For calls of libraries
// that have no time limit of their own: the thread is left behind in such a call, so `body` owns
// what it uses, or uses what outlives the process's end.
template <typename Body>
auto within(std::chrono::nanoseconds limit, Body body) -> std::optional<decltype(body())> {
  auto promise = std::make_shared<std::promise<decltype(body())>>();
  auto answer = promise->get_future();
  quiet_thread([promise, body = std::move(body)]() mutable {
    try {
      promise->set_value(body());
    } catch (...) {
      promise->set_exception(std::current_exception());
    }
  }).detach();
  if (answer.wait_for(limit) != std::future_status::ready) return std::nullopt;
  return answer.get();
}

}  // namespace causeway
