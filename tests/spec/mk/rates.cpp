// How fast transfers through host buffers are, beside the driver's own copies: over a simulated
// device that is slow against everything that the processor does, so that what is measured is
// whether the device ever waits, not how busy this machine is.
//   spec_mk_rates put       64 MiB to the neighbor's device: 0.9 of the raw copy's speed at least
//   spec_mk_rates pinned    the same by one copy, from the attached segment, where the device
//   copies
//                           memory that is not page-locked at a third of the speed
//   spec_mk_rates overlap   a put and a get at once take less time than one after the other
//   spec_mk_rates peer      device to device through an IPC handle: 0.95 of the raw copy's speed
//   spec_mk_rates straight  64 MiB from the attached segment to the neighbor's device and back,
//   where
//                           nobody can open the other's device memory: at the speed of one copy of
//                           page-locked memory, which is the only one: the neighbor's device reads
//                           and writes the segment itself
#include <dlfcn.h>
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
#include "standins/simulated.h"

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

// What this process' device has copied since the last call.
standin::Tally take_tally() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  auto* const take =
      reinterpret_cast<decltype(&causeway_standin_tally)>(dlsym(driver, "causeway_standin_tally"));
  standin::Tally tally;
  take(&tally);
  return tally;
}

// Were these `bytes` moved by copies of page-locked memory that lies in [base, base + kMost)?
bool only_copy(const char* what, const standin::Tally& t, uint64_t bytes, uint64_t base) {
  const bool good = t.bytes == bytes && t.locked == t.copies &&
                    (bytes == 0 || (t.low == base && t.high == base + kMost));
  std::printf("%s: the device moved %llu bytes in %llu copies, %llu of page-locked memory: %s\n",
              what, static_cast<unsigned long long>(t.bytes),
              static_cast<unsigned long long>(t.copies), static_cast<unsigned long long>(t.locked),
              good ? "ok" : "NOT AS EXPECTED");
  return good;
}

bool straight(const Setup& s) {
  gex_Segment_t segment = GEX_SEGMENT_INVALID;
  if (gex_Segment_Attach(&segment, s.tm, kMost) != GASNET_OK) return false;
  void *owner = nullptr, *mapped = nullptr;
  gex_Segment_QueryBound(s.tm, 0, &owner, &mapped, nullptr);
  auto* const memory = static_cast<uint32_t*>(gex_Segment_QueryAddr(segment));
  const auto value = [](size_t i) { return static_cast<uint32_t>(i * 2654435761u); };
  constexpr size_t kWords = kMost / sizeof(uint32_t);
  bool good = true;
  double raw = 0, ours = 0;
  if (s.me == 0) {
    std::vector<char> locked(kMost, 6);
    if (!mk::access().pin(0, locked.data(), kMost)) return false;
    raw = best([&] { mk::access().copy(0, s.own + kMost, locked.data(), kMost); });
    for (size_t i = 0; i < kWords; ++i) memory[i] = value(i);
    take_tally();
  }
  for (const bool put : {true, false}) {
    gex_Event_Wait(gex_Coll_BarrierNB(s.tm, 0));
    int times = 0;
    if (s.me == 0) {
      const auto call = [&] {
        ++times;
        return put ? gex_RMA_PutBlocking(s.from_host, s.peer, s.there, memory, kMost, 0)
                   : gex_RMA_GetBlocking(s.from_host, memory, s.peer, s.there, kMost, 0);
      };
      ours = best(call, raw / 0.9);
      good &= judge(put ? "put of a segment, copied by its neighbor's device"
                        : "get into a segment, copied by its neighbor's device",
                    raw / ours, 0.9);
      good &= only_copy("rank 0", take_tally(), 0, 0);
      for (size_t i = 0; i < kWords && !put; ++i) good &= memory[i] == value(i);
      if (put) std::memset(memory, 0, kMost);
    }
    gex_Event_Wait(gex_Coll_BroadcastNB(s.tm, 0, &times, &times, sizeof times, 0));
    if (s.me == 1) {
      good &= only_copy("rank 1", take_tally(), static_cast<uint64_t>(times) * kMost,
                        reinterpret_cast<uint64_t>(mapped));
    }
  }
  return good;
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
  if (what == "straight") {
    good = straight(s);
  } else if (s.me == 0) {
    good = what == "put"       ? put(s)
           : what == "pinned"  ? pinned(s)
           : what == "overlap" ? overlap(s)
                               : what == "peer" && peer(s);
  }
  std::fflush(stdout);
  if (!good) gasnet_exit(1);
  gex_Event_Wait(gex_Coll_BarrierNB(s.tm, 0));  // before it nobody may end the job well
  gasnet_exit(0);
}
