// causeway-bench-senders: what two threads of rank 0 send together, each to a rank of its own, as a
// multiple of what one thread sends; and what one sends while the other polls. Both receivers rest
// meanwhile, so that two cores are enough: what is sent fills the sockets' buffers, and no wait is
// measured. Prints records of the catalogue.
#include <fmt/format.h>
#include <gasnetex.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "../raw/loopback.h"
#include "measure.h"
#include "require.h"
#include "start.h"
#include "wanted.h"

namespace causeway::bench {
namespace {

constexpr gex_AM_Index_t kNothing = 200, kRest = 201, kAnswer = 203, kStop = 204;
// The second receiver wakes first: its thread is through with its waiting while the other lane is
// still silent. Else either thread would find in the other's cache what it sends with next.
constexpr int kRestMs[] = {0, 9, 6};
constexpr int kShortestRestMs = 6;
// Every conduit lets so many leave while the peer makes no progress.
constexpr unsigned kMessages = 100, kPuts = 400;
constexpr size_t kFrame = 48;  // of a short request

// Set by handlers, which may run in either thread. Release and acquire: what was done before the
// message was handled is seen behind it.
std::atomic<int> rest_ms{0};
std::atomic<bool> must_stop{false};
std::atomic<unsigned> answers{0};

void on_nothing(gex_Token_t) {}
void on_rest(gex_Token_t token, gex_AM_Arg_t milliseconds) {
  rest_ms.store(milliseconds, std::memory_order_release);
  gex_AM_ReplyShort0(token, kAnswer, 0);
}
void on_answer(gex_Token_t) {
  answers.fetch_add(1, std::memory_order_release);
}
void on_stop(gex_Token_t) {
  must_stop.store(true, std::memory_order_release);
}

struct Job {
  gex_TM_t tm = GEX_TM_INVALID;
  std::array<char*, 3> segments{};  // addresses at their owners
};

Job start(int* argc, char*** argv) {
  constexpr auto request = GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST;
  const auto as_handler = [](auto* fn) { return reinterpret_cast<gex_AM_Fn_t>(fn); };
  Job job;
  gex_Client_t client;
  gex_EP_t ep;
  gex_Segment_t segment;
  require(gex_Client_Init(&client, &ep, &job.tm, "BENCH", argc, argv, 0), "gex_Client_Init");
  gex_AM_Entry_t table[] = {{kNothing, as_handler(&on_nothing), request, 0, nullptr, "nothing"},
                            {kRest, as_handler(&on_rest), request, 1, nullptr, "rest"},
                            {kAnswer, as_handler(&on_answer), GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY,
                             0, nullptr, "answer"},
                            {kStop, as_handler(&on_stop), request, 0, nullptr, "stop"}};
  require(gex_EP_RegisterHandlers(ep, table, std::size(table)), "gex_EP_RegisterHandlers");
  require(gex_Segment_Attach(&segment, job.tm, GASNET_PAGESIZE), "gex_Segment_Attach");
  if (gex_TM_QuerySize(job.tm) != job.segments.size())
    refuse("the program of two senders needs 3 ranks");
  for (gex_Rank_t rank = 0; rank < job.segments.size(); ++rank) {
    void* address = nullptr;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(job.tm, rank, &address, nullptr, nullptr, 0));
    job.segments[rank] = static_cast<char*>(address);
  }
  return job;
}

// Ranks 1 and 2.
void receive() {
  while (!must_stop.load(std::memory_order_acquire)) {
    GASNET_BLOCKUNTIL(must_stop.load(std::memory_order_acquire) ||
                      rest_ms.load(std::memory_order_acquire) != 0);
    const int milliseconds = rest_ms.exchange(0, std::memory_order_acq_rel);
    if (milliseconds == 0) continue;
    gasnet_AMPoll();  // the answer leaves
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  }
}

// Gives way in case both threads have one core.
template <class Condition>
void spin_until(Condition&& condition) {
  for (unsigned turn = 1; !condition(); ++turn)
    if (turn % 4096 == 0) sched_yield();
}

// `polled`: the second sends while the first polls.
enum class Who { first, second, both, polled };

// The calling thread and one more, each on a core of its own where there are two.
class Senders {
 public:
  Senders() : other_([this] { serve(); }) { pin_to_own_core(0, 2); }
  ~Senders() {
    turn_.store(kEnd, std::memory_order_release);
    other_.join();
  }

  // Nanoseconds from the first one's start to the last one's end. `each(n)` is called by thread n;
  // `after()` by both when both have ended, by the second first.
  double run(Who who, const std::function<void(unsigned)>& each,
             const std::function<void()>& after) {
    each_ = &each;
    after_ = &after;
    threads_ = who == Who::both ? 2 : 1;
    ready_.store(0, std::memory_order_relaxed);
    ended_.store(0, std::memory_order_relaxed);
    done_.store(0, std::memory_order_relaxed);
    if (who != Who::first) turn_.fetch_add(1, std::memory_order_release);
    if (who == Who::first || who == Who::both) take_part(0);
    spin_until([&] {
      if (who == Who::polled) gasnet_AMPoll();
      return done_.load(std::memory_order_acquire) == threads_;
    });
    if (who == Who::both) return std::max(end_[0], end_[1]) - std::min(begin_[0], begin_[1]);
    const unsigned alone = who == Who::first ? 0 : 1;
    return end_[alone] - begin_[alone];
  }

 private:
  static constexpr unsigned kEnd = ~0u;

  void take_part(unsigned thread) {
    ready_.fetch_add(1, std::memory_order_acq_rel);
    spin_until([&] { return ready_.load(std::memory_order_acquire) == threads_; });
    begin_[thread] = now_ns();
    (*each_)(thread);
    end_[thread] = now_ns();
    ended_.fetch_add(1, std::memory_order_acq_rel);
    spin_until([&] { return ended_.load(std::memory_order_acquire) == threads_; });
    const unsigned before = threads_ == 2 && thread == 0 ? 1 : 0;
    spin_until([&] { return done_.load(std::memory_order_acquire) == before; });
    (*after_)();
    done_.fetch_add(1, std::memory_order_release);
  }

  void serve() {
    pin_to_own_core(1, 2);
    for (unsigned seen = 0;;) {
      const unsigned turn = turn_.load(std::memory_order_acquire);
      if (turn == kEnd) return;
      if (turn == seen) {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
        continue;
      }
      seen = turn;
      take_part(1);
    }
  }

  // Written by the calling thread before it raises `turn_`, read by the other one behind that.
  const std::function<void(unsigned)>* each_ = nullptr;
  const std::function<void()>* after_ = nullptr;
  unsigned threads_ = 1;
  double begin_[2] = {}, end_[2] = {};  // each written by its thread before `ended_`
  std::atomic<unsigned> turn_{0}, ready_{0}, ended_{0}, done_{0};
  std::thread other_;
};

// Asks both receivers and waits for their answers.
void ask_both(const Job& job, bool to_rest) {
  answers.store(0, std::memory_order_relaxed);
  for (gex_Rank_t rank = 1; rank <= 2; ++rank)
    gex_AM_RequestShort1(job.tm, rank, kRest, 0, to_rest ? kRestMs[rank] : 0);
  GASNET_BLOCKUNTIL(answers.load(std::memory_order_acquire) == 2);
}

// Two threads' messages in a time as a multiple of one thread's, measured in turns. Either is
// measured alone, as one may have the nearer memory.
double gain_of(const std::function<double(Who)>& time) {
  const double first = time(Who::first);
  const double second = time(Who::second);
  return (first + second) / time(Who::both);
}

// A thread's messages in a time while the other one polls, as a multiple of those it sends alone.
double gain_beside(const std::function<double(Who)>& time) {
  const double alone = time(Who::second);
  return alone / time(Who::polled);
}

struct Gain {
  double times;
  Spread spread;
};

using Ratio = double(const std::function<double(Who)>&);

// The median of a ratio over bursts of which each begins when both receivers rest.
Gain gain(const Job& job, Senders& senders, unsigned repetitions, Ratio& ratio,
          const std::function<void(unsigned)>& each, const std::function<void()>& after) {
  std::vector<double> all;
  double longest = 0;
  const auto time = [&](Who who) {
    ask_both(job, true);
    std::this_thread::sleep_for(std::chrono::microseconds(500));  // until they have lain down
    const double taken = senders.run(who, each, after);
    longest = std::max(longest, taken);
    ask_both(job, false);
    return taken;
  };
  ratio(time);
  longest = 0;
  for (unsigned i = 0; i < repetitions; ++i) all.push_back(ratio(time));
  const double middle = median(all);
  if (longest > kShortestRestMs * 1e6)
    fmt::print(stderr, "causeway-bench: sending took up to {:.1f} ms of the receivers' {} ms\n",
               longest / 1e6, kShortestRestMs);
  return {middle, spread_of(std::move(all), middle)};
}

// Two connections that nobody reads while they are written to.
class Sockets {
 public:
  Sockets() {
    for (Ends& ends : ends_) {
      uint16_t port = 0;
      const int listening = raw::listen_on_loopback(&port);
      ends.from = raw::connect_to_loopback(port);
      ends.to = raw::accept_one(listening);
    }
  }
  ~Sockets() {
    for (const Ends& ends : ends_) {
      close(ends.from);
      close(ends.to);
    }
  }
  void fill(unsigned which, unsigned frames) {
    const char frame[kFrame] = {};
    for (unsigned i = 0; i < frames; ++i)
      raw::require(send(ends_[which].from, frame, sizeof frame, MSG_NOSIGNAL) ==
                       static_cast<ssize_t>(sizeof frame),
                   "send");
  }
  void empty() {
    char taken[4096];
    for (const Ends& ends : ends_)
      while (recv(ends.to, taken, sizeof taken, MSG_DONTWAIT) > 0) continue;
  }

 private:
  struct Ends {
    int from, to;
  };
  std::array<Ends, 2> ends_{};
};

void measure_all(const Job& job, bool beside_sockets, const Wanted& wanted) {
  const unsigned repetitions = wanted.quick ? 9 : 81;
  const auto nothing = [] {};
  Senders senders;
  std::optional<double> raw;
  if (beside_sockets) {
    Sockets sockets;
    const auto fill = [&](unsigned thread) { sockets.fill(thread, kMessages); };
    std::vector<double> all;
    for (unsigned i = 0; i < repetitions; ++i) {
      all.push_back(gain_of([&](Who who) { return senders.run(who, fill, nothing); }));
      sockets.empty();
    }
    raw = median(std::move(all));
  }
  const auto requests = [&](unsigned thread) {
    for (unsigned i = 0; i < kMessages; ++i) gex_AM_RequestShort0(job.tm, 1 + thread, kNothing, 0);
  };
  static const std::array<uint64_t, 64> values{};
  const auto puts = [&](unsigned thread) {
    for (unsigned i = 0; i < kPuts; ++i)
      gex_RMA_PutNBI(job.tm, 1 + thread, job.segments[1 + thread] + 8 * (i % 64),
                     const_cast<uint64_t*>(&values[i % 64]), 8, GEX_EVENT_DEFER, 0);
  };
  const auto wait = [] { gex_NBI_Wait(GEX_EC_ALL, 0); };
  const auto measure = [&](const char* figure, Ratio& ratio, const auto& each, const auto& after,
                           std::optional<double> beside) {
    if (!wanted.has(figure)) return;
    const Gain ours = gain(job, senders, repetitions, ratio, each, after);
    print_record({figure, ours.times, beside, "", "", ours.spread});
  };
  measure("net.threads2.am", gain_of, requests, nothing, raw);
  measure("net.threads2.put8", gain_of, puts, wait, raw);
  measure("net.threads2.polled.am", gain_beside, requests, nothing, std::nullopt);
  measure("net.threads2.polled.put8", gain_beside, puts, wait, std::nullopt);
}

}  // namespace
}  // namespace causeway::bench

int main(int argc, char** argv) {
  using namespace causeway::bench;
  causeway::Options app("A measuring program of `causeway bench`; start it through that command");
  bool sockets = false;
  Wanted wanted;
  wanted.add_options(app);
  app.flag("--sockets", sockets, "Beside bare sockets");
  if (const auto status = app.parse(argc, argv)) return *status;
  const Job job = start(&argc, &argv);
  gex_Event_Wait(gex_Coll_BarrierNB(job.tm, 0));
  if (gex_TM_QueryRank(job.tm) != 0) {
    receive();
  } else {
    try {
      measure_all(job, sockets, wanted);
    } catch (const std::exception& error) {
      refuse(error.what());
    }
    for (gex_Rank_t rank = 1; rank <= 2; ++rank) gex_AM_RequestShort0(job.tm, rank, kStop, 0);
  }
  gex_Event_Wait(gex_Coll_BarrierNB(job.tm, 0));
  gasnet_exit(0);
}
