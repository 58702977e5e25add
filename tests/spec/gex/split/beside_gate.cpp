// Two threads of rank 0 wait, over a rail. One of them runs a handler that takes its time, and
// meanwhile more messages come, by both conduits. Where replies cross conduits one thread at a time
// is let in, so the other cannot fetch them. Would catch: a wait that takes what only the first
// thread may fetch for a reason not to sleep, and spins until that thread is done.
#include <gasnetex.h>
#include <time.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

namespace {

constexpr gex_AM_Index_t kHandler = GEX_AM_INDEX_BASE;
enum What : gex_AM_Arg_t { kBegin, kHold, kHeld, kMore, kWhats };
constexpr unsigned kMessages = 8;
constexpr auto kHeldFor = std::chrono::milliseconds(1000);
// Of the processor: a wait that sleeps takes a hundredth of a second, one that spins all that there
// is, which beside other work may be little.
constexpr double kMostSeconds = 0.1;

gex_TM_t team;
std::atomic<unsigned> come[kWhats];

void handler(gex_Token_t token, gex_AM_Arg_t what) {
  if (what == kHold) {
    gex_AM_ReplyShort1(token, kHandler, 0, kHeld);
    std::this_thread::sleep_for(kHeldFor);
  }
  come[what].fetch_add(1, std::memory_order_release);
}
void send(gex_Rank_t to, What what) {
  gex_AM_RequestShort1(team, to, kHandler, 0, what);
}
void wait_for(What what, unsigned count) {
  GASNET_BLOCKUNTIL(come[what].load(std::memory_order_acquire) == count);
}

double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// Seconds of the processor that the wait took.
double wait_for_all() {
  const double before = processor_seconds();
  wait_for(kMore, kMessages);
  return processor_seconds() - before;
}

bool rank_zero() {
  double other = 0;
  std::thread second([&] { other = wait_for_all(); });
  send(1, kBegin);
  const double mine = wait_for_all();
  second.join();
  printf("beside_gate: the waits took %.3f and %.3f s of the processor\n", mine, other);
  return mine < kMostSeconds && other < kMostSeconds;
}

void rank_one() {
  wait_for(kBegin, 1);
  send(0, kHold);
  wait_for(kHeld, 1);
  for (unsigned i = 0; i < kMessages; ++i) send(0, kMore);
}

}  // namespace

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_Client_Init(&client, &ep, &team, "BESIDE_GATE", &argc, &argv, 0);
  gex_AM_Entry_t entry{kHandler,
                       reinterpret_cast<gex_AM_Fn_t>(handler),
                       GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQREP,
                       1,
                       nullptr,
                       "handler"};
  gex_EP_RegisterHandlers(ep, &entry, 1);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  bool good = true;
  if (gex_TM_QueryRank(team) == 0) {
    good = rank_zero();
  } else {
    rank_one();
  }
  if (!good) gasnet_exit(1);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));  // before it nobody may end the job well
  gasnet_exit(0);
}
