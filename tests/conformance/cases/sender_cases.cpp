// Who sent a message, and what it carries while other messages arrive.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "../harness/cases.h"
#include "../harness/expect.h"
#include "../harness/session.h"
#include "base/error.h"

namespace causeway::conformance {
namespace {

constexpr uint32_t kMessages = 200;

void post_reply(Side& side, uint64_t n, size_t size, uint32_t seconds = 10) {
  std::vector<uint8_t> payload(size);
  fill_pattern(payload.data(), size, n | kReplyBit);
  Op& op = side.conn->ops_pool().am("reply");
  const auto arg = static_cast<int32_t>(n);
  const Deadline deadline("room for a reply", seconds);
  for (;;) {
    const cwy_status status = op.post([&](cwyc_op* raw) {
      return side.conn->ops().am_medium(side.conn->get(), n | kReplyBit, &arg, 1, payload.data(),
                                        nullptr, size, CWYC_LANE_REPLY | CWYC_SRC_VOLATILE, raw);
    });
    if (!is_error(status)) return;
    if (status != CWY_RETRY) throw Error(status, "reply answered {}", status_name(status));
    side.ep->progress(64, CWYC_PROGRESS_REPLIES);
    deadline.check();
  }
}

Nothing reply_with_mediums(Side& side, const uint32_t& size) {
  side.ep->on_request = [&side, size](const Message& m) { post_reply(side, m.word, size); };
  return {};
}

Nothing send_shorts_and_mediums(Side& side, const uint32_t& size) {
  const std::vector<uint8_t> payload(size, 1);
  for (uint32_t n = 0; n < kMessages; ++n) {
    side.conn->send(n, nullptr, 0);
    side.conn->send_medium(n, nullptr, 0, payload.data(), payload.size());
  }
  return {};
}

// A peer with an epoch that no constant hits by chance.
Session& with_a_later_epoch(std::unique_ptr<Session>& place) {
  world().next_epoch += 6;
  place = std::make_unique<Session>(SideOptions{.memory = 0});
  return *place;
}

struct Senders {
  cwy_peer expected;
  uint64_t messages = 0, wrong = 0;
  std::string first_wrong;
  void see(const Message& m) {
    ++messages;
    if (m.from.rank == expected.rank && m.from.epoch == expected.epoch) return;
    if (wrong++ == 0)
      first_wrong = fmt::format("rank {} epoch {} in place of rank {} epoch {}", m.from.rank,
                                m.from.epoch, expected.rank, expected.epoch);
  }
};

// Catches a sender that is read from the wrong place, and an epoch that is the first one always.
void request_names_its_sender() {
  std::unique_ptr<Session> place;
  Session& s = with_a_later_epoch(place);
  Senders senders{.expected = s.side().peer.peer, .first_wrong = {}};
  s.ep().on_request = [&](const Message& m) { senders.see(m); };
  s.call(send_shorts_and_mediums, 100u);
  s.ep().until([&] { return senders.messages >= 2 * kMessages; }, "all requests");
  EXPECT_EQ(senders.wrong, 0u) << "delivered as from " << senders.first_wrong;
}

// The same of replies, which come by another lane.
void reply_names_its_sender() {
  std::unique_ptr<Session> place;
  Session& s = with_a_later_epoch(place);
  Senders senders{.expected = s.side().peer.peer, .first_wrong = {}};
  s.ep().on_reply = [&](const Message& m) { senders.see(m); };
  s.call(reply_with_mediums, 100u);
  for (uint32_t n = 0; n < kMessages; ++n) s.conn().send(n, nullptr, 0);
  s.ep().until([&] { return senders.messages >= kMessages; }, "all replies");
  EXPECT_EQ(senders.wrong, 0u) << "delivered as from " << senders.first_wrong;
}

// Requests with a payload and an argument each, while those of the other side are served.
Nothing send_and_serve(Side& side, const uint32_t& size) {
  std::vector<uint8_t> payload(size);
  for (uint32_t n = 0; n < kMessages; ++n) {
    fill_pattern(payload.data(), size, n);
    const auto arg = static_cast<int32_t>(n);
    side.conn->send_medium(n, &arg, 1, payload.data(), size, CWYC_SRC_VOLATILE);
    side.ep->step();
  }
  return {};
}

// Catches a buffer for what is being delivered that a reply, delivered by progress within, gets
// too.
void nested_progress_keeps_the_payload() {
  Session s({.memory = 0});
  const auto size = static_cast<uint32_t>(std::min<uint64_t>(s.ep().attr().am_medium_max, 700));
  uint64_t requests = 0, replies = 0, asked = 0;
  const auto check = [&](const Message& m, uint64_t key, const char* when) {
    const size_t at = first_difference(m.payload, m.length, key);
    EXPECT_EQ(at, m.length) << "message " << m.word << ' ' << when;
    EXPECT_EQ(m.nargs == 1 ? m.args[0] : -1, static_cast<int32_t>(key & INT32_MAX))
        << "argument of message " << m.word << ' ' << when;
  };
  bool inside = false;
  s.ep().on_reply = [&](const Message& m) {
    ++replies;
    check(m, m.word, "as it arrives");
    if (inside) return;
    inside = true;
    s.ep().progress(64, CWYC_PROGRESS_REPLIES);
    inside = false;
    check(m, m.word, "after progress of the reply lane inside its delivery");
  };
  s.ep().on_request = [&](const Message& m) {
    ++requests;
    check(m, m.word, "as it arrives");
    const uint64_t before = replies;
    if (s.loopback()) post_reply(s.side(), m.word, size);
    for (int i = 0; i < 200 && replies == before && (s.loopback() || asked > replies); ++i)
      if (s.ep().progress(64, CWYC_PROGRESS_REPLIES) == 0) sched_yield();
    check(m, m.word, "after progress of the reply lane inside its delivery");
  };
  if (s.loopback()) {
    std::vector<uint8_t> payload(size);
    for (uint32_t n = 0; n < kMessages && !has_failure(); ++n) {
      fill_pattern(payload.data(), size, n);
      const auto arg = static_cast<int32_t>(n);
      s.conn().send_medium(n, &arg, 1, payload.data(), size, CWYC_SRC_VOLATILE);
    }
  } else {
    s.call(reply_with_mediums, size);  // before the first request arrives there
    s.start(send_and_serve, size);
  }
  const Deadline deadline("requests and replies of both sides");
  while ((requests < kMessages || (!s.loopback() && replies < asked)) && !has_failure()) {
    if (!s.loopback() && asked < requests + 20 && asked < 2 * kMessages &&
        s.ops().am_short(s.raw(), asked, nullptr, 0, 0) == CWY_OK)
      ++asked;
    s.ep().step();
    deadline.check();
  }
  if (!s.loopback()) s.finish<Nothing>();
}

const Cases cases{
    {"Am", "request_names_its_sender", kShort | kMedium, request_names_its_sender},
    {"Am", "reply_names_its_sender", kShort | kMedium, reply_names_its_sender},
    {"Am", "nested_progress_keeps_the_payload", kShort | kMedium,
     nested_progress_keeps_the_payload},
};

}  // namespace
}  // namespace causeway::conformance
