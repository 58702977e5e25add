// Rank 1 computes for longer than every limit of the configuration, without a call of the library,
// while rank 0 speaks to it: for the first time by a message, or by a put of more than lies in the
// kernel's buffers. Would catch: silence that is taken for a death (rank 0 ends the job).
//
// spec_gex_busy_peer am|put SECONDS
#include <gasnetex.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

enum : gex_AM_Index_t { kAsk = GEX_AM_INDEX_BASE, kAnswer };
using Clock = std::chrono::steady_clock;

gex_TM_t team;
std::atomic<unsigned> answers{0};

void ask(gex_Token_t token) {
  gex_AM_ReplyShort0(token, kAnswer, 0);
}
void answer(gex_Token_t) {
  answers.fetch_add(1, std::memory_order_relaxed);
}

void compute(double seconds) {
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (Clock::now() < end) {
  }
}

void speak() {
  gex_AM_RequestShort0(team, 1, kAsk, 0);
  GASNET_BLOCKUNTIL(answers.load(std::memory_order_relaxed) == 1);
}

void put_all(size_t bytes) {
  void* there = nullptr;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, 1, &there, nullptr, nullptr, 0));
  const std::vector<char> data(bytes, 7);
  std::vector<char> back(bytes);
  gex_RMA_PutBlocking(team, 1, there, const_cast<char*>(data.data()), bytes, 0);
  gex_RMA_GetBlocking(team, back.data(), 1, there, bytes, 0);
  if (back != data) std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_Client_Init(&client, &ep, &team, "BUSY_PEER", &argc, &argv, 0);
  gex_AM_Entry_t handlers[] = {{kAsk, reinterpret_cast<gex_AM_Fn_t>(ask),
                                GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, nullptr, "ask"},
                               {kAnswer, reinterpret_cast<gex_AM_Fn_t>(answer),
                                GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0, nullptr, "answer"}};
  gex_EP_RegisterHandlers(ep, handlers, sizeof handlers / sizeof *handlers);
  const double seconds = std::atof(argv[2]);
  const bool put = std::strcmp(argv[1], "put") == 0;
  constexpr size_t bytes = 32 << 20;
  gex_Segment_t segment;
  if (put) gex_Segment_Attach(&segment, team, bytes);
  const gex_Rank_t rank = gex_TM_QueryRank(team);
  const auto began = Clock::now();
  if (rank == 1) compute(seconds);
  if (rank == 0) {
    put ? put_all(bytes) : speak();
    const std::chrono::duration<double> took = Clock::now() - began;
    std::printf("answered after %s\n", took.count() > seconds / 2 ? "the busy time" : "no time");
  }
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  gasnet_exit(0);
}
