// A thread that takes no signal meant for the process: the program's handlers run in its own
// threads, as if ours did not exist. Threads that it starts (PMIx's) inherit that.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <thread>
#include <utility>

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
  return std::thread(std::forward<Body>(body));
}

}  // namespace causeway
