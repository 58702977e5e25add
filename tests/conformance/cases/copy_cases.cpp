// Messages whose source is copied before the call returns: the core passes no cwyc_op with them.
#include <sched.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "../harness/cases.h"
#include "../harness/expect.h"
#include "../harness/session.h"
#include "base/error.h"

namespace causeway::conformance {
namespace {

constexpr uint64_t kMessages = 400;
constexpr size_t kArrived = 14, kWrong = 15;  // slots of the blackboard

void judge(const Message& m) {
  if (first_difference(m.payload, m.length, m.word) != m.length)
    blackboard().slot[kWrong].fetch_add(1);
  blackboard().slot[kArrived].fetch_add(1);
}

Nothing judge_requests(Side& side, const Nothing&) {
  side.ep->on_request = judge;
  return {};
}

Nothing look(Side&, const Nothing&) {
  return {};
}

// Each look asks whether the peer still lives.
void expect_arrivals(Session& s, uint64_t sent) {
  const Deadline deadline("all messages", 20.0);
  while (blackboard().slot[kArrived].load() < sent) {
    s.call(look, Nothing{});
    s.ep().step();
    deadline.check();
  }
  EXPECT_EQ(blackboard().slot[kArrived].load(), sent);
  EXPECT_EQ(blackboard().slot[kWrong].load(), 0u) << "payloads that were read after return";
}

size_t size_of(uint64_t n, uint64_t most) {
  constexpr size_t sizes[] = {1, 8, 63, 200, 512, 1000, 4000, SIZE_MAX};
  return std::min<size_t>(sizes[n % std::size(sizes)], most);
}

// The source is somebody else's as soon as the call has returned.
cwy_status post_copied(Connection& conn, uint64_t word, std::vector<uint8_t>& payload, size_t size,
                       uint32_t lane) {
  fill_pattern(payload.data(), size, word);
  const cwy_status status = conn.ops().am_medium(conn.get(), word, nullptr, 0, payload.data(),
                                                 nullptr, size, lane | CWYC_SRC_VOLATILE, nullptr);
  std::memset(payload.data(), 0x11, size);
  return status;
}

// Catches an op that is used without a look whether there is one, an answer of INPROGRESS that
// nobody can be told the end of, and a source that is read after return.
void medium_copied_without_op() {
  Session s({.memory = 0});
  s.call(judge_requests, Nothing{});
  const uint64_t most = std::min<uint64_t>(s.ep().attr().am_medium_max, 64u << 10);
  std::vector<uint8_t> payload(most);
  for (uint64_t n = 0; n < kMessages; ++n) {
    const size_t size = size_of(n, most);
    const cwy_status status =
        s.ep().retry([&] { return post_copied(s.conn(), n, payload, size, 0); }, "am_medium");
    ASSERT_EQ(status, CWY_OK) << status_name(status) << " of a medium of " << size;
  }
  expect_arrivals(s, kMessages);
}

Nothing reply_without_op(Side& side, const Nothing&) {
  side.ep->on_request = [&side](const Message& m) {
    const uint64_t most = std::min<uint64_t>(side.ep->attr().am_medium_max, 5000);
    std::vector<uint8_t> payload(most);
    const size_t size = size_of(m.word, most);
    const Deadline deadline("room for a reply");
    cwy_status status;
    while ((status = post_copied(*side.conn, m.word | kReplyBit, payload, size, CWYC_LANE_REPLY)) ==
           CWY_RETRY) {
      if (side.ep->progress(64, CWYC_PROGRESS_REPLIES) == 0) sched_yield();
      deadline.check();
    }
    require_ok(status, "a reply with SRC_VOLATILE");
  };
  return {};
}

// The same of replies, which is what handlers send.
void reply_copied_without_op() {
  Session s({.memory = 0});
  s.ep().on_reply = judge;
  s.call(reply_without_op, Nothing{});
  for (uint64_t n = 0; n < kMessages; ++n) s.conn().send(n, nullptr, 0);
  expect_arrivals(s, kMessages);
}

// The same of longs, but for those that are too large to be copied.
void long_copied_without_op() {
  Session s;
  s.call(judge_requests, Nothing{});
  constexpr size_t stretch = 4096;
  std::vector<uint8_t> payload(stretch);
  const uint64_t most = std::min<uint64_t>(s.ep().attr().am_long_max, stretch);
  uint64_t sent = 0;
  for (uint64_t n = 0; n < kMessages; ++n) {
    const size_t size = size_of(n, most);
    fill_pattern(payload.data(), size, n);
    const uint64_t raddr = s.remote().base() + n * stretch;
    const auto post = [&] {
      return s.ops().am_long(s.raw(), n, nullptr, 0, payload.data(), nullptr, size, raddr,
                             s.remote().get(), CWYC_SRC_VOLATILE, nullptr);
    };
    const cwy_status status = s.ep().retry(post, "am_long");
    std::memset(payload.data(), 0x11, size);
    if (status == CWY_ERR_UNSUPPORTED) continue;
    ASSERT_EQ(status, CWY_OK) << status_name(status) << " of a long of " << size;
    ++sent;
  }
  expect_arrivals(s, sent);
}

const Cases cases{
    {"Am", "medium_copied_without_op", kMedium, medium_copied_without_op},
    {"Am", "reply_copied_without_op", kShort | kMedium, reply_copied_without_op},
    {"Am", "long_copied_without_op", kLong | kMemory, long_copied_without_op},
};

}  // namespace
}  // namespace causeway::conformance
