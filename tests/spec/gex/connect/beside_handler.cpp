// A thread connects to a rank for the first time while another one runs a handler, inside the
// conduit, whose reply connects to another rank. Each needs what the other holds: the right to
// connect, and the conduit. Would catch: two threads that wait for each other (the time limit ends
// the job).
//
// Rank 0 has three threads: the main one waits, one polls and runs the handlers, one connects. No
// collective comes before, so that most ranks have not met.
#include <gasnetex.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

namespace {

enum : gex_AM_Index_t { kAsk = GEX_AM_INDEX_BASE, kAnswer, kHello };

gex_TM_t team;
gex_Rank_t rank, size;
std::atomic<unsigned> in_handler{0};  // how many handlers of kAsk have begun on rank 0
std::atomic<unsigned> connecting{0};  // for how many of them a thread goes to connect
std::atomic<unsigned> answers{0}, hellos{0};
std::atomic<bool> ended{false};

void wait_for(const std::atomic<unsigned>& count, unsigned wanted) {
  while (count.load(std::memory_order_acquire) < wanted) std::this_thread::yield();
}

void ask(gex_Token_t token) {
  const unsigned mine = in_handler.fetch_add(1, std::memory_order_acq_rel) + 1;
  // Not for ever: the other thread may still be at the rank before, and wait for this one.
  for (int i = 0; i < 100 && connecting.load(std::memory_order_acquire) < mine; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  // It says so just before it begins: this is how long it may take to get there.
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  gex_AM_ReplyShort0(token, kAnswer, 0);
}
void answer(gex_Token_t) {
  answers.fetch_add(1, std::memory_order_release);
}
void hello(gex_Token_t) {
  hellos.fetch_add(1, std::memory_order_release);
}

void rank_zero() {
  const unsigned asking = size / 2;  // the odd ranks ask, the even ones are connected to
  std::thread poller([] {
    while (!ended.load(std::memory_order_acquire)) gasnet_AMPoll();
  });
  std::thread connector([asking] {
    for (unsigned i = 0; i < asking; ++i) {
      wait_for(in_handler, i + 1);
      connecting.store(i + 1, std::memory_order_release);
      const gex_Rank_t to = 2 * (i + 1);
      if (to < size) gex_AM_RequestShort0(team, to, kHello, 0);
    }
  });
  connector.join();
  ended.store(true, std::memory_order_release);
  poller.join();
}

}  // namespace

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_Client_Init(&client, &ep, &team, "BESIDE_HANDLER", &argc, &argv, 0);
  gex_AM_Entry_t handlers[] = {{kAsk, reinterpret_cast<gex_AM_Fn_t>(ask),
                                GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, nullptr, "ask"},
                               {kAnswer, reinterpret_cast<gex_AM_Fn_t>(answer),
                                GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0, nullptr, "answer"},
                               {kHello, reinterpret_cast<gex_AM_Fn_t>(hello),
                                GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, nullptr, "hello"}};
  gex_EP_RegisterHandlers(ep, handlers, sizeof handlers / sizeof *handlers);
  rank = gex_TM_QueryRank(team);
  size = gex_TM_QuerySize(team);
  // Everybody's handlers must be there before anybody asks; the wait does not connect ranks.
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  if (rank == 0) {
    rank_zero();
  } else if (rank % 2 == 1) {
    gex_AM_RequestShort0(team, 0, kAsk, 0);
    GASNET_BLOCKUNTIL(answers.load(std::memory_order_acquire) == 1);
  } else {
    GASNET_BLOCKUNTIL(hellos.load(std::memory_order_acquire) == 1);
  }
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  if (rank == 0) std::puts("connected beside handlers");
  gasnet_exit(0);
}
