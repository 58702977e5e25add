// Flow of active messages: exactly once under load, back-pressure, and the independence of the
// reply lane.
#include <fmt/format.h>

#include <array>
#include <bitset>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "../harness/cases.h"
#include "../harness/expect.h"
#include "../harness/session.h"
#include "base/error.h"

namespace causeway::conformance {
namespace {

constexpr uint32_t kFlood = 100'000;
constexpr size_t kLargest = 4096;

// ---- a sink that counts every number once ---------------------------------------------------

struct Sink {
  std::bitset<2 * kFlood> seen;
  uint64_t received = 0, twice = 0, corrupt = 0, strange = 0;
  uint64_t replies_failed = 0;
};
Sink g_sink;

struct Tally {
  uint64_t received, twice, corrupt, strange, replies_failed;
};

void take(Sink& sink, const Message& m) {
  const uint32_t n = m.nargs == 0 ? UINT32_MAX : static_cast<uint32_t>(m.args[0]);
  if (n >= sink.seen.size() || m.word != n) {
    ++sink.strange;
    return;
  }
  if (sink.seen[n]) ++sink.twice;
  sink.seen[n] = true;
  if (first_difference(m.payload, m.length, n) != m.length) ++sink.corrupt;
  ++sink.received;
}

Nothing open_sink(Side& side, const Nothing&) {
  g_sink = {};
  side.ep->on_request = [](const Message& m) { take(g_sink, m); };
  return {};
}

Tally tally(Side&, const Nothing&) {
  return {g_sink.received, g_sink.twice, g_sink.corrupt, g_sink.strange, g_sink.replies_failed};
}

// Waits for `n` messages, then a little longer for those that should not exist.
void expect_exactly(Session& s, uint64_t n, double seconds = 20.0) {
  const Deadline deadline(fmt::format("arrival of {} messages", n), seconds);
  Tally t = s.call(tally, Nothing{});
  while (t.received + t.strange < n && !deadline.passed()) {
    s.ep().step();
    t = s.call(tally, Nothing{});
  }
  for (int i = 0; i < 50; ++i) s.ep().step();
  t = s.call(tally, Nothing{});
  EXPECT_EQ(t.received, n) << (t.received < n ? "messages were lost" : "more came than were sent");
  EXPECT_EQ(t.twice, 0u) << "messages delivered more than once";
  EXPECT_EQ(t.corrupt, 0u) << "payloads changed on the way";
  EXPECT_EQ(t.strange, 0u) << "messages that were never sent";
}

// Sends message number `n` with a size that follows from the generator. Answers like the conduit.
cwy_status try_send(Connection& conn, uint32_t n, size_t size, const uint8_t* payload, Op* op,
                    uint32_t flags = 0) {
  const auto arg = static_cast<int32_t>(n);
  if (op == nullptr) return conn.ops().am_short(conn.get(), n, &arg, 1, flags);
  return op->post([&](cwyc_op* raw) {
    return conn.ops().am_medium(conn.get(), n, &arg, 1, payload, nullptr, size,
                                flags | CWYC_SRC_VOLATILE, raw);
  });
}

// Mostly small, some medium, a few large: what makes ring arithmetic wrap at odd places.
size_t random_size(Random& random, size_t max) {
  const uint64_t dice = random.below(100);
  const size_t bound = dice < 60 ? 0 : dice < 90 ? 128 : dice < 99 ? 1024 : kLargest;
  return random.below(std::min(bound, max) + 1);
}

// ---- cases ----------------------------------------------------------------------------------

// Catches lost, doubled and torn messages when queues wrap and fill.
void flood() {
  Session s({.memory = 0});
  s.call(open_sink, Nothing{});
  const size_t max = s.ep().attr().am_medium_max;
  std::vector<uint8_t> payload(kLargest);
  const uint32_t count = kFlood / kSlowdown;
  for (uint32_t n = 0; n < count; ++n) {
    const size_t size = random_size(s.random, max);
    fill_pattern(payload.data(), size, n);
    Op* op = size == 0 ? nullptr : &s.pool().am("am_medium");
    const cwy_status status =
        s.ep().retry([&] { return try_send(s.conn(), n, size, payload.data(), op); }, "the flood");
    ASSERT_GE(status, 0) << status_name(status) << " at message " << n;
  }
  expect_exactly(s, count);
}

// Catches queues without a bound, RETRY that posts all the same, and messages lost once a queue
// was full. A conduit may also accept this whole volume; it must then deliver it.
void back_pressure() {
  Session s({.memory = 0});
  s.call(open_sink, Nothing{});
  s.partner().hold();
  constexpr uint32_t kMost = 60'000;
  const size_t size = std::min<size_t>(s.ep().attr().am_medium_max, 512);
  std::vector<uint8_t> payload(size);
  uint32_t n = 0, refused = 0;
  while (n < kMost && refused < 20'000) {
    fill_pattern(payload.data(), size, n);
    Op* op = n % 2 == 0 ? nullptr : &s.pool().am("am_medium");
    const cwy_status status = try_send(s.conn(), n, size, payload.data(), op);
    ASSERT_TRUE(!is_error(status) || status == CWY_RETRY) << status_name(status);
    if (status == CWY_RETRY) {
      ++refused;
      if (refused % 64 == 0) s.ep().step();
    } else {
      ++n;
    }
  }
  s.partner().resume();
  // The refused one goes now, and with it a full queue's worth of others.
  for (const uint32_t end = n + 2000; n < end; ++n) {
    fill_pattern(payload.data(), size, n);
    Op& op = s.pool().am("am_medium");
    ASSERT_GE(s.ep().retry([&] { return try_send(s.conn(), n, size, payload.data(), &op); },
                           "a send after the queue was full"),
              0);
  }
  expect_exactly(s, n);
}

// ---- replies --------------------------------------------------------------------------------

// Replies to each request from inside the upcall, as the core does: on RETRY it makes progress
// for the reply lane only, and never waits for requests. The number comes back as n | kReplyBit.
void reply_from_handler(Side& side, const Message& m) {
  const auto arg = m.nargs == 0 ? 0 : m.args[0];
  const uint64_t word = m.word | kReplyBit;
  const Deadline deadline("room for a reply", 10.0);
  std::array<uint8_t, 256> payload;
  const size_t size = m.word % 3 == 0 ? m.word % 200 : 0;
  fill_pattern(payload.data(), size, m.word);
  for (;;) {
    cwy_status status;
    if (size == 0) {
      status = side.conn->ops().am_short(side.conn->get(), word, &arg, 1, CWYC_LANE_REPLY);
    } else {
      Op& op = side.conn->ops_pool().am("reply");
      status = op.post([&](cwyc_op* raw) {
        return side.conn->ops().am_medium(side.conn->get(), word, &arg, 1, payload.data(), nullptr,
                                          size, CWYC_LANE_REPLY | CWYC_SRC_VOLATILE, raw);
      });
    }
    if (!is_error(status)) return;
    if (status != CWY_RETRY) throw Error(status, "reply answered {}", status_name(status));
    if (side.ep->progress(64, CWYC_PROGRESS_REPLIES) == 0) sched_yield();
    deadline.check();
  }
}

Nothing reply_to_all(Side& side, const Nothing&) {
  side.ep->on_request = [&side](const Message& m) { reply_from_handler(side, m); };
  return {};
}

// Catches upcalls that cannot communicate, and replies that are lost or delivered as requests.
void reply_inside_the_upcall() {
  Session s({.memory = 0});
  auto replies = std::make_unique<Sink>();
  s.ep().on_reply = [&](const Message& m) {
    Message request = m;
    request.word &= ~kReplyBit;
    take(*replies, request);
  };
  s.call(reply_to_all, Nothing{});
  const uint32_t count = 20'000 / kSlowdown;
  for (uint32_t n = 0; n < count; ++n) {
    const auto arg = static_cast<int32_t>(n);
    s.conn().send(n, &arg, 1);
  }
  s.ep().until([&] { return replies->received >= count; }, "all replies");
  EXPECT_EQ(replies->received, count);
  EXPECT_EQ(replies->twice + replies->corrupt + replies->strange, 0u);
}

// Both sides flood with requests and answer every request from the upcall, with each request
// queue full most of the time.
struct Storm {
  uint32_t count;
};
struct StormResult {
  uint64_t replies, strange;
};
StormResult storm(Side& side, const Storm& how) {
  auto replies = std::make_unique<Sink>();
  side.ep->on_reply = [&](const Message& m) {
    Message request = m;
    request.word &= ~kReplyBit;
    take(*replies, request);
  };
  for (uint32_t n = 0; n < how.count; ++n) {
    const auto arg = static_cast<int32_t>(n);
    require_ok(
        side.ep->retry([&] { return side.conn->ops().am_short(side.conn->get(), n, &arg, 1, 0); },
                       "a request in the storm", 20.0),
        "am_short");
  }
  side.ep->until([&] { return replies->received + replies->strange >= how.count; },
                 "all replies of the storm", 20.0);
  side.ep->on_reply = nullptr;
  return {replies->received, replies->twice + replies->corrupt + replies->strange};
}

// Catches the classic deadlock: replies queue behind requests of the other direction.
void storm_in_both_directions() {
  Session s({.memory = 0});
  reply_to_all(s.side(), Nothing{});
  s.call(reply_to_all, Nothing{});
  const Storm how{40'000 / kSlowdown};
  s.start(storm, how);
  const StormResult here = storm(s.side(), how);
  const StormResult there = s.finish<StormResult>();
  EXPECT_EQ(here.replies, how.count);
  EXPECT_EQ(there.replies, how.count);
  EXPECT_EQ(here.strange + there.strange, 0u);
}

// The partner: fills its request queue to us until RETRY, then sends replies on the same
// connection. Returns how many replies went through while requests were blocked.
struct Blocked {
  uint32_t requests;  // accepted
  uint32_t retried;   // 1: the queue did fill
  uint32_t replies;
};
Blocked block_then_reply(Side& side, const Nothing&) {
  Blocked result{};
  uint32_t refused = 0;
  while (result.requests < kFlood && refused < 1000) {
    const auto arg = static_cast<int32_t>(result.requests);
    const cwy_status status =
        side.conn->ops().am_short(side.conn->get(), result.requests, &arg, 1, 0);
    if (status == CWY_OK) {
      ++result.requests;
      refused = 0;
    } else if (status == CWY_RETRY) {
      ++refused;
    } else {
      require_ok(status, "am_short");
    }
  }
  result.retried = refused != 0 ? 1 : 0;
  for (uint32_t i = 0; i < 8; ++i) {
    const auto arg = static_cast<int32_t>(i);
    // A reply may be refused too, but not for longer than some progress of its own lane.
    for (uint32_t attempt = 0; attempt < 1000; ++attempt) {
      const cwy_status status =
          side.conn->ops().am_short(side.conn->get(), i | kReplyBit, &arg, 1, CWYC_LANE_REPLY);
      if (status == CWY_OK) ++result.replies;
      if (status != CWY_RETRY) break;
      side.ep->progress(64, CWYC_PROGRESS_REPLIES);
    }
  }
  return result;
}

// Catches one queue for both lanes, and a reply lane whose progress delivers requests: the core
// calls it from inside request handlers, where no second handler may start.
void reply_lane_is_independent() {
  Session s({.memory = 0});
  uint64_t requests = 0, replies = 0;
  s.ep().on_request = [&](const Message&) { ++requests; };
  s.ep().on_reply = [&](const Message&) { ++replies; };
  s.partner().start(block_then_reply, Nothing{});
  // Without progress here: the queue to us must fill.
  const auto blocked = s.partner().finish<Blocked>(nullptr);
  EXPECT_EQ(blocked.replies, 8u) << "replies were refused while "
                                 << (blocked.retried ? "requests were blocked" : "idle");
  const Deadline deadline("replies through the reply lane");
  while (replies < blocked.replies) {
    if (s.ep().progress(64, CWYC_PROGRESS_REPLIES) == 0) sched_yield();
    deadline.check();
  }
  EXPECT_EQ(requests, 0u) << "progress of the reply lane delivered requests";
  s.ep().until([&] { return requests >= blocked.requests; }, "the blocked requests");
  EXPECT_EQ(requests, blocked.requests);
  EXPECT_EQ(replies, blocked.replies);
}

// Catches budgets that are ignored: the core relies on coming back in time.
void progress_budget() {
  Session s({.memory = 0});
  uint64_t delivered = 0;
  s.ep().on_request = [&](const Message&) { ++delivered; };
  s.partner().start(block_then_reply, Nothing{});
  const auto blocked = s.partner().finish<Blocked>(nullptr);
  const Deadline deadline("delivery in small budgets");
  while (delivered < blocked.requests) {
    const uint64_t before = delivered;
    if (s.ep().progress(4) == 0) sched_yield();
    ASSERT_LE(delivered - before, 256u) << "one progress(4) delivered so many messages";
    deadline.check();
  }
}

const Cases cases{
    {"Flow", "flood_exactly_once", kShort | kMedium, flood},
    {"Flow", "back_pressure_loses_nothing", kShort | kMedium | kProcess, back_pressure},
    {"Flow", "reply_inside_the_upcall", kShort | kMedium, reply_inside_the_upcall},
    {"Flow", "storm_in_both_directions", kShort | kMedium | kProcess, storm_in_both_directions},
    {"Flow", "reply_lane_is_independent", kShort | kProcess, reply_lane_is_independent},
    {"Flow", "progress_budget", kShort | kProcess, progress_budget},
};

}  // namespace
}  // namespace causeway::conformance
