// What shows only after long use, by the clock, or where packets are lost.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "../harness/cases.h"
#include "../harness/expect.h"
#include "../harness/session.h"
#include "base/error.h"

namespace causeway::conformance {
namespace {

Nothing echo(Side& side, const Nothing&) {
  side.ep->on_request = [&side](const Message& m) {
    const Deadline deadline("room for a reply");
    for (;;) {
      const cwy_status status = side.conn->ops().am_short(side.conn->get(), m.word | kReplyBit,
                                                          nullptr, 0, CWYC_LANE_REPLY);
      if (status == CWY_OK) return;
      if (status != CWY_RETRY) throw Error(status, "reply answered {}", status_name(status));
      if (side.ep->progress(64, CWYC_PROGRESS_REPLIES) == 0) sched_yield();
      deadline.check();
    }
  };
  return {};
}

// Catches numbers of messages and credits of 16 bits that wrap, in either lane. Not fewer on slow
// machines: then it would show nothing.
void more_than_65535_messages() {
  Session s({.memory = 0});
  constexpr uint64_t kMessages = 65'536 + 600;
  uint64_t replies = 0;
  s.ep().on_reply = [&](const Message&) { ++replies; };
  s.call(echo, Nothing{});
  for (uint64_t n = 0; n < kMessages; ++n) {
    const cwy_status status =
        s.ep().retry([&] { return s.ops().am_short(s.raw(), n, nullptr, 0, 0); }, "am_short", 20.0);
    ASSERT_EQ(status, CWY_OK) << "at message " << n;
  }
  s.ep().until([&] { return replies >= kMessages; },
               fmt::format("the replies to {} messages", kMessages), 20.0);
  EXPECT_EQ(replies, kMessages);
}

// Catches a progress that waits where nothing is to do. A few calls may be long: a busy machine
// takes the processor away.
void idle_progress_never_waits() {
  Session s({.memory = 0});
  constexpr uint64_t kLong = 3'000'000;
  s.call(echo, Nothing{});
  uint64_t replies = 0;
  s.ep().on_reply = [&](const Message&) { ++replies; };
  s.conn().send(1, nullptr, 0);
  s.ep().until([&] { return replies == 1; }, "a reply");
  uint32_t waited = 0;
  for (int i = 0; i < 300 && waited <= 15; ++i) {
    const uint64_t before = now_ns();
    s.ep().progress(64, i % 4 == 0 ? CWYC_PROGRESS_REPLIES : CWYC_PROGRESS_ALL);
    waited += now_ns() - before > kLong * kSlowdown ? 1 : 0;
  }
  EXPECT_LE(waited, 15u) << "calls of progress without anything to do lasted "
                         << kLong * kSlowdown / 1'000'000 << " ms and longer";
}

// Catches a sender that has no timer: each message is the last one for a while, so that none behind
// it shows the loss.
void lost_packets_are_sent_again() {
  Session s({.memory = 0, .lossy = 1});
  uint64_t replies = 0;
  s.ep().on_reply = [&](const Message&) { ++replies; };
  s.call(echo, Nothing{});
  const std::vector<uint8_t> payload(std::min<uint64_t>(s.ep().attr().am_medium_max, 1000), 3);
  for (uint64_t n = 0; n < 100 / std::min(kSlowdown, 4u); ++n) {
    if (n % 2 == 0) s.conn().send(n, nullptr, 0);
    if (n % 2 == 1) s.conn().send_medium(n, nullptr, 0, payload.data(), payload.size());
    s.ep().until([&] { return replies > n; }, fmt::format("the answer to message {}", n));
    EXPECT_EQ(replies, n + 1) << "messages came twice";
  }
}

const Cases cases{
    {"Flow", "more_than_65535_messages", kShort, more_than_65535_messages},
    {"Flow", "idle_progress_never_waits", kShort, idle_progress_never_waits},
    {"Flow", "lost_packets_are_sent_again", kShort | kMedium | kLossy, lost_packets_are_sent_again},
};

}  // namespace
}  // namespace causeway::conformance
