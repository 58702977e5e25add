#include "process/departed.h"

#include <causeway/operations.h>
#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/fatal.h"
#include "base/quiet_thread.h"
#include "collective/exchange.h"
#include "collective/inquiry.h"
#include "config/rank_set.h"
#include "connection/word.h"
#include "object/client.h"
#include "process/exit.h"
#include "process/runtime.h"
#include "rma/unanswered.h"

namespace causeway {
namespace {

struct Departed {
  std::mutex mutex;
  std::vector<uint32_t> ranks;
};
Departed& departed() {
  static auto* const instance = new Departed;  // polls look to the very end
  return *instance;
}
// Relaxed: a hint whether to take the mutex.
std::atomic<bool> g_any{false};

// None where clients survive failures: then they do leaves, too. None before the start is done, in
// which a spare may be told already: acquires what start_runtime() releases.
std::vector<uint32_t> ranks_that_left() {
  Runtime* const rt = std::atomic_ref(g_runtime).load(std::memory_order_acquire);
  if (rt == nullptr || (rt->survives_failures() && rt->bootstrap().survives_failures())) return {};
  Departed& d = departed();
  const std::lock_guard lock(d.mutex);
  return d.ranks;
}

// ---- the ways to them ----

// The table of closed connections. A closed connection stands in front of the one that served the
// peer's messages. The word of a message tells whether the message is the client's.
cwyc_conn* behind(cwyc_conn* conn) {
  return Connection::of(conn).base;
}

// True: the message is to be dropped.
bool is_dropped(cwyc_conn* conn, uint64_t word) {
  if (word & kWordInternal) return false;
  if (word & kWordReply) return true;
  const uint32_t rank = Connection::of(conn).peer->rank;
  fatal("gex_AM_Request*()", "rank {} has left the job: nobody runs handlers there", rank);
}

template <auto Entry, typename... Args>
void close(cwy_status (*&entry)(cwyc_conn*, uint64_t, const int32_t*, uint32_t, Args...)) {
  entry = [](cwyc_conn* conn, uint64_t word, const int32_t* values, uint32_t nargs,
             Args... args) -> cwy_status {
    if (is_dropped(conn, word)) return CWY_OK;
    return (behind(conn)->ops->*Entry)(behind(conn), word, values, nargs, args...);
  };
}
// The client that a negotiated message is for is known at its commit only.
template <auto Entry, typename Result, typename... Args>
void close(Result (*&entry)(cwyc_conn*, Args...)) {
  entry = [](cwyc_conn* conn, Args... args) -> Result {
    return (behind(conn)->ops->*Entry)(behind(conn), args...);
  };
}
void closed_commit(cwyc_conn* conn, cwyc_am_slot* slot, uint64_t word, const int32_t* args,
                   uint32_t nargs, size_t length) {
  const cwyc_ops& ops = *behind(conn)->ops;
  if (is_dropped(conn, word)) return ops.am_cancel(behind(conn), slot);
  ops.am_commit(behind(conn), slot, word, args, nargs, length);
}

// Messages alone: puts, gets and atomics have pointers of their own in Peer.
const cwyc_ops kClosedTable = [] {
  cwyc_ops ops{};
  ops.head = CWY_HEAD(cwyc_ops);
  ops.concurrency = CWYC_MULTI;
  for_each_operation([&]<typename Each>(const Each& operation) {
    if (operation.lane == Lane::am) close<Each::member>(ops.*Each::member);
  });
  ops.am_commit = closed_commit;
  return ops;
}();

void close_requests(Peer& peer) {
  // Not waited for: who connects holds it, and the next look comes soon.
  const std::unique_lock lock(peer.ep->connect_mutex(), std::try_to_lock);
  if (!lock.owns_lock() || !peer.connected) return;
  cwyc_conn* const open = peer.am.load(std::memory_order_relaxed);  // changes under that mutex
  if (open->ops == &kClosedTable) return;
  Connection& served = Connection::of(open);
  auto* const c = new (std::align_val_t{alignof(Connection)}) Connection;
  c->peer = &peer;
  c->cep = served.cep;
  c->attr = served.attr;
  c->base = open;
  c->conn = *open;
  c->conn.ops = &kClosedTable;
  c->conn.core = c;
  c->rma_over_am.store(served.rma_over_am.load(std::memory_order_relaxed),
                       std::memory_order_relaxed);
  c->rkey.store(served.rkey.load(std::memory_order_acquire), std::memory_order_relaxed);
  peer.former.push_back(c);
  // Release: whoever loads the pointer sees the connection complete.
  peer.am.store(&c->conn, std::memory_order_release);
}

// From now on a request of the client's to that rank ends this process with a line that names both:
// the rank runs no handlers any more, and a wait for the reply would never fail. Replies of the
// client's are dropped, since no rank misses them. Messages of the core's go as before: the rank
// answers until it ends. Connections that come up later, or are being made, need another call. Not
// inside of a conduit.
void close_requests_to(uint32_t rank) {
  const std::unique_lock lock(runtime().clients_mutex, std::try_to_lock);
  if (!lock.owns_lock()) return;
  for (Client* client : runtime().clients)
    for (uint16_t index = 0; index < Endpoint::kMaxEndpoints; ++index)
      client->for_each_peer(index, rank, close_requests);
}

// Over shared memory a wait for a rank that is gone never fails, so polls are made to look at
// departed ranks. A thread of its own does that, because looks that cost nothing are too rare and
// others cost too much, and because a program that has not polled for a while sends before it
// polls.
void look_often() {
  constexpr std::chrono::milliseconds kBetweenLooks(200);
  quiet_thread_beside("a wait for a rank that has left may not end", [kBetweenLooks] {
    while (!exiting()) {
      for (const uint32_t rank : ranks_that_left()) {
        close_requests_to(rank);
        runtime().attention.store(true, std::memory_order_release);
      }
      std::this_thread::sleep_for(kBetweenLooks);
    }
  });
}

}  // namespace

void note_departed(uint32_t rank) {
  Departed& d = departed();
  const std::lock_guard lock(d.mutex);
  if (std::ranges::find(d.ranks, rank) != d.ranks.end()) return;
  d.ranks.push_back(rank);
  if (!g_any.exchange(true, std::memory_order_relaxed)) look_often();
}

std::string departed_words(uint32_t rank) {
  const std::vector<uint32_t> left = ranks_that_left();
  const bool among = std::ranges::find(left, rank) != left.end();
  return among ? fmt::format("; rank {} has left the job", rank) : "";
}

std::string departed_words() {
  const std::vector<uint32_t> left = ranks_that_left();
  if (left.size() < 2) return left.empty() ? "" : departed_words(left.front());
  return fmt::format("; ranks {} have left the job", RankSet::of(left).str());
}

namespace {

// Something under way here that only that rank can end, and what has become of it.
struct Want {
  const char* call = nullptr;  // NULL: nothing
  uint32_t rank = 0;
  uint32_t answers = 0;  // that it has given
  bool operator==(const Want&) const = default;
};

Want wanted_of(const std::vector<uint32_t>& ranks) {
  for (const uint32_t rank : ranks) {
    if (exchange_waits_for(rank)) return {"a collective call of teams or segments", rank, 0};
    if (const std::optional<uint32_t> answers = answers_while_owing(rank))
      return {"a put, get or atomic operation", rank, *answers};
  }
  return {};
}

// For so long as this, as at the last look.
uint64_t unchanged_for(const Want& want) {
  static std::mutex mutex;
  static Want last;
  static uint64_t since = 0;
  const std::lock_guard lock(mutex);
  const uint64_t now = now_ns();
  if (want.call == nullptr || !(want == last)) since = now;
  last = want;
  return now - since;
}

// Those that are members of the team of the collective that is waited for.
std::string members_that_left(const CollectiveWait& wait, std::vector<uint32_t> ranks) {
  std::erase_if(ranks, [&](uint32_t rank) { return !has_rank_of_job(*wait.team, rank); });
  const bool one = ranks.size() == 1;
  return fmt::format("it waits for {} {}, which {} left the job", one ? "rank" : "one of the ranks",
                     RankSet::of(ranks).str(), one ? "has" : "have");
}

CollectiveWait collective_with_any(const std::vector<uint32_t>& ranks) {
  CollectiveWait wait;
  for (const uint32_t rank : ranks) {
    wait = collective_with(rank);
    if (wait.call != nullptr) break;
  }
  return wait;
}

}  // namespace

void look_at_departed() {
  if (!g_any.load(std::memory_order_relaxed)) return;
  const std::vector<uint32_t> ranks = ranks_that_left();
  const uint64_t patience = runtime().config().timeouts.exit_ns;
  const Want want = wanted_of(ranks);
  if (unchanged_for(want) >= patience && want.call != nullptr)
    fatal(want.call, "it waits for rank {}, which has left the job", want.rank);
  const CollectiveWait wait = collective_with_any(ranks);
  if (waits_for_departed(wait, ranks, patience))
    fatal_text(wait.call, members_that_left(wait, ranks));
}

}  // namespace causeway
