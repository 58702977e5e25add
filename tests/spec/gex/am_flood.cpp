// Rank 0 floods rank 1, which computes first and whose handlers are slow then. Would catch: a
// receiver that takes in what it cannot deliver, so that its memory grows with the flood.
//
// spec_gex_am_flood MESSAGES BYTES NANOSECONDS, the last of these in each handler
#include <gasnetex.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

enum : gex_AM_Index_t { kFlood = GEX_AM_INDEX_BASE };
using Clock = std::chrono::steady_clock;

constexpr long kMostGrowth = 4096;  // KiB

std::atomic<long> got{0};
std::chrono::nanoseconds slowness{0};

void compute(std::chrono::nanoseconds time) {
  const auto end = Clock::now() + time;
  while (Clock::now() < end) {
  }
}

void flood(gex_Token_t, void*, size_t) {
  compute(slowness);
  got.fetch_add(1, std::memory_order_relaxed);
}

// A line of /proc/self/status, in KiB.
long memory(const char* name) {
  std::FILE* const file = std::fopen("/proc/self/status", "r");
  char line[256];
  long kib = -1;
  while (kib < 0 && file != nullptr && std::fgets(line, sizeof line, file) != nullptr)
    if (std::strncmp(line, name, std::strlen(name)) == 0) kib = std::atol(line + std::strlen(name));
  if (file != nullptr) std::fclose(file);
  if (kib < 0) std::abort();
  return kib;
}

}  // namespace

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t team;
  gex_Client_Init(&client, &ep, &team, "AM_FLOOD", &argc, &argv, 0);
  gex_AM_Entry_t handler{kFlood,
                         reinterpret_cast<gex_AM_Fn_t>(flood),
                         GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST,
                         0,
                         nullptr,
                         "flood"};
  gex_EP_RegisterHandlers(ep, &handler, 1);
  const long messages = std::atol(argv[1]);
  std::vector<char> payload(static_cast<size_t>(std::atol(argv[2])), 1);
  const auto send = [&] {
    gex_AM_RequestMedium0(team, 1, kFlood, payload.data(), payload.size(), GEX_EVENT_NOW, 0);
  };
  const bool receives = gex_TM_QueryRank(team) == 1;
  // The connection and its buffers come first.
  constexpr long first = 400;
  for (long n = 0; !receives && n < first; ++n) send();
  if (receives) GASNET_BLOCKUNTIL(got.load(std::memory_order_relaxed) == first);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  if (receives) {
    const long before = memory("VmRSS:");
    slowness = std::chrono::nanoseconds(std::atol(argv[3]));
    compute(std::chrono::milliseconds(300));
    GASNET_BLOCKUNTIL(got.load(std::memory_order_relaxed) == first + messages);
    const long grown = memory("VmHWM:") - before;
    std::printf("%s: grew by %ld KiB\n", grown <= kMostGrowth ? "bounded" : "too much", grown);
  } else {
    for (long n = 0; n < messages; ++n) send();
  }
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  gasnet_exit(0);
}
