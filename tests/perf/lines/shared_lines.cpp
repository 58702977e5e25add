// Two threads of rank 0 send to a rank each: what do they share on the way? Counts the cache lines
// that one of them writes and the other one touches too, for each way of sending and for polls. The
// threads take turns, so that nothing depends on who comes first.
// Usage: shared_lines [without-polls] [WAY=MOST]...   Ways and their meaning: kWays. without-polls:
// the poll that every 16th request makes is no part of its way.
// Catches: a counter, a lock or a hint that all threads write on the way of a message; two threads'
// own data in one line.
#include <gasnetex.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "../../spec/gex/small_client.h"
#include "thread_handle.h"
#include "watch.h"

using namespace causeway::lines;
using spec::me;
using spec::require;

namespace {

constexpr gex_AM_Index_t kTake = 200, kTakeMedium = 201, kEcho = 202, kEchoed = 203, kStop = 204;
constexpr gex_Rank_t kRanks = 3;
constexpr unsigned kTimes = 64;
// Touched so often, and by as many operations, a line is on the way; other work (looks at the clock
// and at neighbors) is done now and then, by one operation of many.
constexpr unsigned kOften = kTimes / 16;
unsigned often = kOften;
constexpr unsigned kWarmUp = 200;
constexpr size_t kPayload = 64;

gex_TM_t team;
std::atomic<bool> stopped{false};
// Replies that the peers of each thread have sent.
struct alignas(2 * kLine) Echoes {
  std::atomic<unsigned> count{0};
} echoes[2];

void on_take(gex_Token_t, gex_AM_Arg_t) {}
void on_take_medium(gex_Token_t, void*, size_t, gex_AM_Arg_t) {}
void on_echo(gex_Token_t token, gex_AM_Arg_t thread) {
  gex_AM_ReplyShort1(token, kEchoed, 0, thread);
}
void on_echoed(gex_Token_t, gex_AM_Arg_t thread) {
  echoes[thread].count.fetch_add(1, std::memory_order_release);
}
void on_stop(gex_Token_t) {
  stopped.store(true, std::memory_order_release);
}

struct alignas(2 * kLine) Sender {
  int number = 0;
  gex_Rank_t peer = 0;
  char* target = nullptr;
  alignas(2 * kLine) char source[2 * kLine] = {};

  void short_message() const { gex_AM_RequestShort1(team, peer, kTake, 0, number); }
  void medium() {
    gex_AM_RequestMedium1(team, peer, kTakeMedium, source, kPayload, GEX_EVENT_NOW, 0, number);
  }
  void post() { gex_RMA_PutNBI(team, peer, target, source, 8, GEX_EVENT_DEFER, 0); }
  void put() {
    gex_RMA_PutNBI(team, peer, target, source, 8, GEX_EVENT_DEFER, 0);
    while (gex_NBI_Test(GEX_EC_PUT, 0) != GASNET_OK) {
      gasnet_AMPoll();
      ::sched_yield();
    }
  }
  void poll() const { gasnet_AMPoll(); }
  void trip() const {
    const unsigned before = echoes[number].count.load(std::memory_order_acquire);
    gex_AM_RequestShort1(team, peer, kEcho, 0, number);
    while (echoes[number].count.load(std::memory_order_acquire) == before) {
      gasnet_AMPoll();
      ::sched_yield();
    }
  }
};

struct Way {
  const char* name;
  const char* meaning;
  void (*once)(Sender&);
};
constexpr Way kWays[] = {
    {"short", "short requests", [](Sender& s) { s.short_message(); }},
    {"medium", "medium requests of 64 bytes", [](Sender& s) { s.medium(); }},
    {"post", "puts of 8 bytes by the library, not waited for", [](Sender& s) { s.post(); }},
    {"put", "puts of 8 bytes by the library, each until it is complete",
     [](Sender& s) { s.put(); }},
    {"poll", "polls that find nothing", [](Sender& s) { s.poll(); }},
    {"trip", "short requests, and polls until the reply is there", [](Sender& s) { s.trip(); }}};

bool is_ours(uintptr_t code) {
  const std::string object = code != 0 ? object_of(code) : "";
  return object.rfind("libcauseway", 0) == 0 || object.rfind("conduit_", 0) == 0;
}

bool is_often(const Shared& shared) {
  const Touch &a = shared.first, &b = shared.second;
  if (std::min(a.operations, b.operations) < often) return false;
  return (a.writes >= often && b.reads + b.writes >= often) ||
         (b.writes >= often && a.reads + a.writes >= often);
}

// By the library and its conduits, and not inside of a network library alone.
bool is_ours(const Shared& shared) {
  for (const Touch* touch : {&shared.first, &shared.second})
    if (is_ours(touch->reader) || is_ours(touch->writer)) return true;
  return false;
}

void print_touch(const char* thread, const Touch& touch) {
  std::printf("      %s: %u reads, %u writes, %u locked\n", thread, touch.reads, touch.writes,
              touch.locked);
  if (touch.writer != 0) std::printf("        writes: %s\n", name_of_code(touch.writer).c_str());
  if (touch.reader != 0) std::printf("        reads:  %s\n", name_of_code(touch.reader).c_str());
}

// The number of the library's lines that both touch on the way.
unsigned report(const Way& way, const Watch (&watches)[2]) {
  unsigned ours = 0, locks = 0, seldom = 0, foreign = 0;
  const std::vector<Shared> shared = shared_lines(watches[0], watches[1]);
  for (const Shared& line : shared) {
    if (!is_ours(line)) {
      ++foreign;
    } else if (!is_often(line)) {
      ++seldom;
    } else {
      ++ours;
      locks += line.both_lock();
    }
  }
  const auto each = [](uint64_t n) { return static_cast<double>(n) / kTimes; };
  std::printf(
      "lines %-7s %2u shared, %u of them by locked instructions of both; %u more now and then, "
      "%u inside of network libraries; %.0f instructions each, %.1f of them locked (%s)\n",
      way.name, ours, locks, seldom, foreign, each(watches[0].instructions()),
      each(watches[0].locked()), way.meaning);
  for (const Shared& line : shared) {
    if (!is_ours(line)) continue;
    std::printf("    line 0x%lx%s: %s\n", line.first.line, is_often(line) ? "" : ", now and then",
                name_of_data(line.first.line).c_str());
    print_touch("first thread", line.first);
    print_touch("second thread", line.second);
  }
  std::fflush(stdout);
  return ours;
}

// The watch itself: it sees every line of a copy, and a lock that two threads take.
void check_watch() {
  alignas(kLine) static char from[32 * kLine], to[32 * kLine];
  static std::atomic<int> lock{0};
  static Watch watches[2];
  volatile size_t length = sizeof from;
  for (Watch& watch : watches) {
    std::thread([&] {
      watch.start();
      std::memcpy(to, from, length);
      lock.fetch_add(1, std::memory_order_relaxed);
      watch.stop();
    }).join();
  }
  size_t copied = 0, locked = 0;
  for (const Shared& line : shared_lines(watches[0], watches[1])) {
    const char* const at = reinterpret_cast<const char*>(line.first.line);
    copied += at >= to && at < to + sizeof to && line.first.writes != 0;
    locked += line.both_lock();
  }
  require(copied == sizeof to / kLine, "the watch misses lines of a copy");
  require(locked == 1, "the watch misses a lock, or sees one that is not there");
}

struct Limits {
  int most[std::size(kWays)];
};

Limits read_limits(int argc, char** argv) {
  Limits out;
  for (int& most : out.most) most = -1;
  for (int i = 1; i < argc; ++i) {
    bool known = std::strcmp(argv[i], "without-polls") == 0;
    if (known) often = kOften + 1;
    for (size_t w = 0; w < std::size(kWays); ++w) {
      const size_t length = std::strlen(kWays[w].name);
      if (std::strncmp(argv[i], kWays[w].name, length) != 0 || argv[i][length] != '=') continue;
      out.most[w] = std::atoi(argv[i] + length + 1);
      known = true;
    }
    require(known, "an argument names no way of sending");
  }
  return out;
}

// Calls `body` on two threads of different numbers: what conduits keep by thread they keep by one
// of 16 numbers, and threads that have one in common share it by design (common/thread_handle.h).
template <typename Body>
void on_both(Sender (&senders)[2], Body body) {
  constexpr uint32_t kNumbers = 16;
  struct Candidate {
    std::promise<int> role;  // its sender, or -1: none
    std::thread thread;
  };
  std::deque<Candidate> candidates;
  std::vector<Candidate*> chosen;
  uint32_t taken = kNumbers;
  while (chosen.size() < 2) {
    Candidate& c = candidates.emplace_back();
    c.thread = std::thread([&, role = c.role.get_future()]() mutable {
      const int t = role.get();
      if (t >= 0) body(senders[t], t);
    });
    const uint32_t number = causeway::thread_number(c.thread.native_handle(), kNumbers);
    if (number == taken) continue;  // waits until the end: its stack would be the next one's
    taken = number;
    chosen.push_back(&c);
  }
  for (int t = 0; t < 2; ++t) chosen[static_cast<size_t>(t)]->role.set_value(t);
  for (Candidate* c : chosen) c->thread.join();
  for (Candidate& c : candidates) {
    if (!c.thread.joinable()) continue;
    c.role.set_value(-1);
    c.thread.join();
  }
}

bool send_watched(char* const (&targets)[kRanks], const Limits& limits) {
  static Sender senders[2];
  static Watch watches[2];
  static pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, 2);
  bool good = true;
  for (int t = 0; t < 2; ++t) {
    senders[t].number = t;
    senders[t].peer = static_cast<gex_Rank_t>(t + 1);
    senders[t].target = targets[t + 1];
  }
  on_both(senders, [&](Sender& sender, int t) {
    // At the same time: connections come up, and threads settle.
    for (unsigned i = 0; i < kWarmUp; ++i)
      for (const Way& way : kWays) way.once(sender);
    for (size_t w = 0; w < std::size(kWays); ++w) {
      sender.trip();  // nothing is under way
      for (int turn = 0; turn < 2; ++turn) {
        pthread_barrier_wait(&barrier);
        if (turn != t) continue;
        watches[t].clear();
        watches[t].start();
        for (unsigned i = 0; i < kTimes; ++i) {
          watches[t].next();
          kWays[w].once(sender);
        }
        watches[t].stop();
        sender.trip();
      }
      pthread_barrier_wait(&barrier);
      if (t != 0) continue;
      const unsigned shared = report(kWays[w], watches);
      if (limits.most[w] < 0 || shared <= static_cast<unsigned>(limits.most[w])) continue;
      std::printf("rank 0: %s: %u shared lines, where at most %d may be; see above which\n",
                  kWays[w].name, shared, limits.most[w]);
      good = false;
    }
    gex_NBI_Wait(GEX_EC_ALL, 0);
  });
  return good;
}

void register_handlers(gex_EP_t ep) {
  const auto fn = [](auto* handler) { return reinterpret_cast<gex_AM_Fn_t>(handler); };
  const gex_Flags_t short_request = GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST;
  gex_AM_Entry_t entries[] = {
      {kTake, fn(&on_take), short_request, 1, nullptr, "take"},
      {kTakeMedium, fn(&on_take_medium), GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 1, nullptr,
       "take"},
      {kEcho, fn(&on_echo), short_request, 1, nullptr, "echo"},
      {kEchoed, fn(&on_echoed), GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 1, nullptr, "echoed"},
      {kStop, fn(&on_stop), short_request, 0, nullptr, "stop"}};
  require(gex_EP_RegisterHandlers(ep, entries, std::size(entries)) == GASNET_OK, "handlers");
}

}  // namespace

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_Segment_t segment;
  require(gex_Client_Init(&client, &ep, &team, "LINES", &argc, &argv, 0) == GASNET_OK, "start");
  me = gex_TM_QueryRank(team);
  require(gex_TM_QuerySize(team) == kRanks, "three ranks are wanted");
  require(gex_Segment_Attach(&segment, team, 65536) == GASNET_OK, "segment");
  register_handlers(ep);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  bool good = true;
  if (me == 0) {
    check_watch();
    char* targets[kRanks] = {};
    for (gex_Rank_t r = 1; r < kRanks; ++r) {
      void* owner = nullptr;
      gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, r, &owner, nullptr, nullptr, 0));
      targets[r] = static_cast<char*>(owner);
    }
    good = send_watched(targets, read_limits(argc, argv));
    for (gex_Rank_t r = 1; r < kRanks; ++r) gex_AM_RequestShort0(team, r, kStop, 0);
  } else {
    GASNET_BLOCKUNTIL(stopped.load(std::memory_order_acquire));
  }
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  gasnet_exit(good ? 0 : 1);
}
