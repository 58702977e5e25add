// causeway-bench-ofi: operations of the library over the conduit ofi beside raw libfabric loops, by
// turns in one run of two ranks. Prints one line per figure.
#include <gasnetex.h>
#include <sched.h>
#include <time.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "bench/raw/ofi_pair.h"

namespace {

using causeway::bench::OfiPair;

constexpr size_t kSegment = 16u << 20;
constexpr size_t kWords = 4096;  // at the start of the segment: for the exchange
volatile int g_replies = 0;
volatile int g_phase = 0;  // of the serving rank: which loop is measured
gex_TM_t g_team;

double now_us() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) * 1e-3;
}

void on_pong(gex_Token_t) {
  g_replies = g_replies + 1;
}
void on_ping(gex_Token_t token) {
  gex_AM_ReplyShort0(token, 201, 0);
}
void on_phase(gex_Token_t, gex_AM_Arg_t phase) {
  g_phase = phase;
}

enum Phase { kOurs = 1, kRaw = 2, kEnd = 3 };

void tell(Phase phase) {
  gex_AM_RequestShort1(g_team, 1, 202, 0, phase);
}

// The serving rank: makes progress in whichever library is being measured.
void serve(OfiPair& raw) {
  g_phase = kOurs;
  for (uint32_t idle = 1;; ++idle) {
    gasnet_AMPoll();
    if (g_phase == kEnd) return;
    if (g_phase == kRaw) {
      g_phase = kOurs;
      raw.serve();
    }
    if (idle % 1000 == 0) sched_yield();
  }
}

struct Figure {
  const char* name;
  double target;  // of the ratio of times, ours to raw
  double bytes;   // of one operation: bandwidth is printed too; else 0
  int count;      // operations per repetition
  std::function<void(int)> ours, raw;
};

// Ours, raw, raw, ours ...: what disturbs one side disturbs the other. The shortest repetition
// decides, because others may use the machine.
void measure(const Figure& f, OfiPair& raw, int repetitions) {
  std::vector<double> ours, theirs;
  const auto take_ours = [&] {
    const double begin = now_us();
    f.ours(f.count);
    ours.push_back((now_us() - begin) / f.count);
  };
  const auto take_raw = [&] {
    tell(kRaw);
    f.raw(1);  // until the other side has turned to it
    const double begin = now_us();
    f.raw(f.count);
    theirs.push_back((now_us() - begin) / f.count);
    raw.stop();
  };
  for (int i = 0; i < repetitions; ++i) {
    f.ours(1);
    if (i % 2 == 0) take_ours(), take_raw();
    if (i % 2 == 1) take_raw(), f.ours(1), take_ours();
  }
  const double a = *std::min_element(ours.begin(), ours.end());
  const double b = *std::min_element(theirs.begin(), theirs.end());
  std::printf("%-28s ours %9.2f us  raw %9.2f us  ratio %5.3f  target %4.2f  %s", f.name, a, b,
              a / b, f.target, a / b <= f.target ? "ok" : "OVER");
  if (f.bytes != 0) std::printf("  (%.2f GB/s, raw %.2f)", f.bytes / a * 1e-3, f.bytes / b * 1e-3);
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  std::string provider = "tcp";
  bool datagrams = false;
  int repetitions = 41;
  CLI::App app{"Measures the conduit ofi beside raw libfabric loops"};
  app.add_option("--provider", provider, "libfabric provider of the raw loops");
  app.add_flag("--rdm", datagrams, "datagram endpoints in the raw loops");
  app.add_option("--repetitions", repetitions, "per figure");
  CLI11_PARSE(app, argc, argv);

  gex_Client_t client;
  gex_EP_t ep;
  gex_Client_Init(&client, &ep, &g_team, "BENCH_OFI", nullptr, nullptr, 0);
  if (gex_TM_QuerySize(g_team) != 2) {
    std::fprintf(stderr, "causeway-bench-ofi: two ranks are needed\n");
    gasnet_exit(2);
  }
  gex_AM_Entry_t handlers[] = {{200, reinterpret_cast<gex_AM_Fn_t>(on_ping),
                                GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 0, nullptr, "ping"},
                               {201, reinterpret_cast<gex_AM_Fn_t>(on_pong),
                                GEX_FLAG_AM_REPLY | GEX_FLAG_AM_SHORT, 0, nullptr, "pong"},
                               {202, reinterpret_cast<gex_AM_Fn_t>(on_phase),
                                GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 1, nullptr, "phase"}};
  gex_EP_RegisterHandlers(ep, handlers, 3);
  gex_Segment_t segment;
  gex_Segment_Attach(&segment, g_team, kSegment);
  char* mine = static_cast<char*>(gex_Segment_QueryAddr(segment));
  void* theirs_base = nullptr;
  const gex_Rank_t me = gex_TM_QueryRank(g_team), other = 1 - me;
  gex_Segment_QueryBound(g_team, other, &theirs_base, nullptr, nullptr);
  char* theirs = static_cast<char*>(theirs_base);
  const auto barrier = [] {
    const gex_Event_t event = gex_Coll_BarrierNB(g_team, 0);
    gex_Event_Wait(event);
  };

  // The raw loops reach memory of their own, so that no cache favours either side.
  std::vector<char> local(kSegment), reached(kSegment);
  const auto exchange = [&](const std::string& words) {
    barrier();
    gex_RMA_PutBlocking(g_team, other, theirs, const_cast<char*>(words.data()), words.size(), 0);
    barrier();
    return std::string(mine, words.size());
  };
  try {
    OfiPair raw(provider, !datagrams, me == 0, reached.data(), reached.size(), exchange);
    barrier();
    if (me == 1) serve(raw);
    if (me == 0) {
      char* target = theirs + kWords;
      const auto put = [&](size_t n) {
        return [&, n](int count) {
          for (int i = 0; i < count; ++i)
            gex_RMA_PutBlocking(g_team, 1, target, local.data(), n, 0);
        };
      };
      const auto get = [&](size_t n) {
        return [&, n](int count) {
          for (int i = 0; i < count; ++i)
            gex_RMA_GetBlocking(g_team, local.data(), 1, target, n, 0);
        };
      };
      // Windows are let out in halves, as programs with implicit operations do.
      const auto many = [&](size_t n, int window, bool is_put) {
        return [&, n, window, is_put](int count) {
          for (int i = 0; i < count; i += window) {
            for (int k = i; k < std::min(i + window, count); ++k) {
              if (is_put) gex_RMA_PutNBI(g_team, 1, target, local.data(), n, GEX_EVENT_DEFER, 0);
              if (!is_put) gex_RMA_GetNBI(g_team, local.data(), 1, target, n, 0);
            }
            gex_NBI_Wait(GEX_EC_ALL, 0);
          }
        };
      };
      const auto raw_many = [&](size_t n, int window, bool is_put) {
        return [&, n, window, is_put](int count) {
          for (int i = 0; i < count; i += window) {
            const int k = std::min(window, count - i);
            if (is_put) raw.put_many(local.data(), n, k, window);
            if (!is_put) raw.get_many(local.data(), n, k, window);
          }
        };
      };
      const auto raw_put = [&](size_t n) {
        return [&, n](int count) { raw.put_each(local.data(), n, count); };
      };
      const auto raw_get = [&](size_t n) {
        return [&, n](int count) { raw.get_each(local.data(), n, count); };
      };
      const auto am = [&](int count) {
        for (int i = 0; i < count; ++i) {
          const int before = g_replies;
          gex_AM_RequestShort0(g_team, 1, 200, 0);
          GASNET_BLOCKUNTIL(g_replies != before);
        }
      };
      const auto raw_am = [&](int count) { raw.ping(32, count); };
      constexpr double kBandwidth = 1 / 0.97;
      const Figure figures[] = {
          {"put 8 B blocking", 1.08, 0, 100, put(8), raw_put(8)},
          {"get 8 B blocking", 1.08, 0, 100, get(8), raw_get(8)},
          {"AM short round trip", 1.08, 0, 100, am, raw_am},
          {"put 4 KiB blocking", 1.08, 0, 100, put(4096), raw_put(4096)},
          {"get 4 KiB blocking", 1.08, 0, 100, get(4096), raw_get(4096)},
          {"put 1 MiB, 8 at once", kBandwidth, 1 << 20, 8, many(1 << 20, 8, true),
           raw_many(1 << 20, 8, true)},
          {"get 1 MiB, 8 at once", kBandwidth, 1 << 20, 8, many(1 << 20, 8, false),
           raw_many(1 << 20, 8, false)},
          {"put 4 MiB, 4 at once", kBandwidth, 4 << 20, 4, many(4 << 20, 4, true),
           raw_many(4 << 20, 4, true)},
          {"get 4 MiB, 4 at once", kBandwidth, 4 << 20, 4, many(4 << 20, 4, false),
           raw_many(4 << 20, 4, false)},
          {"put 8 B, 256 at once", 1.10, 0, 1024, many(8, 256, true), raw_many(8, 256, true)},
      };
      for (const Figure& f : figures) measure(f, raw, repetitions);
      tell(kEnd);
    }
    barrier();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "causeway-bench-ofi: %s\n", e.what());
    gasnet_exit(1);
  }
  gasnet_exit(0);
}
