// How fast transfers through host buffers are, beside the driver's own copies: over a simulated
// device that is slow against everything that the processor does, so that what is measured is
// whether the device ever waits, not how busy this machine is.
//   spec_mk_rates put       64 MiB to the neighbor's device: 0.9 of the raw copy's speed at least
//   spec_mk_rates pinned    the same by one copy, from the attached segment, where the device
//   copies
//                           memory that is not page-locked at a third of the speed
//   spec_mk_rates overlap   a put and a get at once take less time than one after the other
//   spec_mk_rates peer      device to device through an IPC handle: 0.95 of the raw copy's speed
#include <gasnet_coll.h>
#include <gasnet_mk.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "bench/raw/device_access.h"

namespace {

constexpr size_t kMost = size_t{64} << 20;

double now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// The shortest of several, at most eight: disturbances only make it longer. It need not be shorter
// than `enough`.
template <typename Call>
double best(Call&& call, double enough = 1e9) {
  double out = 1e9;
  for (int i = 0; i < 8 && (i == 0 || out > enough); ++i) {
    const double begin = now();
    call();
    out = std::min(out, now() - begin);
  }
  return out;
}

struct Setup {
  gex_TM_t tm = GEX_TM_INVALID, from_host = GEX_TM_INVALID, from_device = GEX_TM_INVALID;
  gex_Rank_t me = 0, peer = 0;
  char *own = nullptr, *there = nullptr;
};

Setup set_up() {
  Setup s;
  gex_Client_t client;
  gex_EP_t host_ep, ep;
  gex_Client_Init(&client, &host_ep, &s.tm, "RATES", nullptr, nullptr, 0);
  s.me = gex_TM_QueryRank(s.tm);
  s.peer = (s.me + 1) % gex_TM_QuerySize(s.tm);
  gex_MK_t kind;
  gex_Segment_t segment;
  const gex_MK_Create_args_t args = mk::access().args(0);
  if (gex_MK_Create(&kind, client, &args, 0) != GASNET_OK ||
      gex_Segment_Create(&segment, client, nullptr, 2 * kMost, kind, 0) != GASNET_OK ||
      gex_EP_Create(&ep, client, GEX_EP_CAPABILITY_RMA, 0) != GASNET_OK ||
      gex_EP_BindSegment(ep, segment, 0) != GASNET_OK ||
      gex_EP_PublishBoundSegment(s.tm, &ep, 1, 0) != GASNET_OK) {
    std::exit(1);
  }
  s.own = static_cast<char*>(gex_Segment_QueryAddr(segment));
  s.from_host = gex_TM_Pair(host_ep, gex_EP_QueryIndex(ep));
  s.from_device = gex_TM_Pair(ep, gex_EP_QueryIndex(ep));
  void* there = nullptr;
  gex_Segment_QueryBound(s.from_host, s.peer, &there, nullptr, nullptr);
  s.there = static_cast<char*>(there);
  return s;
}

bool judge(const char* what, double ratio, double least) {
  std::printf("%s: %.3f, at least %.2f: %s\n", what, ratio, least,
              ratio >= least ? "ok" : "TOO SLOW");
  return ratio >= least;
}

bool put(const Setup& s) {
  std::vector<uint32_t> source(kMost / sizeof(uint32_t)), seen(source.size());
  for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<uint32_t>(i * 2654435761u);
  const double raw = best([&] { mk::access().copy(0, s.own + kMost, source.data(), kMost); });
  const double ours =
      best([&] { gex_RMA_PutBlocking(s.from_host, s.peer, s.there, source.data(), kMost, 0); },
           raw / 0.9);
  gex_RMA_GetBlocking(s.from_host, seen.data(), s.peer, s.there, kMost, 0);
  return seen == source && judge("staged put beside the driver's copy", raw / ours, 0.9);
}

bool pinned(const Setup& s) {
  gex_Segment_t segment = GEX_SEGMENT_INVALID;
  if (gex_Segment_Create(&segment, gex_TM_QueryClient(s.tm), nullptr, kMost, GEX_MK_HOST, 0) !=
      GASNET_OK) {
    return false;
  }
  auto* const source = static_cast<char*>(gex_Segment_QueryAddr(segment));
  std::memset(source, 5, kMost);
  std::vector<char> locked(kMost, 6), seen(kMost);
  if (!mk::access().pin(0, locked.data(), kMost)) return false;
  const double raw = best([&] { mk::access().copy(0, s.own + kMost, locked.data(), kMost); });
  const double ours =
      best([&] { gex_RMA_PutBlocking(s.from_host, s.peer, s.there, source, kMost, 0); }, raw / 0.9);
  gex_RMA_GetBlocking(s.from_host, seen.data(), s.peer, s.there, kMost, 0);
  // What was page-locked is let go with its memory.
  gex_Segment_Destroy(segment, 0);
  return seen == std::vector<char>(kMost, 5) &&
         judge("put from a segment beside the driver's copy of page-locked memory", raw / ours,
               0.9);
}

bool overlap(const Setup& s) {
  constexpr size_t kBytes = size_t{16} << 20;
  std::vector<std::byte> source(kBytes, std::byte{1}), target(kBytes);
  const auto start_put = [&] {
    return gex_RMA_PutNB(s.from_host, s.peer, s.there, source.data(), kBytes, GEX_EVENT_DEFER, 0);
  };
  const auto start_get = [&] {
    return gex_RMA_GetNB(s.from_host, target.data(), s.peer, s.there + kMost, kBytes, 0);
  };
  const double one = best([&] { gex_Event_Wait(start_put()); });
  const double other = best([&] { gex_Event_Wait(start_get()); });
  const double both = best(
      [&] {
        const gex_Event_t p = start_put(), g = start_get();
        gex_Event_Wait(p);
        gex_Event_Wait(g);
      },
      (one + other) / 1.5);
  // Twice as fast where nothing of one waits for the other.
  return judge("put and get at once beside one after the other", (one + other) / both, 1.5);
}

bool peer(const Setup& s) {
  const double raw = best([&] { mk::access().copy(0, s.own + kMost, s.own, kMost); });
  const double ours = best(
      [&] { gex_RMA_PutBlocking(s.from_device, s.peer, s.there, s.own, kMost, 0); }, raw / 0.95);
  return judge("device to device beside the driver's copy", raw / ours, 0.95);
}

}  // namespace

int main(int argc, char** argv) {
  const Setup s = set_up();
  const std::string what = argc > 1 ? argv[1] : "";
  bool good = true;
  if (s.me == 0) {
    good = what == "put"       ? put(s)
           : what == "pinned"  ? pinned(s)
           : what == "overlap" ? overlap(s)
                               : what == "peer" && peer(s);
  }
  std::fflush(stdout);
  gex_Event_Wait(gex_Coll_BarrierNB(s.tm, 0));
  gasnet_exit(good ? 0 : 1);
}
