// A table of words spread over the ranks, filled and asked by two threads of each rank at once:
// where a word lives its hash says; a request carries it there and a reply brings the answer back.
//
// Written from the specification: handlers with medium payloads, replies, gex_HSL_t around what
// handlers and threads share, GASNET_BLOCKUNTIL. C++11, GASNET_PAR.
#define GASNET_PAR
#include <gasnetex.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

gex_TM_t team;
gex_Rank_t me, ranks;

void check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "rank %u: %s\n", static_cast<unsigned>(me), what);
  gasnet_exit(1);
}

// The part of the table that lives here. Handlers touch it, on whatever thread polls.
class Shelf {
 public:
  // Adds `count` to the word; how often it has been added now.
  int add(const std::string& word, int count) {
    const Lock lock(hsl_);
    return words_[word] += count;
  }
  int find(const std::string& word) {
    const Lock lock(hsl_);
    const std::map<std::string, int>::const_iterator at = words_.find(word);
    return at == words_.end() ? 0 : at->second;
  }
  size_t size() {
    const Lock lock(hsl_);
    return words_.size();
  }

 private:
  struct Lock {
    explicit Lock(gex_HSL_t& h) : hsl(h) { gex_HSL_Lock(&hsl); }
    ~Lock() { gex_HSL_Unlock(&hsl); }
    gex_HSL_t& hsl;
  };
  gex_HSL_t hsl_ = GEX_HSL_INITIALIZER;
  std::map<std::string, int> words_;
} shelf;

// What a thread waits for. Its address travels with the request, in two halves, and comes back.
struct Answer {
  std::atomic<bool> here{false};
  int count = 0;
};

enum : gex_AM_Index_t { kAdd = GEX_AM_INDEX_BASE, kFind, kAnswer };

gex_AM_Arg_t high(const void* p) {
  return static_cast<gex_AM_Arg_t>(reinterpret_cast<uintptr_t>(p) >> 32);
}
gex_AM_Arg_t low(const void* p) {
  return static_cast<gex_AM_Arg_t>(reinterpret_cast<uintptr_t>(p) & 0xFFFFFFFFu);
}

void on_add(gex_Token_t token, void* word, size_t length, gex_AM_Arg_t count, gex_AM_Arg_t h,
            gex_AM_Arg_t l) {
  const int now = shelf.add(std::string(static_cast<char*>(word), length), count);
  gex_AM_ReplyShort(token, kAnswer, 0, now, h, l);
}
void on_find(gex_Token_t token, void* word, size_t length, gex_AM_Arg_t h, gex_AM_Arg_t l) {
  const int count = shelf.find(std::string(static_cast<char*>(word), length));
  gex_AM_ReplyShort(token, kAnswer, 0, count, h, l);
}
void on_answer(gex_Token_t, gex_AM_Arg_t count, gex_AM_Arg_t h, gex_AM_Arg_t l) {
  Answer* answer = reinterpret_cast<Answer*>(
      static_cast<uintptr_t>(static_cast<uint32_t>(h)) << 32 | static_cast<uint32_t>(l));
  answer->count = count;
  answer->here.store(true, std::memory_order_release);
}

gex_Rank_t home_of(const std::string& word) {
  uint64_t hash = 1469598103934665603u;
  for (const char c : word) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return static_cast<gex_Rank_t>(hash % ranks);
}

int add(const std::string& word, int count) {
  Answer answer;
  gex_AM_RequestMedium(team, home_of(word), kAdd, word.data(), word.size(), GEX_EVENT_NOW, 0, count,
                       high(&answer), low(&answer));
  GASNET_BLOCKUNTIL(answer.here.load(std::memory_order_acquire));
  return answer.count;
}
int find(const std::string& word) {
  Answer answer;
  gex_AM_RequestMedium(team, home_of(word), kFind, word.data(), word.size(), GEX_EVENT_NOW, 0,
                       high(&answer), low(&answer));
  GASNET_BLOCKUNTIL(answer.here.load(std::memory_order_acquire));
  return answer.count;
}

constexpr int kThreads = 2, kWords = 120;

// Everybody adds the shared words; words of one's own are added by nobody else.
std::string shared_word(int i) {
  return "shared-" + std::to_string(i * i);
}
std::string own_word(gex_Rank_t rank, int thread, int i) {
  return "rank-" + std::to_string(rank) + "." + std::to_string(thread) + "-" +
         std::string(i % 40, 'x') + std::to_string(i);
}

void fill(int thread) {
  for (int i = 0; i < kWords; ++i) {
    check(add(own_word(me, thread, i), i + 1) == i + 1, "a word of one's own was there before");
    check(add(shared_word(i), 1) >= 1, "a shared word counts backwards");
  }
}

void ask(int thread) {
  for (int i = 0; i < kWords; ++i) {
    check(find(shared_word(i)) == static_cast<int>(ranks) * kThreads, "a shared word was lost");
    const gex_Rank_t other = (me + 1) % ranks;
    check(find(own_word(other, thread, i)) == i + 1, "a word of the neighbor is missing");
    check(find("absent-" + std::to_string(i)) == 0, "a word nobody added is there");
  }
}

template <typename Work>
void on_threads(Work work) {
  std::vector<std::thread> threads;
  for (int t = 1; t < kThreads; ++t) threads.emplace_back(work, t);
  work(0);
  for (std::thread& thread : threads) thread.join();
}

void barrier() {
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
}

template <typename Fn>
gex_AM_Entry_t entry(gex_AM_Index_t index, Fn fn, gex_Flags_t flags, unsigned nargs) {
  gex_AM_Entry_t e = {};
  e.gex_index = index;
  e.gex_fnptr = reinterpret_cast<gex_AM_Fn_t>(fn);
  e.gex_flags = flags;
  e.gex_nargs = nargs;
  return e;
}

}  // namespace

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t ep;
  check(gex_Client_Init(&client, &ep, &team, "TABLE", &argc, &argv, 0) == GASNET_OK, "init");
  me = gex_TM_QueryRank(team);
  ranks = gex_TM_QuerySize(team);
  gex_AM_Entry_t handlers[] = {
      entry(kAdd, on_add, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 3),
      entry(kFind, on_find, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 2),
      entry(kAnswer, on_answer, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 3),
  };
  check(gex_EP_RegisterHandlers(ep, handlers, 3) == GASNET_OK, "handlers");
  barrier();
  on_threads(fill);
  barrier();
  on_threads(ask);
  barrier();
  check(ranks > 1 || shelf.size() == (kThreads + 1) * kWords, "words that nobody added");
  std::printf("rank %u of %u: ok\n", static_cast<unsigned>(me), static_cast<unsigned>(ranks));
  std::fflush(stdout);
  barrier();
  gasnet_exit(0);
}
