// Figures of memory kinds on a real device, each beside the raw call of the driver: latency of 8
// bytes, bandwidth up to 256 MiB, of puts from the host to the neighbor's device, gets from there, and
// from device to device between two processes. Run by tests/gpu/run-tests with 2 ranks.
//   gpu_figures --probe    prints the device, or why there is none
#include <gasnet_coll.h>
#include <gasnet_mk.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "../spec/mk/access.h"

namespace {

constexpr size_t kMost = size_t{256} << 20;

double now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Seconds of one call, over enough calls to be seen.
template <typename Call>
double time_of(size_t bytes, Call&& call) {
  const int times = bytes <= 4096 ? 1000 : bytes <= (1 << 20) ? 100 : 10;
  for (int i = 0; i < times / 10 + 1; ++i) call();
  const double start = now();
  for (int i = 0; i < times; ++i) call();
  return (now() - start) / times;
}

void print(const char* what, size_t bytes, double ours, double raw) {
  std::printf("%-28s %10zu B  %9.2f us  %8.2f GB/s  raw %9.2f us  %8.2f GB/s  ratio %.3f\n", what,
              bytes, ours * 1e6, static_cast<double>(bytes) / ours * 1e-9, raw * 1e6,
              static_cast<double>(bytes) / raw * 1e-9, raw / ours);
}

int run() {
  gex_Client_t client;
  gex_EP_t host_ep, ep;
  gex_TM_t tm;
  gex_Client_Init(&client, &host_ep, &tm, "FIGURES", nullptr, nullptr, 0);
  const gex_Rank_t me = gex_TM_QueryRank(tm), peer = (me + 1) % gex_TM_QuerySize(tm);
  gex_Segment_t host_segment, segment;
  gex_MK_t kind;
  const gex_MK_Create_args_t args = mk::access().args(0);
  if (gex_Segment_Attach(&host_segment, tm, kMost) != GASNET_OK ||
      gex_MK_Create(&kind, client, &args, 0) != GASNET_OK ||
      gex_Segment_Create(&segment, client, nullptr, 2 * kMost, kind, 0) != GASNET_OK ||
      gex_EP_Create(&ep, client, GEX_EP_CAPABILITY_RMA, 0) != GASNET_OK ||
      gex_EP_BindSegment(ep, segment, 0) != GASNET_OK ||
      gex_EP_PublishBoundSegment(tm, &ep, 1, 0) != GASNET_OK) {
    return 1;
  }
  auto* const host = static_cast<char*>(gex_Segment_QueryAddr(host_segment));
  auto* const own = static_cast<char*>(gex_Segment_QueryAddr(segment));
  std::memset(host, 1, kMost);
  const gex_TM_t from_host = gex_TM_Pair(host_ep, gex_EP_QueryIndex(ep));
  const gex_TM_t from_device = gex_TM_Pair(ep, gex_EP_QueryIndex(ep));
  void* there = nullptr;
  gex_Segment_QueryBound(from_host, peer, &there, nullptr, nullptr);
  for (size_t bytes = 8; bytes <= kMost && me == 0; bytes *= bytes < (1 << 20) ? 16 : 4) {
    const size_t n = bytes;
    print("put host to device", n,
          time_of(n, [&] { gex_RMA_PutBlocking(from_host, peer, there, host, n, 0); }),
          time_of(n, [&] { mk::access().copy(0, own, host, n); }));
    print("get device to host", n,
          time_of(n, [&] { gex_RMA_GetBlocking(from_host, host, peer, there, n, 0); }),
          time_of(n, [&] { mk::access().copy(0, host, own, n); }));
    print("put device to device", n,
          time_of(n, [&] { gex_RMA_PutBlocking(from_device, peer, there, own, n, 0); }),
          time_of(n, [&] { mk::access().copy(0, own + kMost, own, n); }));
  }
  std::fflush(stdout);
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  gasnet_exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    std::printf("%d device(s) of kind %s\n", mk::access().devices(), mk::access().name());
  } catch (const std::exception& e) {
    std::printf("%s\n", e.what());
    return 77;
  }
  if (argc > 1 && std::strcmp(argv[1], "--probe") == 0) return 0;
  return run();
}
