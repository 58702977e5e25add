// A client whose rank 1 dies in the middle of transfers with device memory.
//   device_victim asleep        rank 1 has asked for transfers, may have been granted buffers,
//   answers
//                               nothing any more, and dies
//   device_victim busy USEC     rank 1 dies so long after everybody has begun
//   device_victim left          rank 1 returns from main
//   device_victim all_left      every rank does
// Every rank transfers to and from every other rank's device, of host memory in a segment, host
// memory in none and device memory here, one after the other without end: what serves one of them
// serves all. The survivors are ended by the job, or end by themselves after a minute.
#include <gasnet_coll.h>
#include <gasnet_mk.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/raw/device_access.h"

namespace {

constexpr size_t kPiece = size_t{1} << 19;
constexpr gex_Rank_t kDoomed = 1;

double now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

struct Job {
  gex_TM_t tm = GEX_TM_INVALID, from_host = GEX_TM_INVALID, from_device = GEX_TM_INVALID;
  gex_Rank_t me = 0, size = 0;
  char *segment = nullptr, *device = nullptr;
  std::vector<char> heap = std::vector<char>(2 * kPiece);
};

bool open(Job& j, int* argc, char*** argv) {
  gex_Client_t client;
  gex_EP_t host_ep, ep;
  if (gex_Client_Init(&client, &host_ep, &j.tm, "DOOMED", argc, argv, 0) != GASNET_OK) return false;
  j.me = gex_TM_QueryRank(j.tm);
  j.size = gex_TM_QuerySize(j.tm);
  gex_MK_t kind;
  gex_Segment_t host, segment;
  const gex_MK_Create_args_t args = mk::access().args(0);
  if (gex_Segment_Attach(&host, j.tm, 2 * kPiece) != GASNET_OK ||
      gex_MK_Create(&kind, client, &args, 0) != GASNET_OK ||
      gex_Segment_Create(&segment, client, nullptr, 8 * kPiece, kind, 0) != GASNET_OK ||
      gex_EP_Create(&ep, client, GEX_EP_CAPABILITY_RMA, 0) != GASNET_OK ||
      gex_EP_BindSegment(ep, segment, 0) != GASNET_OK ||
      gex_EP_PublishBoundSegment(j.tm, &ep, 1, 0) != GASNET_OK) {
    return false;
  }
  j.segment = static_cast<char*>(gex_Segment_QueryAddr(host));
  j.device = static_cast<char*>(gex_Segment_QueryAddr(segment));
  j.from_host = gex_TM_Pair(host_ep, gex_EP_QueryIndex(ep));
  j.from_device = gex_TM_Pair(ep, gex_EP_QueryIndex(ep));
  gex_Event_Wait(gex_Coll_BarrierNB(j.tm, 0));
  return true;
}

// Puts go to the first half of the other's memory, gets come from the second.
void begin(Job& j, gex_Rank_t peer) {
  void* base = nullptr;
  gex_Segment_QueryBound(j.from_host, peer, &base, nullptr, nullptr);
  auto* const there = static_cast<char*>(base);
  struct End {
    gex_TM_t tm;
    char* memory;
  };
  const End ends[] = {{j.from_host, j.segment},
                      {j.from_host, j.heap.data()},
                      {j.from_device, j.device + 6 * kPiece}};
  for (size_t i = 0; i < 3; ++i) {
    gex_RMA_PutNBI(ends[i].tm, peer, there + i * kPiece, ends[i].memory, kPiece, GEX_EVENT_DEFER,
                   0);
    gex_RMA_GetNBI(ends[i].tm, ends[i].memory + kPiece, peer, there + (3 + i) * kPiece, kPiece, 0);
  }
}

[[noreturn]] void die(Job& j, const std::string& how, double seconds) {
  for (gex_Rank_t r = 0; r < j.size; ++r) {
    if (r != j.me) begin(j, r);
  }
  const double end = now() + seconds;
  while (now() < end) {
    if (how == "asleep") {
      ::usleep(1000);
    } else {
      gasnet_AMPoll();
    }
  }
  ::raise(SIGKILL);
  std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  Job j;
  if (!open(j, &argc, &argv) || argc < 2) return 90;
  const double seconds = argc > 2 ? std::atof(argv[2]) * 1e-6 : 0.2;
  const std::string how = argv[1];
  if (how == "all_left" || (how == "left" && j.me == kDoomed)) return 0;
  if (j.me == kDoomed) die(j, argv[1], seconds);
  for (const double end = now() + 60; now() < end;) {
    for (gex_Rank_t r = 0; r < j.size; ++r) {
      if (r != j.me) begin(j, r);
    }
    gex_NBI_Wait(GEX_EC_ALL, 0);
  }
  std::printf("rank %u was not told of the death\n", j.me);
  std::fflush(stdout);
  gasnet_exit(91);
}
