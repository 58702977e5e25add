// Promises of a capability, or of a bit of the flags, for every operation alike.
#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "../harness/cases.h"
#include "../harness/expect.h"
#include "../harness/session.h"
#include "base/error.h"

namespace causeway::conformance {
namespace {

constexpr size_t kArrived = 16;  // slot of the blackboard

Nothing count_messages(Side& side, const Nothing&) {
  side.ep->on_request = [](const Message&) { blackboard().slot[kArrived].fetch_add(1); };
  return {};
}

// ---- progress that is never needed ------------------------------------------------------------

void expect_done_at_once(Op& op, const char* what,
                         const std::function<cwy_status(cwyc_op*)>& post) {
  const cwy_status status = op.post(post);
  EXPECT_GE(status, 0) << what << ": " << status_name(status);
  EXPECT_TRUE(op.done()) << what << " is not complete when its call has returned";
}

// Both ways between the same bytes, as far as the conduit has them.
void transfer_at_once(Session& s, std::vector<uint8_t>& bytes) {
  const uint64_t there = s.remote().base();
  if (s.ops().put != nullptr) {
    expect_done_at_once(s.pool().put(), "put", [&](cwyc_op* raw) {
      return s.ops().put(s.raw(), bytes.data(), nullptr, there, s.remote().get(), bytes.size(), 0,
                         raw);
    });
  }
  if (s.ops().get != nullptr) {
    expect_done_at_once(s.pool().fetch(), "get", [&](cwyc_op* raw) {
      return s.ops().get(s.raw(), bytes.data(), nullptr, there, s.remote().get(), bytes.size(), 0,
                         raw);
    });
  }
}

// Catches NO_PROGRESS of a conduit that needs progress: the core makes none then, on either side.
void progress_is_never_needed() {
  Session s;
  s.call(count_messages, Nothing{});
  if (!s.loopback()) s.partner().hold();
  std::vector<uint8_t> bytes(std::min<uint64_t>(s.ep().attr().am_medium_max, 2000), 3);
  constexpr uint64_t rounds = 100;
  for (uint64_t n = 0; n < rounds && !has_failure(); ++n) {
    EXPECT_EQ(s.ops().am_short(s.raw(), n, nullptr, 0, 0), CWY_OK) << "am_short " << n;
    expect_done_at_once(s.pool().am(), "am_medium", [&](cwyc_op* raw) {
      return s.ops().am_medium(s.raw(), n, nullptr, 0, bytes.data(), nullptr, bytes.size(), 0, raw);
    });
    if (s.side().remote) transfer_at_once(s, bytes);
  }
  const Deadline deadline("messages that are delivered without progress", 2.0);
  while (blackboard().slot[kArrived].load() < 2 * rounds && !deadline.passed()) sched_yield();
  EXPECT_EQ(blackboard().slot[kArrived].load(), 2 * rounds) << "delivered without progress";
  if (!s.loopback()) s.partner().resume();
}

// ---- hints ------------------------------------------------------------------------------------

void complete(Session& s, Op& op, const std::string& what,
              const std::function<cwy_status(cwyc_op*)>& post) {
  const cwy_status status = s.ep().retry([&] { return op.post(post); }, what.c_str());
  ASSERT_GE(status, 0) << what << ": " << status_name(status);
  s.ep().finish(op, what.c_str());
  EXPECT_EQ(op.status(), CWY_OK) << what << " (reported)";
}

void there_and_back(Session& s, uint32_t bit, uint32_t flags) {
  const size_t length = std::min<uint64_t>(s.ep().attr().rma_max, 3000);
  std::vector<uint8_t> source(length), back(length);
  const uint64_t raddr = s.remote().base() + 64;
  fill_pattern(source.data(), length, bit);
  complete(s, s.pool().put(), fmt::format("put with bit {}", bit), [&](cwyc_op* raw) {
    return s.ops().put(s.raw(), source.data(), nullptr, raddr, s.remote().get(), length, flags,
                       raw);
  });
  complete(s, s.pool().fetch(), fmt::format("get with bit {}", bit), [&](cwyc_op* raw) {
    return s.ops().get(s.raw(), back.data(), nullptr, raddr, s.remote().get(), length, flags, raw);
  });
  EXPECT_EQ(first_difference(back.data(), length, bit), length) << "put and get with bit " << bit;
}

// Catches hints of later minors that are refused or taken for something else: a conduit ignores
// those that it does not know.
void hints_are_ignored() {
  Session s;
  s.call(count_messages, Nothing{});
  const bool transfers = s.side().remote && s.ops().put != nullptr && s.ops().get != nullptr;
  std::vector<uint8_t> payload(300, 1);
  uint64_t sent = 0;
  for (uint32_t bit = 16; bit < 30 && !has_failure(); ++bit) {
    const uint32_t flags = 1u << bit;
    const auto post_short = [&] { return s.ops().am_short(s.raw(), bit, nullptr, 0, flags); };
    EXPECT_EQ(s.ep().retry(post_short, "am_short"), CWY_OK) << "am_short with bit " << bit;
    complete(s, s.pool().am(), fmt::format("am_medium with bit {}", bit), [&](cwyc_op* raw) {
      return s.ops().am_medium(s.raw(), bit, nullptr, 0, payload.data(), nullptr, payload.size(),
                               flags, raw);
    });
    if (transfers) there_and_back(s, bit, flags);
    sent += 2;
  }
  s.ep().until([&] { return blackboard().slot[kArrived].load() >= sent; }, "all messages");
  EXPECT_EQ(blackboard().slot[kArrived].load(), sent);
}

const Cases cases{
    {"Flow", "progress_is_never_needed", kShort | kMedium | kNoProgress, progress_is_never_needed},
    {"Flow", "hints_are_ignored", kShort | kMedium, hints_are_ignored},
};

}  // namespace
}  // namespace causeway::conformance
