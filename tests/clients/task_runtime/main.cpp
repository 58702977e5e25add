// A task runtime that loads the library by dlopen: worker threads, tasks that travel as active
// messages, counters that are updated by atomics, and an end that is noticed by counting tasks.
// Usage: task_runtime LIBRARY
//
// The tasks place queens on a board; rank 0 prints how many ways there are. Each rank stores how
// many tasks it ran in rank 0's segment, and every rank reads back what it stored.
#include <atomic>
#include <cstdint>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "library.h"

namespace {

constexpr int kBoard = 8;
constexpr uint64_t kSolutions = 92;
// Boards with fewer queens become tasks of their own: 1 + 8 + 42 + 140 of them.
constexpr int kDepth = 3;
constexpr uint64_t kTasks = 191;
constexpr int kWorkers = 2;
constexpr gex_AM_Index_t kRun = 140, kTaken = 141, kStop = 142;

struct Board {
  int8_t queens = 0;
  int8_t column[kBoard] = {};

  bool allows(int8_t next) const {
    for (int8_t row = 0; row < queens; ++row) {
      const int across = next - column[row], down = queens - row;
      if (across == 0 || across == down || across == -down) return false;
    }
    return true;
  }
  Board with(int8_t next) const {
    Board more = *this;
    more.column[more.queens++] = next;
    return more;
  }
};

// In rank 0's segment.
struct Totals {
  uint64_t unfinished, solutions;
  uint64_t ran[];  // by rank
};

struct Runtime {
  explicit Runtime(const Gex& functions) : gex(functions) {}
  const Gex& gex;
  gex_TM_t team = nullptr;
  gex_AD_t atomics = nullptr;
  gex_Rank_t me = 0, ranks = 0;
  Totals* totals = nullptr;  // an address of rank 0's
  std::atomic<uint32_t> sent{0}, taken{0}, ran{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::deque<Board> ready;
};
Runtime* g_runtime = nullptr;  // for handlers

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "task_runtime: %s\n", what);
  std::abort();
}
void require(bool condition, const char* what) {
  if (!condition) fail(what);
}

void on_run(gex_Token_t token, void* payload, size_t bytes, gex_AM_Arg_t ticket) {
  Board board;
  require(bytes == sizeof board, "a task came with the wrong size");
  std::memcpy(&board, payload, sizeof board);
  {
    const std::lock_guard lock(g_runtime->mutex);
    g_runtime->ready.push_back(board);
  }
  g_runtime->gex.reply_short1(token, kTaken, 0, ticket);
}
void on_taken(gex_Token_t, gex_AM_Arg_t ticket) {
  require(ticket == 42, "a reply came with the wrong argument");
  ++g_runtime->taken;
}
void on_stop(gex_Token_t) {
  g_runtime->stop = true;
}

uint64_t update(Runtime& r, uint64_t* word, gex_OP_t op, uint64_t by) {
  uint64_t before = 0;
  r.gex.event_wait(r.gex.atomic_u64(r.atomics, &before, 0, word, op, by, 0, 0));
  return before;
}

uint64_t count(const Board& board) {
  if (board.queens == kBoard) return 1;
  uint64_t found = 0;
  for (int8_t next = 0; next < kBoard; ++next)
    if (board.allows(next)) found += count(board.with(next));
  return found;
}

// Spread by content, so that tasks travel between all ranks.
gex_Rank_t home(const Runtime& r, const Board& board) {
  unsigned mixed = static_cast<unsigned>(board.queens);
  for (const int8_t column : board.column) mixed = mixed * 31 + static_cast<unsigned>(column);
  return mixed % r.ranks;
}

void spawn(Runtime& r, const Board& board) {
  ++r.sent;
  r.gex.request_medium1(r.team, home(r, board), kRun, &board, sizeof board, GEX_EVENT_NOW, 0, 42);
}

void run(Runtime& r, const Board& board) {
  ++r.ran;
  if (board.queens == kDepth) {
    update(r, &r.totals->solutions, GEX_OP_FADD, count(board));
  } else {
    std::vector<Board> children;
    for (int8_t next = 0; next < kBoard; ++next)
      if (board.allows(next)) children.push_back(board.with(next));
    // Before they are out: the count must not reach 0 while there is a task.
    update(r, &r.totals->unfinished, GEX_OP_FADD, children.size());
    for (const Board& child : children) spawn(r, child);
  }
  if (update(r, &r.totals->unfinished, GEX_OP_FSUB, 1) != 1) return;
  for (gex_Rank_t rank = 0; rank < r.ranks; ++rank) r.gex.request_short0(r.team, rank, kStop, 0);
}

void work(Runtime& r) {
  while (!r.stop) {
    Board board;
    bool have = false;
    {
      const std::lock_guard lock(r.mutex);
      if (!r.ready.empty()) {
        board = r.ready.front();
        r.ready.pop_front();
        have = true;
      }
    }
    if (have)
      run(r, board);
    else
      r.gex.poll();
  }
}

void barrier(Runtime& r) {
  r.gex.event_wait(r.gex.barrier(r.team, 0));
}

void start(Runtime& r) {
  gex_Client_t client{};
  gex_EP_t endpoint{};
  gex_TM_t team{};
  gex_Segment_t segment{};
  // Task runtimes size their messages before anything else.
  require(r.gex.least_medium() >= sizeof(Board), "messages are too small for a task");
  require(r.gex.client_init(&client, &endpoint, &team, "task_runtime", nullptr, nullptr, 0) ==
              GASNET_OK,
          "gex_Client_Init");
  gex_AM_Entry_t table[] = {{kRun, reinterpret_cast<gex_AM_Fn_t>(on_run),
                             GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 1, nullptr, "run"},
                            {kTaken, reinterpret_cast<gex_AM_Fn_t>(on_taken),
                             GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 1, nullptr, "taken"},
                            {kStop, reinterpret_cast<gex_AM_Fn_t>(on_stop),
                             GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, nullptr, "stop"}};
  require(r.gex.register_handlers(endpoint, table, 3) == GASNET_OK, "gex_EP_RegisterHandlers");
  require(r.gex.segment_attach(&segment, team, 1 << 20) == GASNET_OK, "gex_Segment_Attach");
  r.team = team;
  r.me = r.gex.rank(team);
  r.ranks = r.gex.size(team);
  void* address = nullptr;
  r.gex.event_wait(r.gex.query_segment(team, 0, &address, nullptr, nullptr, 0));
  r.totals = static_cast<Totals*>(address);
  if (r.me == 0) {
    require(r.gex.segment_addr(segment) == address, "two addresses of one segment");
    std::memset(address, 0, sizeof(Totals) + r.ranks * sizeof(uint64_t));
    r.totals->unfinished = 1;
  }
  r.gex.ad_create(&r.atomics, team, GEX_DT_U64, GEX_OP_FADD | GEX_OP_FSUB | GEX_OP_GET, 0);
  barrier(r);
}

// How many tasks each rank ran, at rank 0 by a put, and back by a get.
void tell(Runtime& r) {
  const uint64_t ran = r.ran;
  r.gex.put_nbi(r.team, 0, &r.totals->ran[r.me], &ran, sizeof ran, GEX_EVENT_NOW, 0);
  r.gex.nbi_wait(GEX_EC_PUT, 0);
  uint64_t back = ~ran;
  r.gex.get(r.team, &back, 0, &r.totals->ran[r.me], sizeof back, 0);
  require(back == ran, "a get brought something else than what was put");
}

void summarize(Runtime& r) {
  const uint64_t solutions = update(r, &r.totals->solutions, GEX_OP_GET, 0);
  uint64_t tasks = 0;
  for (gex_Rank_t rank = 0; rank < r.ranks; ++rank) tasks += r.totals->ran[rank];
  require(solutions == kSolutions, "a wrong number of solutions");
  require(tasks == kTasks, "a wrong number of tasks");
  std::printf("task_runtime: %u solutions by %u ranks in %u tasks\n",
              static_cast<unsigned>(solutions), r.ranks, static_cast<unsigned>(tasks));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: task_runtime LIBRARY\n");
    return 2;
  }
  const Library library(argv[1]);
  const Gex gex(library);
  Runtime runtime(gex);
  g_runtime = &runtime;
  start(runtime);
  if (runtime.me == 0) spawn(runtime, Board{});
  std::vector<std::thread> workers;
  for (int i = 0; i < kWorkers; ++i) workers.emplace_back(work, std::ref(runtime));
  for (std::thread& worker : workers) worker.join();
  while (runtime.taken != runtime.sent) gex.poll();
  tell(runtime);
  barrier(runtime);
  if (runtime.me == 0) summarize(runtime);
  barrier(runtime);
  gex.ad_destroy(runtime.atomics);
  gex.exit(0);
}
