// A thread of rank 0 communicates while another one runs a handler that takes its time. Would
// catch: a post, a put, an answer or another message's handler that waits for that handler, since
// it runs inside of a lock; and a wait beside it that spins. Nothing is judged by the clock but the
// processor's time: the handler ends when the other thread is through, or gives up on it. With an
// argument a sender's next messages may wait for the handler of the one before, as over shm, and
// a wait need not sleep over them.
#include <gasnetex.h>
#include <time.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

#include "../../../slowdown.h"

namespace {

using std::chrono::milliseconds;
constexpr gex_AM_Index_t kHandler = GEX_AM_INDEX_BASE, kPayload = kHandler + 1;
enum What : gex_AM_Arg_t { kBegin, kHold, kHeld, kMore, kAsk, kAnswer, kSleep, kSlept, kWhats };
constexpr unsigned kMessages = 100;
constexpr size_t kBytes = 1000;
constexpr auto kPatience = milliseconds(10000);
constexpr auto kSleepFor = milliseconds(1000);
// A wait may take a hundredth of a second of the processor before it sleeps, and then as much as a
// thread that polls so many times a millisecond. The price of that is this machine's, at this load.
// A wait that spins takes all that there is.
constexpr double kMostSeconds = 0.01 * kSlowdown;
constexpr unsigned kLooksPerMs = 4;

gex_TM_t team;
std::atomic<unsigned> come[kWhats];
std::atomic<bool> through{false}, patient{true};
bool in_turn = false;

void hold() {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (!through.load(std::memory_order_acquire)) {
    if (std::chrono::steady_clock::now() > until) {
      patient.store(false, std::memory_order_relaxed);
      break;
    }
    std::this_thread::sleep_for(milliseconds(1));
  }
}

void handler(gex_Token_t token, gex_AM_Arg_t what) {
  come[what].fetch_add(1, std::memory_order_release);
  if (what == kAsk) gex_AM_ReplyShort1(token, kHandler, 0, kAnswer);
  if (what == kHold) {
    gex_AM_ReplyShort1(token, kHandler, 0, kHeld);
    hold();
  }
  if (what == kSleep) {
    std::this_thread::sleep_for(kSleepFor);
    gex_AM_ReplyShort1(token, kHandler, 0, kSlept);
  }
}
void payload_handler(gex_Token_t, void* payload, size_t nbytes, gex_AM_Arg_t what) {
  bool sound = nbytes == kBytes;
  for (size_t i = 0; i < nbytes; ++i) sound &= static_cast<char*>(payload)[i] == char(nbytes);
  if (sound) come[what].fetch_add(1, std::memory_order_release);
}

void send(gex_Rank_t to, What what) {
  gex_AM_RequestShort1(team, to, kHandler, 0, what);
}
void send_payload(gex_Rank_t to, What what) {
  char payload[kBytes];
  std::memset(payload, char(kBytes), kBytes);
  gex_AM_RequestMedium1(team, to, kPayload, payload, kBytes, GEX_EVENT_NOW, 0, what);
}
void wait_for(What what, unsigned count) {
  GASNET_BLOCKUNTIL(come[what].load(std::memory_order_acquire) >= count);
}
// Without a poll: the handler runs on the other thread.
void look_for(What what) {
  while (come[what].load(std::memory_order_acquire) == 0)
    std::this_thread::sleep_for(milliseconds(1));
}

double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// The price of a nap of a millisecond, and of a poll that finds nothing.
double seconds_per_look() {
  constexpr unsigned kLooks = 50;
  const double before = processor_seconds();
  for (unsigned i = 0; i < kLooks; ++i) {
    std::this_thread::sleep_for(milliseconds(1));
    gasnet_AMPoll();
  }
  return (processor_seconds() - before) / kLooks;
}

void communicate(void* remote) {
  look_for(kHold);
  char sent[kBytes], got[kBytes];
  std::memset(sent, 1, kBytes);
  send_payload(1, kMore);
  gex_RMA_PutBlocking(team, 1, remote, sent, kBytes, 0);
  gex_RMA_GetBlocking(team, got, 1, remote, kBytes, 0);
  send(1, kAsk);
  wait_for(kAnswer, 1);
  if (!in_turn) wait_for(kMore, kMessages);
  through.store(std::memcmp(sent, got, kBytes) == 0, std::memory_order_release);
}

bool rank_zero(void* remote) {
  double waited = 0, most = 0;
  std::thread second([&] {
    communicate(remote);
    send(1, kBegin);
    look_for(kSleep);
    most = kMostSeconds + double(kSleepFor.count() * kLooksPerMs) * seconds_per_look();
    const double before = processor_seconds();
    wait_for(kAnswer, 2);
    waited = processor_seconds() - before;
  });
  send(1, kBegin);
  wait_for(kHeld, 1);  // comes with the answer to kSleep
  second.join();
  const bool was_patient = patient.load(std::memory_order_relaxed);
  printf("long_handler: %s; the wait took %.3f s of the processor, of %.3f\n",
         was_patient ? "nobody waited" : "calls wait for another thread's handler", waited, most);
  return was_patient && (in_turn || waited < most);
}

void rank_one() {
  wait_for(kBegin, 1);
  send(0, kHold);
  wait_for(kHeld, 1);
  for (unsigned i = 0; i < kMessages; ++i) send_payload(0, kMore);
  wait_for(kBegin, 2);
  send(0, kSleep);
  wait_for(kSlept, 1);
  send(0, kAnswer);
  send(0, kHeld);
}

}  // namespace

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_Segment_t segment;
  gex_Client_Init(&client, &ep, &team, "LONG_HANDLER", &argc, &argv, 0);
  const gex_Flags_t both = GEX_FLAG_AM_REQREP;
  gex_AM_Entry_t entries[] = {{kHandler, reinterpret_cast<gex_AM_Fn_t>(handler),
                               GEX_FLAG_AM_SHORT | both, 1, nullptr, "handler"},
                              {kPayload, reinterpret_cast<gex_AM_Fn_t>(payload_handler),
                               GEX_FLAG_AM_MEDIUM | both, 1, nullptr, "payload_handler"}};
  gex_EP_RegisterHandlers(ep, entries, 2);
  gex_Segment_Attach(&segment, team, 1 << 16);
  void* remote = nullptr;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, 1, &remote, nullptr, nullptr, 0));
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  in_turn = argc > 1;
  bool good = true;
  if (gex_TM_QueryRank(team) == 0) {
    good = rank_zero(remote);
  } else {
    rank_one();
  }
  if (!good) gasnet_exit(1);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));  // before it nobody may end the job well
  gasnet_exit(0);
}
