// Endpoints and connections: several at once, late connections, threads.
#include <fmt/format.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "../harness/cases.h"
#include "../harness/expect.h"
#include "../harness/session.h"
#include "../harness/threads.h"
#include "base/error.h"

namespace causeway::conformance {
namespace {

Nothing count_requests(Side& side, const Nothing&) {
  blackboard().slot[3].store(0);
  side.ep->on_request = [](const Message&) { blackboard().slot[3].fetch_add(1); };
  return {};
}

void await_count(Session& s, uint64_t n) {
  s.ep().until([&] { return blackboard().slot[3].load() >= n; },
               fmt::format("arrival of {} messages", n), 20.0);
  EXPECT_EQ(blackboard().slot[3].load(), n);
}

// Catches a connect that needs the peer to do more than progress: the core connects at first use.
void connect_while_peer_only_progresses() {
  Session s({.memory = 0, .connect = 0});
  s.call(count_requests, Nothing{});
  Connection late(s.ep(), s.side().peer, s.loopback());
  for (uint64_t n = 0; n < 100; ++n) late.send(n, nullptr, 0);
  await_count(s, 100);
}

// Catches connections that leave something behind in the peer: reconnecting works as often as
// one likes.
void reconnect() {
  Session s({.memory = 0, .connect = 0});
  s.call(count_requests, Nothing{});
  for (uint64_t round = 1; round <= 50; ++round) {
    Connection conn(s.ep(), s.side().peer, s.loopback());
    for (uint64_t n = 0; n < 10; ++n) conn.send(n, nullptr, 0);
    await_count(s, round * 10);  // quiet before disconnect
  }
}

// ---- several endpoints ----------------------------------------------------------------------

// Catches state that is kept per process or per domain instead of per endpoint.
void several_endpoints_in_one_process() {
  Session s({.memory = 0});
  s.call(count_requests, Nothing{});
  constexpr uint32_t kEndpoints = 4, kEach = 2000;
  std::vector<std::unique_ptr<Endpoint>> eps;
  std::vector<std::unique_ptr<Connection>> conns;
  for (uint32_t i = 0; i < kEndpoints; ++i) {
    eps.push_back(std::make_unique<Endpoint>(*s.side().domain, i + 1));
    conns.push_back(std::make_unique<Connection>(*eps.back(), s.side().peer, s.loopback()));
    // A loopback conduit's messages come back to the endpoint that sends, or to the session's.
    eps.back()->on_request = [](const Message&) { blackboard().slot[3].fetch_add(1); };
    eps.back()->meanwhile = [&s] { s.ep().progress(); };
  }
  for (uint32_t n = 0; n < kEach; ++n) {
    for (auto& conn : conns) conn->send(n, nullptr, 0);
  }
  s.ep().until(
      [&] {
        for (auto& ep : eps) ep->progress();
        return blackboard().slot[3].load() >= kEndpoints * kEach;
      },
      "messages of four endpoints");
  EXPECT_EQ(blackboard().slot[3].load(), kEndpoints * kEach);
  conns.clear();
}

// Catches messages of one endpoint that are delivered to its neighbour in the same process.
void traffic_between_own_endpoints() {
  Session s({.memory = 0});
  Endpoint a(*s.side().domain, 1), b(*s.side().domain, 2);
  Card to_b;
  b.address(to_b, s.side().card.peer);
  const cwyc_peer_desc desc = describe(to_b, true);
  ErrorText err;
  const cwy_status reach = s.ep().module().reach(s.side().domain->get(), &desc, err);
  if (reach != CWY_OK) throw Skip{"a peer in the same process"};
  if (s.loopback()) throw Skip{"a second endpoint of the same process"};
  uint64_t at_a = 0, at_b = 0;
  a.on_request = [&](const Message&) { ++at_a; };
  b.on_request = [&](const Message&) { ++at_b; };
  a.meanwhile = [&] { b.progress(); };
  {
    auto conn = std::make_unique<Connection>(a, to_b, true);
    for (uint64_t n = 0; n < 500; ++n) {
      conn->send(n, nullptr, 0);
    }
    a.until([&] { return at_b >= 500; }, "messages to the second endpoint");
  }
  EXPECT_EQ(at_b, 500u);
  EXPECT_EQ(at_a, 0u) << "delivered to the wrong endpoint";
}

// ---- threads --------------------------------------------------------------------------------

constexpr uint32_t kThreads = 4;

// The receiver: per sending thread, every number once.
struct ThreadSink {
  std::vector<uint8_t> seen[kThreads];
  std::atomic<uint64_t> received{0}, wrong{0};
};
ThreadSink* g_sink = nullptr;

Nothing open_thread_sink(Side& side, const uint32_t& each) {
  g_sink = new ThreadSink;  // for the rest of this process's life: the handler may still run
  for (auto& seen : g_sink->seen) seen.assign(each, 0);
  side.ep->on_request = [each](const Message& m) {
    const auto thread = static_cast<uint32_t>(m.word >> 32), n = static_cast<uint32_t>(m.word);
    const bool good = thread < kThreads && n < each && m.nargs == 1 &&
                      static_cast<uint32_t>(m.args[0]) == n &&
                      __atomic_exchange_n(&g_sink->seen[thread][n], 1, __ATOMIC_RELAXED) == 0 &&
                      first_difference(m.payload, m.length, m.word) == m.length;
    // Relaxed: polled until equal, nothing else hangs on them.
    if (!good) g_sink->wrong.fetch_add(1, std::memory_order_relaxed);
    g_sink->received.fetch_add(1, std::memory_order_relaxed);
  };
  return {};
}

struct ThreadTally {
  uint64_t received, wrong;
};
ThreadTally thread_tally(Side&, const Nothing&) {
  return {g_sink->received.load(), g_sink->wrong.load()};
}

// Sends shorts and mediums; the progressing is another thread's.
void send_from_thread(Session& s, uint32_t thread, uint32_t each) {
  uint8_t payload[256];
  for (uint32_t n = 0; n < each; ++n) {
    const auto arg = static_cast<int32_t>(n);
    const uint64_t word = (uint64_t{thread} << 32) | n;
    const size_t size = n % 4 == 0 ? n % sizeof payload : 0;
    fill_pattern(payload, size, word);
    Op* op = size != 0 ? &s.pool().am("am_medium") : nullptr;
    const Deadline deadline("a send from a thread", 20.0);
    for (;;) {
      const cwy_status status =
          op == nullptr ? s.ops().am_short(s.raw(), word, &arg, 1, 0) : op->post([&](cwyc_op* raw) {
            return s.ops().am_medium(s.raw(), word, &arg, 1, payload, nullptr, size,
                                     CWYC_SRC_VOLATILE, raw);
          });
      if (!is_error(status)) break;
      if (status != CWY_RETRY) throw Error(status, "send answered {}", status_name(status));
      sched_yield();
      deadline.check();
    }
  }
}

// Catches races in a conduit that declares MULTI: lost, doubled or torn messages when four
// threads send on one connection while a fifth makes progress.
void four_senders_one_progress() {
  Session s({.memory = 0, .multithreaded = 1});
  const uint32_t each = 20'000 / kSlowdown;
  s.call(open_thread_sink, each);
  const auto failures =
      beside_progress(s, kThreads, [&](uint32_t t) { send_from_thread(s, t, each); });
  for (const std::string& failure : failures) ASSERT_EQ(failure, "");
  const Deadline deadline("messages of four threads", 20.0);
  ThreadTally tally{};
  while ((tally = s.call(thread_tally, Nothing{})).received < uint64_t{kThreads} * each) {
    s.ep().step();
    if (deadline.passed()) break;
  }
  EXPECT_EQ(tally.received, uint64_t{kThreads} * each) << "messages were lost";
  EXPECT_EQ(tally.wrong, 0u) << "doubled or torn messages";
}

// Catches ep_threads that cannot be raised later: locking goes up after start-up.
void threads_raised_later() {
  Session s({.memory = 0});
  ASSERT_EQ(s.ep().module().ep_threads(s.ep().get(), 1), CWY_OK);
  s.call(count_requests, Nothing{});
  std::string failure;
  std::thread other([&] {
    try {
      for (uint64_t n = 0; n < 2000; ++n) {
        while (s.ops().am_short(s.raw(), n, nullptr, 0, 0) == CWY_RETRY) sched_yield();
      }
    } catch (const std::exception& e) {
      failure = e.what();
    }
    blackboard().slot[4].store(1);
  });
  while (blackboard().slot[4].load() == 0) s.ep().step();
  other.join();
  EXPECT_EQ(failure, "");
  await_count(s, 2000);
  EXPECT_EQ(s.ep().module().ep_threads(s.ep().get(), 1), CWY_OK);
}

Nothing send_one(Side& side, const Nothing&) {
  side.conn->send(1, nullptr, 0);
  return {};
}

// Catches a lock that is held around deliver() and that a post of another thread waits for: a
// conduit that has one declares LOCKED.
void posts_beside_a_delivery() {
  if (world().ops.concurrency != CWYC_MULTI) throw Skip{"concurrency MULTI"};
  Session s({.memory = 0, .multithreaded = 1});
  std::atomic<bool> inside{false}, posted{false};
  bool in_time = false;
  s.ep().on_request = [&](const Message&) {
    if (inside.exchange(true)) return;
    const Deadline handler("a post beside a delivery", 2.0);
    while (!posted.load() && !handler.passed()) sched_yield();
    in_time = posted.load();
  };
  std::string failure;
  std::thread poster([&] {
    const Deadline deadline("a post of another thread", 10.0);
    cwy_status status = CWY_RETRY;
    while (!inside.load() && !deadline.passed()) sched_yield();
    while (status == CWY_RETRY && !deadline.passed())
      if ((status = s.ops().am_short(s.raw(), 2, nullptr, 0, 0)) == CWY_RETRY) sched_yield();
    if (status != CWY_OK) failure = status_name(status);
    posted.store(true);
  });
  s.call(send_one, Nothing{});
  const Deadline deadline("a message and a post beside it", 12.0);
  while (!posted.load() && !deadline.passed()) s.ep().step();
  poster.join();
  EXPECT_EQ(failure, "") << "am_short beside a delivery";
  EXPECT_TRUE(in_time) << "a post waited for the deliver() of another thread";
}

const Cases cases{
    {"Endpoint", "connect_while_peer_only_progresses", kShort, connect_while_peer_only_progresses},
    {"Endpoint", "reconnect", kShort, reconnect},
    {"Endpoint", "several_in_one_process", kShort, several_endpoints_in_one_process},
    {"Endpoint", "traffic_between_own_endpoints", kShort, traffic_between_own_endpoints},
    {"Threads", "four_senders_one_progress", kMulti | kShort | kMedium, four_senders_one_progress},
    {"Threads", "raised_later", kMulti | kShort, threads_raised_later},
    {"Threads", "posts_beside_a_delivery", kMulti | kShort, posts_beside_a_delivery},
};

}  // namespace
}  // namespace causeway::conformance
