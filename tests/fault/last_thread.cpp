// A program whose first thread leaves by pthread_exit() and whose worker goes on for a while.
//
// Catches: a process that stays for ever behind its last thread, since threads of libraries do; one
// that ends while the worker works.
#include <gasnetex.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>

namespace {

std::atomic<bool> done{false};

void work(gex_TM_t tm) {
  ::usleep(300'000);
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  ::usleep(100'000);
  done.store(true);
}

}  // namespace

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t tm;
  if (gex_Client_Init(&client, &ep, &tm, "LAST_THREAD", &argc, &argv, 0) != GASNET_OK) return 1;
  std::atexit([] {
    if (!done.load()) ::_exit(7);
  });
  // Signals blocked, as programs do that have one thread for them.
  sigset_t all;
  sigfillset(&all);
  if (argc > 1) ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
  // Connected before: what the kernel tells of a process goes with its first thread.
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  std::thread(work, tm).detach();
  ::pthread_exit(nullptr);
}
