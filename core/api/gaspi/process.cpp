#include "api/gaspi/process.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>

#include "api/gaspi/world.h"
#include "base/clock.h"
#include "base/quiet_thread.h"
#include "process/runtime.h"
#include "thread/thread_state.h"

namespace causeway::gaspi {
namespace {

// Asks `rank` with a control message that is answered, once, however many calls it takes to wait.
gaspi_return_t ask(World& w, uint32_t rank, ControlMessage message, Deadline& deadline) {
  const std::pair key{rank, message};
  {
    const std::lock_guard lock(w.process_mutex);
    if (w.asked.emplace(key, World::Asked::waiting).second) post(w, rank, message, {});
  }
  const gaspi_return_t result = wait_for(deadline, [&] {
    const std::lock_guard lock(w.process_mutex);
    const auto found = w.asked.find(key);
    if (found == w.asked.end() || found->second == World::Asked::answered) return GASPI_SUCCESS;
    const bool lost = found->second == World::Asked::lost || w.is_corrupt(rank);
    return lost ? GASPI_ERROR : GASPI_TIMEOUT;
  });
  if (result != GASPI_TIMEOUT) {
    const std::lock_guard lock(w.process_mutex);
    w.asked.erase(key);
  }
  return result;
}

void answer(World& w, uint32_t to, ControlMessage message) {
  post(w, to, ControlMessage::answer, {static_cast<uint64_t>(message)});
}

// The pid of the rank's process where pids mean the same to both processes; else 0.
pid_t reachable_process(World& w, uint32_t rank) {
  return rank != w.rank ? static_cast<pid_t>(runtime().job().pid_here(rank)) : 0;
}

// A stopped process reads no control message and takes no signal before it goes on, and may be
// stopped at any time before it has read the message. Lets it go on, and returns when to look
// again, in nanoseconds: a process of another host is reached by the launcher.
uint64_t let_go_on(World& w, uint32_t rank) {
  constexpr uint64_t kByItself = 50'000'000, kByLauncher = 500'000'000;
  if (const pid_t pid = reachable_process(w, rank); pid > 0) {
    ::kill(pid, SIGCONT);
    return kByItself;
  }
  runtime().bootstrap().let_go_on(rank);
  return kByLauncher;
}

gaspi_return_t kill_by_message(World& w, uint32_t rank, Deadline& deadline) {
  const std::pair key{rank, ControlMessage::kill};
  {
    const std::lock_guard lock(w.process_mutex);
    if (w.asked.emplace(key, World::Asked::waiting).second) post(w, rank, ControlMessage::kill, {});
  }
  uint64_t look_again = 0;
  const gaspi_return_t result = wait_for(deadline, [&] {
    if (w.is_corrupt(rank) || w.leaving[rank].load(std::memory_order_relaxed)) return GASPI_SUCCESS;
    if (const uint64_t now = now_ns(); now >= look_again) look_again = now + let_go_on(w, rank);
    // It may have been replaced already.
    const std::lock_guard lock(w.process_mutex);
    const auto found = w.asked.find(key);
    const bool lost = found != w.asked.end() && found->second == World::Asked::lost;
    return lost ? GASPI_SUCCESS : GASPI_TIMEOUT;
  });
  if (result != GASPI_TIMEOUT) {
    const std::lock_guard lock(w.process_mutex);
    w.asked.erase(key);
  }
  return result;
}

// Called in a handler of a signal that interrupted a poll of this thread. Until the handler
// returns, the poll holds the locks that a control message needs, so a wait for one would never
// end. A process of this host is sent the signal from here. For another one the control message is
// left to a thread that waits for the end of the poll. Nothing here waits for a lock.
gaspi_return_t kill_from_inside(World& w, uint32_t rank) {
  if (w.is_corrupt(rank) || w.leaving[rank].load(std::memory_order_relaxed)) return GASPI_SUCCESS;
  if (const pid_t pid = reachable_process(w, rank); pid > 0) {
    const bool told = ::kill(pid, SIGINT) == 0 || errno == ESRCH;
    ::kill(pid, SIGCONT);
    return told ? GASPI_SUCCESS : GASPI_ERROR;
  }
  w.kill_is_open.store(true, std::memory_order_relaxed);
  quiet_thread([&w, rank] {
    enter_as_internal_thread();
    Deadline patience("gaspi_proc_kill()", 2000, rank);
    kill_by_message(w, rank, patience);
  }).detach();
  return GASPI_ERROR;
}

}  // namespace

gaspi_return_t connect(World& w, uint32_t rank, Deadline& deadline) {
  if (w.is_corrupt(rank)) return GASPI_ERROR;
  if (!w.usable[rank].load(std::memory_order_relaxed)) {
    const gaspi_return_t asked = ask(w, rank, ControlMessage::connect, deadline);
    if (asked != GASPI_SUCCESS) return asked;
    w.usable[rank].store(true, std::memory_order_relaxed);
  }
  return wait_for(deadline, [&] { return try_connect(w, rank); });
}

// The connection itself is shared with every other client of the process and stays; what ends is
// the right to use it.
gaspi_return_t disconnect(World& w, uint32_t rank, Deadline& deadline) {
  if (w.is_corrupt(rank)) return GASPI_SUCCESS;
  w.usable[rank].store(false, std::memory_order_relaxed);
  return ask(w, rank, ControlMessage::disconnect, deadline);
}

gaspi_return_t ping(World& w, uint32_t rank, Deadline& deadline) {
  return w.is_corrupt(rank) ? GASPI_ERROR : ask(w, rank, ControlMessage::ping, deadline);
}

gaspi_return_t kill_process(World& w, uint32_t rank, Deadline& deadline) {
  if (__builtin_expect(thread_state().polls(), 0)) return kill_from_inside(w, rank);
  return kill_by_message(w, rank, deadline);
}

void print_line(uint32_t from, const std::string& text) {
  ::fprintf(stdout, "[Rank %4u]: %s", from, text.c_str());
  ::fflush(stdout);
}

void on_process_message(World& w, uint32_t from, ControlMessage message, const Header& header,
                        const std::string& text) {
  switch (message) {
    case ControlMessage::kill: {
      {
        const std::lock_guard lock(w.process_mutex);
        w.killers.push_back(from);
      }
      ::kill(::getpid(), SIGINT);
      return;
    }
    case ControlMessage::leaving:
      return w.leaving[from].store(true, std::memory_order_relaxed);
    case ControlMessage::connect:
      if (!w.is_corrupt(from)) w.usable[from].store(true, std::memory_order_relaxed);
      return answer(w, from, message);
    case ControlMessage::disconnect:
      if (from != w.rank) w.usable[from].store(false, std::memory_order_relaxed);
      return answer(w, from, message);
    case ControlMessage::ping:
      return answer(w, from, message);
    case ControlMessage::answer: {
      const std::lock_guard lock(w.process_mutex);
      const auto found = w.asked.find({from, static_cast<ControlMessage>(header.a)});
      if (found != w.asked.end()) found->second = World::Asked::answered;
      return;
    }
    case ControlMessage::print:
      return print_line(from, text);
    default:
      return;
  }
}

}  // namespace causeway::gaspi
