// A program whose first thread leaves by pthread_exit() and whose worker goes on for a while.
//
// Catches: a process that stays for ever behind its last thread, since threads of libraries do; one
// that ends while the worker works; one that counts as dead because the kernel shows nothing of it
// under the number of its first thread. Arguments: `blocked`, with signals blocked, as programs do
// that have one thread for them; `strangers`, without a contact among ranks before.
#include <gasnet_coll.h>
#include <gasnetex.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace {

std::atomic<bool> done{false};

void meet(gex_TM_t tm) {
  gex_Segment_t segment;
  if (gex_Segment_Attach(&segment, tm, 1 << 20) != GASNET_OK) ::_exit(8);
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
}

void exchange(gex_TM_t tm) {
  // Memory on a stack is reached by the kernel's help.
  static char there[1 << 20];
  char here[1 << 16] = {1};
  gex_Rank_t next = (gex_TM_QueryRank(tm) + 1) % gex_TM_QuerySize(tm);
  void* at = nullptr;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, next, &at, nullptr, nullptr, 0));
  gex_RMA_PutBlocking(tm, next, at, here, sizeof here, 0);
  gex_Event_Wait(gex_Coll_BroadcastNB(tm, 0, there, there, sizeof there, 0));
}

void work(gex_TM_t tm, bool strangers) {
  ::usleep(300'000);
  if (strangers) meet(tm);
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  if (strangers) exchange(tm);
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
  const auto wished = [=](const char* word) { return argc > 1 && std::strcmp(argv[1], word) == 0; };
  sigset_t all;
  sigfillset(&all);
  if (wished("blocked")) ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
  const bool strangers = wished("strangers");
  if (!strangers) meet(tm);
  std::thread(work, tm, strangers).detach();
  ::pthread_exit(nullptr);
}
