// causeway-bench-seq and causeway-bench-par: one source, compiled for each threading mode. What a
// call costs where nobody contends for anything, and what two threads send together. Prints
// "mode <figure> <value>", one line per figure; the command compares the two programs' lines. A
// plain loop's value has the figure's name with ".raw" behind it.
#include <fmt/format.h>
#include <gasnetex.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "../raw/access.h"
#include "../raw/ring.h"
#include "measure.h"
#include "options/options.h"
#include "require.h"
#include "start.h"

namespace causeway::bench {
namespace {

constexpr gex_AM_Index_t kCount = 200, kStop = 201, kRaw = 202;

struct Counters {
  std::atomic<uint64_t> counted{0};  // relaxed: only read to see that something came
  std::atomic<uint32_t> stops{0};
  std::atomic<uint32_t> raw_messages{0};  // to be received from the plain ring
} counters;

void on_count(gex_Token_t) {
  counters.counted.store(counters.counted.load(std::memory_order_relaxed) + 1,
                         std::memory_order_relaxed);
}
void on_stop(gex_Token_t) {
  counters.stops.fetch_add(1, std::memory_order_release);
}
void on_raw(gex_Token_t, gex_AM_Arg_t messages) {
  counters.raw_messages.store(static_cast<uint32_t>(messages), std::memory_order_release);
}

struct Job {
  gex_TM_t tm = GEX_TM_INVALID;
  gex_Rank_t rank = 0, size = 0;
  void* there = nullptr;  // the first byte of rank 1's segment
  std::vector<raw::Ring*>
      rings;  // at the start of each rank's segment; NULL where it is not mapped
  bool quick = false;
};

Job start(int* argc, char*** argv) {
  Job job;
  gex_Client_t client;
  gex_EP_t ep;
  gex_Segment_t segment;
  require(gex_Client_Init(&client, &ep, &job.tm, "BENCH", argc, argv, 0), "gex_Client_Init");
  job.rank = gex_TM_QueryRank(job.tm);
  job.size = gex_TM_QuerySize(job.tm);
  gex_AM_Entry_t table[] = {{kCount, reinterpret_cast<gex_AM_Fn_t>(&on_count),
                             GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, nullptr, "count"},
                            {kStop, reinterpret_cast<gex_AM_Fn_t>(&on_stop),
                             GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, nullptr, "stop"},
                            {kRaw, reinterpret_cast<gex_AM_Fn_t>(&on_raw),
                             GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1, nullptr, "raw"}};
  require(gex_EP_RegisterHandlers(ep, table, std::size(table)), "gex_EP_RegisterHandlers");
  require(gex_Segment_Attach(&segment, job.tm, 32 * GASNET_PAGESIZE), "gex_Segment_Attach");
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(job.tm, 1 % job.size, &job.there, nullptr, nullptr, 0));
  static_assert(sizeof(raw::Ring) <= 32 * GASNET_PAGESIZE);
  for (gex_Rank_t rank = 0; rank < job.size; ++rank) {
    void* mapped = nullptr;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(job.tm, rank, nullptr, &mapped, nullptr, 0));
    job.rings.push_back(static_cast<raw::Ring*>(mapped));
  }
  return job;
}

// Nanoseconds per turn: the median of several runs of about a millisecond.
double cost(const Job& job, const std::function<void(uint64_t)>& turns) {
  turns(1000);
  const double aim = job.quick ? 1e5 : 1e6;
  const uint64_t count = turns_for(aim, elapsed_ns([&] { turns(1000); }) / 1000, 1 << 22);
  std::vector<double> all;
  for (int i = 0; i < (job.quick ? 5 : 31); ++i)
    all.push_back(elapsed_ns([&] { turns(count); }) / static_cast<double>(count));
  return median(std::move(all));
}

void print(const char* figure, double value) {
  fmt::print("mode {} {:.4f}\n", figure, value);
  std::fflush(stdout);
}

// Rank 0 calls; nobody else does anything.
void measure_calls(const Job& job) {
  const gex_TM_t tm = job.tm;
  print("par.put8", cost(job, [&](uint64_t n) {
          for (uint64_t i = 0; i < n; ++i) {
            gex_RMA_PutBlocking(tm, 1, job.there, &i, sizeof i, 0);
            keep(job.there);
          }
        }));
  // The flag keeps the call from being inlined: the library's own way to mapped memory.
  print("par.put8.library", cost(job, [&](uint64_t n) {
          for (uint64_t i = 0; i < n; ++i)
            gex_RMA_PutBlocking(tm, 1, job.there, &i, sizeof i, GEX_FLAG_PEER_SEG_SOME);
        }));
  print("par.am.self", cost(job, [&](uint64_t n) {
          for (uint64_t i = 0; i < n; ++i) gex_AM_RequestShort0(tm, 0, kCount, 0);
        }));
  print("par.poll", cost(job, [&](uint64_t n) {
          for (uint64_t i = 0; i < n; ++i) gasnet_AMPoll();
        }));
}

// Messages per second of `threads` threads, each of which calls `flood` with its number.
double send_rate(unsigned threads, uint64_t count, const std::function<void(unsigned)>& flood) {
  std::atomic<unsigned> ready{0};
  const auto send = [&](unsigned thread) {
    ready.fetch_add(1, std::memory_order_acq_rel);
    while (ready.load(std::memory_order_acquire) != threads) std::this_thread::yield();
    flood(thread);
  };
  const double elapsed = elapsed_ns([&] {
    std::vector<std::thread> others;
    for (unsigned t = 1; t < threads; ++t) others.emplace_back(send, t);
    send(0);
    for (std::thread& other : others) other.join();
  });
  return static_cast<double>(count) * threads / elapsed * 1e9;
}

// The messages that all threads send, as a multiple of those of one thread: measured in turns.
double thread_gain(const Job& job, uint64_t count, const std::function<void(unsigned)>& flood) {
  const unsigned threads = job.size - 1;
  std::vector<double> ratios;
  send_rate(threads, count, flood);
  for (int i = 0; i < (job.quick ? 3 : 15); ++i) {
    const double one = send_rate(1, count, flood);
    ratios.push_back(send_rate(threads, count, flood) / one);
  }
  return median(std::move(ratios));
}

// A receiver: handles messages, or empties the plain ring while that is measured.
void receive(const Job& job) {
  uint64_t received = 0;
  do {
    GASNET_BLOCKUNTIL(counters.stops.load(std::memory_order_acquire) != 0 ||
                      counters.raw_messages.load(std::memory_order_acquire) != 0);
    const uint32_t messages = counters.raw_messages.exchange(0, std::memory_order_relaxed);
    if (messages != 0) raw::flood_receive(*job.rings[job.rank], received, messages, false);
    received += messages;
  } while (counters.stops.load(std::memory_order_acquire) == 0);
}

// Rank 0 sends, the others receive until they are told to stop.
void measure_threads(const Job& job) {
  if (job.rank != 0) return receive(job);
  const uint64_t count = job.quick ? 20000 : 400000;
  print("am.threads2", thread_gain(job, count, [&](unsigned thread) {
          for (uint64_t i = 0; i < count; ++i) gex_AM_RequestShort0(job.tm, 1 + thread, kCount, 0);
        }));
  print("am.threads2.one", thread_gain(job, count, [&](unsigned) {
          for (uint64_t i = 0; i < count; ++i) gex_AM_RequestShort0(job.tm, 1, kCount, 0);
        }));
  // The same threads and receivers with nothing between them but a ring each.
  std::vector<uint64_t> sent(job.size, 0);
  const bool mapped = std::count(job.rings.begin() + 1, job.rings.end(), nullptr) == 0;
  if (mapped) {
    print("am.threads2.raw", thread_gain(job, count, [&](unsigned thread) {
            gex_AM_RequestShort1(job.tm, 1 + thread, kRaw, 0, static_cast<gex_AM_Arg_t>(count));
            raw::flood_send(*job.rings[1 + thread], sent[thread], count, false);
            sent[thread] += count;
          }));
  }
  for (gex_Rank_t r = 1; r < job.size; ++r) gex_AM_RequestShort0(job.tm, r, kStop, 0);
}

}  // namespace
}  // namespace causeway::bench

int main(int argc, char** argv) {
  using namespace causeway::bench;
  causeway::Options app("A measuring program of `causeway bench`; start it through that command");
  std::string what = "calls";
  bool quick = false;
  app.option("--what", what, "Figures to measure").one_of({"calls", "threads"});
  app.flag("--quick", quick, "Few and short repetitions");
  if (const auto status = app.parse(argc, argv)) return *status;
  Job job = start(&argc, &argv);
  job.quick = quick;
  if (job.size < 2) refuse("needs at least 2 ranks");
  gex_Event_Wait(gex_Coll_BarrierNB(job.tm, 0));
  if (what == "threads")
    measure_threads(job);
  else if (job.rank == 0)
    measure_calls(job);
  gex_Event_Wait(gex_Coll_BarrierNB(job.tm, 0));
  gasnet_exit(0);
}
