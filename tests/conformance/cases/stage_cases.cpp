// The stages of a connection's life at which a peer may die or leave: before the connection, while
// it is made, under one-sided operations, while this side sleeps, and after a disconnect.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "../harness/cases.h"
#include "../harness/expect.h"
#include "../harness/session.h"
#include "base/error.h"

namespace causeway::conformance {
namespace {

// A connection that need not come up. Does what the core does in every case.
class Attempt {
 public:
  Attempt(Endpoint& ep, const Card& peer) : ep_(ep), conn_(new_connection(ep, peer, this)) {
    const cwyc_peer_desc desc = describe_to_connect(peer, false);
    op_ = &pool_.fetch("connect");
    status_ = op_->post([&](cwyc_op* raw) {
      return error_.after("connect", ep.module().connect(ep.get(), conn_, &desc, raw, error_));
    });
  }
  ~Attempt() {
    if (live_) ep_.module().disconnect(conn_);
    std::free(conn_);
  }
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  cwyc_conn* get() const { return conn_; }
  const Op& op() const { return *op_; }
  cwy_status answer() const { return status_; }
  const char* text() const { return error_.text(); }
  void purge() {
    ep_.module().purge(conn_);
    live_ = true;
  }
  // The connection is up: disconnect is due.
  void up() { live_ = true; }

 private:
  Endpoint& ep_;
  cwyc_conn* conn_ = nullptr;
  OpPool pool_;
  Op* op_ = nullptr;
  cwy_status status_;
  ErrorText error_;
  bool live_ = false;
};

bool says_dead(cwy_status status) {
  return status == CWY_ERR_UNREACHABLE || status == CWY_ERR_PEER_FAILED ||
         status == CWY_ERR_TIMEOUT;
}

// Catches a connect that ends in silence. Where no handshake is needed it may succeed; then the
// first purge must end everything all the same.
void killed_before_connect() {
  Session s({.memory = 0, .connect = 0});
  s.partner().kill();
  Attempt attempt(s.ep(), s.side().peer);
  if (attempt.answer() < 0) {
    EXPECT_TRUE(says_dead(attempt.answer())) << status_name(attempt.answer());
    EXPECT_STRNE(attempt.text(), "") << "refused without a reason";
    return;
  }
  s.ep().until([&] { return attempt.op().done(); }, "the end of a connect to a dead peer", 45.0);
  if (attempt.op().status() != CWY_OK) {
    EXPECT_TRUE(says_dead(attempt.op().status())) << status_name(attempt.op().status());
    EXPECT_TRUE(attempt.op().explained()) << "failed without a reason in cwy_detail";
    return;
  }
  const cwy_status sent = s.ep().usable_ops().am_short(attempt.get(), 1, nullptr, 0, 0);
  EXPECT_TRUE(sent == CWY_OK || sent == CWY_RETRY || sent == CWY_ERR_PEER_FAILED)
      << status_name(sent);
  attempt.purge();
}

// Catches a death that is met with the first step after the first posts: what the conduit still had
// to say to the peer then, its network's own introduction among it, finds nobody.
void killed_before_our_first_turn() {
  for (uint32_t round = 0; round < 12; ++round) {
    Session s({.memory = 0});
    const int32_t arg = 1;
    cwy_status last = CWY_OK;
    for (uint64_t n = 0; n < 20 && last >= 0; ++n) last = s.ops().am_short(s.raw(), n, &arg, 1, 0);
    EXPECT_TRUE(last >= 0 || last == CWY_RETRY) << "a living peer: " << status_name(last);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the peer has turns meanwhile
    s.partner().kill();
    for (int i = 0; i < 100; ++i) s.ep().step();
    s.conn().purge();
    EXPECT_EQ(s.pool().unfinished(), 0u) << s.pool().describe_unfinished();
    last = s.ops().am_short(s.raw(), 1, &arg, 1, 0);
    EXPECT_EQ(last, CWY_ERR_PEER_FAILED) << "after purge: " << status_name(last);
  }
}

// Catches a purge that forgets the connect that is under way, or that waits for the peer, which
// here does nothing at all.
void purge_while_connecting() {
  Session s({.memory = 0, .connect = 0});
  s.partner().hold();
  {
    Attempt attempt(s.ep(), s.side().peer);
    ASSERT_GE(attempt.answer(), 0) << status_name(attempt.answer());
    const uint64_t before = now_ns();
    attempt.purge();
    EXPECT_LT(now_ns() - before, 5'000'000'000u * kSlowdown) << "purge waited for the peer";
    EXPECT_TRUE(attempt.op().done()) << "the connect was not reported by purge";
    const cwy_status sent = s.ep().usable_ops().am_short(attempt.get(), 1, nullptr, 0, 0);
    EXPECT_EQ(sent, CWY_ERR_PEER_FAILED) << "after purge: " << status_name(sent);
  }
  for (int i = 0; i < 100; ++i) s.ep().step();
  s.partner().resume();
}

Nothing progress_for(Side& side, const std::chrono::milliseconds& time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) side.ep->progress();
  return {};
}

// Catches a peer that takes the silence of a rank for its end: that rank computes between the start
// of the connect and its next turn.
void connects_and_computes() {
  Session s({.memory = 0, .connect = 0});
  s.start(progress_for, std::chrono::milliseconds(2700));
  Attempt attempt(s.ep(), s.side().peer);
  ASSERT_GE(attempt.answer(), 0) << status_name(attempt.answer());
  std::this_thread::sleep_for(std::chrono::milliseconds(2000));
  s.ep().until([&] { return attempt.answer() == CWY_OK || attempt.op().done(); }, "the connection");
  EXPECT_EQ(attempt.answer() == CWY_OK ? CWY_OK : attempt.op().status(), CWY_OK);
  s.finish<Nothing>();
  attempt.up();
}

// Catches one-sided operations that never end, or that touch their buffers after purge: the peer
// dies with puts and gets of many sizes under way. The buffers are unmapped right after.
void killed_in_the_middle_of_puts() {
  Session s({.memory = 8u << 20});
  const size_t most =
      std::min<uint64_t>(s.ep().attr().rma_max == 0 ? SIZE_MAX : s.ep().attr().rma_max, 1u << 20);
  auto buffer = std::make_unique<std::vector<uint8_t>>(2 * most);
  const auto post = [&](uint64_t n) {
    const size_t length = 1 + s.random.below(n % 5 == 0 ? most : std::min<size_t>(most, 9000));
    const bool put = n % 2 == 0 || s.ops().get == nullptr;
    Op& op = put ? s.pool().put() : s.pool().fetch();
    return op.post([&](cwyc_op* raw) {
      return put ? s.ops().put(s.raw(), buffer->data(), nullptr, s.remote().base(),
                               s.remote().get(), length, 0, raw)
                 : s.ops().get(s.raw(), buffer->data() + most, nullptr, s.remote().base(),
                               s.remote().get(), length, 0, raw);
    });
  };
  const Deadline deadline("the flood of puts", 20.0);
  cwy_status last = CWY_OK;
  const uint64_t flood = 100 + 500 / kSlowdown;
  uint64_t accepted = 0;
  while (accepted < flood && !deadline.passed()) {
    last = post(accepted);
    ASSERT_TRUE(last >= 0 || last == CWY_RETRY) << "a living peer: " << status_name(last);
    accepted += last >= 0 ? 1 : 0;
    if (last == CWY_RETRY) s.ep().step();
  }
  s.partner().kill();
  const uint64_t end = now_ns() + 300'000'000;
  for (uint64_t n = 0; n < flood && now_ns() < end && (last >= 0 || last == CWY_RETRY); ++n) {
    last = post(n);
    if (last == CWY_RETRY) s.ep().step();
  }
  EXPECT_TRUE(last >= 0 || last == CWY_RETRY || last == CWY_ERR_PEER_FAILED) << status_name(last);
  s.conn().purge();
  EXPECT_EQ(s.pool().unfinished(), 0u) << "purge left pending: " << s.pool().describe_unfinished();
  buffer.reset();
  for (int i = 0; i < 100; ++i) s.ep().step();
}

// Catches a sleeper that is not told: death is reported although this side only ever sleeps, looks
// once, and sleeps again.
void killed_while_we_wait() {
  Session s({.memory = 0});
  PluginHost::take_peer_reports();
  int fd = -1;
  const bool by_fd = s.ep().can(CWYC_CAP_WAIT_FD);
  if (by_fd) require_ok(s.ep().module().wait_fd(s.ep().get(), &fd), "wait_fd");
  const auto sleep_once = [&] {
    if (!by_fd) return s.ep().module().nap(s.ep().get(), 50'000'000);
    if (s.ep().module().arm(s.ep().get()) != CWY_OK) return;
    pollfd p{fd, POLLIN, 0};
    poll(&p, 1, 50);
  };
  for (int i = 0; i < 3; ++i) {
    sleep_once();
    s.ep().progress();
  }
  s.partner().kill();
  const Deadline deadline("the report of a death by a side that sleeps", 15.0);
  for (bool reported = false; !reported; deadline.check()) {
    sleep_once();
    s.ep().progress();
    for (const PeerReport& report : PluginHost::take_peer_reports())
      reported |= report.state == CWY_PEER_FAILED;
  }
}

Nothing count_them(Side& side, const Nothing&) {
  blackboard().slot[6].store(0);
  side.ep->on_request = [](const Message&) { blackboard().slot[6].fetch_add(1); };
  return {};
}

Nothing send_after_disconnect(Side& side, const uint64_t& count) {
  for (uint64_t n = 0; n < count; ++n) side.conn->send(n, nullptr, 0);
  return {};
}

// Catches messages that are lost, or do harm, because their receiver has disconnected: its peer may
// go on sending until it disconnects too. Then both meet again.
void peer_sends_after_disconnect() {
  Session s({.memory = 0});
  uint64_t arrived = 0;
  s.ep().on_request = [&](const Message&) { ++arrived; };
  s.side().conn.reset();
  constexpr uint64_t kCount = 300;
  s.call(send_after_disconnect, kCount);
  s.ep().until([&] { return arrived >= kCount; }, "messages from a peer that is still connected");
  EXPECT_EQ(arrived, kCount);
  s.call(count_them, Nothing{});
  s.side().conn = std::make_unique<Connection>(s.ep(), s.side().peer, false);
  for (uint64_t n = 0; n < 50; ++n) s.conn().send(n, nullptr, 0);
  s.ep().until([&] { return blackboard().slot[6].load() >= 50; }, "messages after meeting again");
}

// As many messages as leave at once, and then the end, in order and without waiting for anything.
Nothing send_and_leave(Side& side, const uint64_t& most) {
  uint64_t sent = 0;
  while (sent < most && side.conn->ops().am_short(side.conn->get(), sent, nullptr, 0, 0) == CWY_OK)
    ++sent;
  blackboard().slot[9].store(sent);
  side.close();
  return {};
}

void expect_no_report_of_an_end() {
  for (const PeerReport& report : PluginHost::take_peer_reports())
    ADD_FAILURE() << "the peer closed its endpoint in order and is reported: " << report.why;
}

// Catches a peer's end in order that is taken for its death, or that overtakes what it sent: this
// side reads one message at a time, and is behind when the end comes.
void leaves_in_order_behind_messages() {
  Session s({.memory = 0});
  PluginHost::take_peer_reports();
  uint64_t arrived = 0;
  s.ep().on_request = [&](const Message&) { ++arrived; };
  s.conn().send(0, nullptr, 0);  // both sides are in touch
  s.start(send_and_leave, uint64_t{120});
  const auto read_one = [&] {
    s.ep().progress(1);
    usleep(2000);
  };
  s.partner().finish<Nothing>(read_one);
  const uint64_t sent = blackboard().slot[9].load();
  const Deadline deadline("the messages of a peer that has left");
  while (arrived < sent) {
    read_one();
    deadline.check();
  }
  const uint64_t end = now_ns() + 600'000'000;
  while (now_ns() < end) s.ep().step();
  EXPECT_EQ(arrived, sent);
  expect_no_report_of_an_end();
}

Nothing leave(Side& side, const Nothing&) {
  side.close();
  return {};
}

// Catches an end in order that says no goodbye: posts to a peer that has left go on for ever, or
// are what reports a death.
void leaves_in_order_and_says_so() {
  Session s({.memory = 0});
  PluginHost::take_peer_reports();
  s.conn().send(0, nullptr, 0);  // both sides are in touch
  s.call(leave, Nothing{});
  const uint64_t read = now_ns() + 100'000'000;
  while (now_ns() < read) s.ep().step();
  cwy_status last = CWY_OK;
  s.ep().until(
      [&] {
        // Many in each turn, which may be long on a busy machine: a conduit need not look before it
        // is full.
        for (int n = 0; n < 1000 && (last == CWY_OK || last == CWY_RETRY); ++n)
          last = s.ops().am_short(s.raw(), 1, nullptr, 0, 0);
        return last != CWY_OK && last != CWY_RETRY;
      },
      "an answer other than OK and RETRY of a post to a peer that has left in order");
  EXPECT_EQ(last, CWY_ERR_PEER_FAILED) << status_name(last);
  const uint64_t end = now_ns() + 100'000'000;
  while (now_ns() < end) s.ep().step();
  expect_no_report_of_an_end();
}

// Catches an end that a peer holds up, or that breaks off: the peer has left with messages of this
// side unread, as many as were accepted.
void leaves_messages_unread() {
  Session s({.memory = 0});
  s.conn().send(0, nullptr, 0);  // both sides are in touch
  const uint64_t end = now_ns() + 20'000'000;
  for (uint64_t sent = 0; sent < 300 && now_ns() < end;)
    if (s.ops().am_short(s.raw(), 1, nullptr, 0, 0) == CWY_OK) ++sent;
  s.call(leave, Nothing{});
  const uint64_t began = now_ns();
  s.side().close();
  EXPECT_LT(now_ns() - began, 3'000'000'000u) << "nanoseconds: the end waited for a peer that left";
}

// ---- waiting for something other than a message ----------------------------------------------

// Catches completions that do not end a sleep: gets are posted and only slept for.
void completions_end_the_sleep() {
  Session s;
  int fd = -1;
  require_ok(s.ep().module().wait_fd(s.ep().get(), &fd), "wait_fd");
  uint64_t value = 0;
  uint32_t overslept = 0;
  for (uint32_t round = 0; round < 500 / kSlowdown; ++round) {
    Op& op = s.pool().fetch();
    const cwy_status status = s.ep().retry(
        [&] {
          return op.post([&](cwyc_op* raw) {
            return s.ops().get(s.raw(), &value, nullptr, s.remote().base(), s.remote().get(), 8, 0,
                               raw);
          });
        },
        "get");
    ASSERT_GE(status, 0) << status_name(status);
    const Deadline deadline("completion of a get that is slept for");
    while (!op.done()) {
      if (s.ep().progress() != 0) continue;
      if (s.ep().module().arm(s.ep().get()) == CWY_OK) {
        pollfd p{fd, POLLIN, 0};
        overslept += poll(&p, 1, 300) == 0 ? 1 : 0;
      }
      deadline.check();
    }
  }
  EXPECT_LE(overslept, 2u) << "sleeps that no completion ended";
}

// ---- memory and endpoints that come later ----------------------------------------------------

// Leaked on purpose until the process ends: the partner is killed after the case.
Card open_second_endpoint(Side& side, const uint32_t& index) {
  static std::unique_ptr<Endpoint> second;
  second = std::make_unique<Endpoint>(*side.domain, index);
  side.ep->meanwhile = nullptr;
  side.ep->on_request = nullptr;
  Card card = side.card;
  second->address(card, {0, 1});
  side.ep->meanwhile = [] { second->progress(); };
  blackboard().slot[7].store(1);
  return card;
}

// Serves both endpoints until told to stop, then closes the second.
Nothing serve_both(Side& side, const Nothing&) {
  const Deadline deadline("the other side's word that it is done", 25.0);
  while (blackboard().slot[8].load() == 0) {
    side.ep->step();
    deadline.check();
  }
  return {};
}

// Catches memory that is reachable only through the endpoint that was open when it was registered.
void memory_through_a_later_endpoint() {
  Session s;
  const Card second = s.call(open_second_endpoint, 3u);
  if (s.loopback()) throw Skip{"a peer in another process"};
  s.start(serve_both, Nothing{});
  std::vector<uint8_t> source(3000), back(3000);
  {
    Connection conn(s.ep(), second, false);
    RemoteMemory remote(s.ep(), second, false);
    for (uint64_t key = 1; key <= 50; ++key) {
      const size_t length = 1 + s.random.below(source.size());
      fill_pattern(source.data(), length, key);
      conn.put(source.data(), remote.base() + 64, remote, length);
      conn.get_data(back.data(), remote.base() + 64, remote, length);
      ASSERT_EQ(first_difference(back.data(), length, key), length);
    }
  }
  blackboard().slot[8].store(1);
  s.finish<Nothing>();
  s.partner().kill();
}

const Cases cases{
    {"Failure", "killed_before_connect", kShort | kProcess, killed_before_connect},
    {"Failure", "killed_before_our_first_turn", kShort | kProcess, killed_before_our_first_turn},
    {"Failure", "killed_in_the_middle_of_puts", kPut | kMemory | kProcess,
     killed_in_the_middle_of_puts},
    {"Failure", "killed_while_we_wait", kPeerFailure | kProcess, killed_while_we_wait},
    {"Stage", "connects_and_computes", kShort | kProcess, connects_and_computes},
    {"Stage", "purge_while_connecting", kShort | kProcess, purge_while_connecting},
    {"Stage", "peer_sends_after_disconnect", kShort | kProcess, peer_sends_after_disconnect},
    {"Stage", "leaves_in_order_behind_messages", kShort | kProcess,
     leaves_in_order_behind_messages},
    {"Stage", "leaves_messages_unread", kShort | kProcess, leaves_messages_unread},
    {"Stage", "leaves_in_order_and_says_so", kShort | kProcess, leaves_in_order_and_says_so},
    {"Stage", "memory_through_a_later_endpoint", kPut | kGet | kMemory | kProcess,
     memory_through_a_later_endpoint},
    {"Wait", "completions_end_the_sleep", kWaitFd | kGet | kMemory | kProcess,
     completions_end_the_sleep},
};

}  // namespace
}  // namespace causeway::conformance
