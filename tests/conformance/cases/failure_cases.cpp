// Peers that die: everything pending ends exactly once, later posts say so, and nothing waits for
// ever. The rules of single completions are checked by Op itself.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "../harness/cases.h"
#include "../harness/expect.h"
#include "../harness/growth.h"
#include "../harness/session.h"
#include "base/error.h"

namespace causeway::conformance {
namespace {

// Every kind of post on a connection whose peer is known to be dead.
void expect_posts_refused(Session& s) {
  const int32_t arg = 1;
  const cwy_status answer = s.ops().am_short(s.raw(), 1, &arg, 1, 0);
  EXPECT_EQ(answer, CWY_ERR_PEER_FAILED) << "am_short after purge: " << status_name(answer);
  const auto refused = [&](const char* what, const std::function<cwy_status(cwyc_op*)>& post) {
    Op& op = s.pool().put(what);
    const cwy_status status = op.post(post);
    EXPECT_EQ(status, CWY_ERR_PEER_FAILED) << what << " after purge: " << status_name(status);
  };
  uint64_t value = 1;
  if (world().ops.am_medium != nullptr) {
    refused("am_medium", [&](cwyc_op* raw) {
      return s.ops().am_medium(s.raw(), 1, &arg, 1, &value, nullptr, 8, 0, raw);
    });
  }
  if (s.side().remote && world().ops.put != nullptr) {
    refused("put", [&](cwyc_op* raw) {
      return s.ops().put(s.raw(), &value, nullptr, s.remote().base(), s.remote().get(), 8, 0, raw);
    });
  }
  if (s.side().remote && world().ops.get != nullptr) {
    refused("get", [&](cwyc_op* raw) {
      return s.ops().get(s.raw(), &value, nullptr, s.remote().base(), s.remote().get(), 8, 0, raw);
    });
  }
  const cwyc_ops& o = s.ops();
  if (o.am_prepare != nullptr) {
    cwyc_am_slot slot{};
    slot.head = CWY_HEAD(cwyc_am_slot);
    const cwy_status status = o.am_prepare(s.raw(), 8, 64, 1, 0, &slot);
    EXPECT_EQ(status, CWY_ERR_PEER_FAILED) << "am_prepare after purge: " << status_name(status);
    if (status == CWY_OK) o.am_cancel(s.raw(), &slot);
  }
  if (!s.side().remote) return;
  const uint64_t raddr = s.remote().base();
  cwyc_rkey* rkey = s.remote().get();
  const cwyc_iov here{&value, 8};
  const cwyc_riov there{raddr, 8};
  const cwyc_vector vector{CWY_HEAD(cwyc_vector), &here, 1, nullptr, &there, 1, rkey};
  if (o.putv != nullptr)
    refused("putv", [&](cwyc_op* raw) { return o.putv(s.raw(), &vector, 0, raw); });
  if (o.getv != nullptr)
    refused("getv", [&](cwyc_op* raw) { return o.getv(s.raw(), &vector, 0, raw); });
  if (o.am_long != nullptr)
    refused("am_long", [&](cwyc_op* raw) {
      return o.am_long(s.raw(), 1, &arg, 1, &value, nullptr, 8, raddr, rkey, 0, raw);
    });
  for (uint32_t dt = 0; o.atomic != nullptr && dt < 6; ++dt) {
    const uint64_t ops = world().attr.atomic_ops[dt];
    if (ops == 0) continue;
    cwyc_atomic a{};
    a.head = CWY_HEAD(cwyc_atomic);
    a.raddr = raddr;
    a.result = &value;
    a.dt = 1u << dt;
    a.opcode = static_cast<uint32_t>(ops & (~ops + 1));
    if (a.opcode < 1u << 10) a.result = nullptr;
    refused("atomic", [&](cwyc_op* raw) { return o.atomic(s.raw(), &a, rkey, 0, raw); });
    break;
  }
}

// What the core does when it learnt of a death.
void bury(Session& s) {
  s.conn().purge();
  EXPECT_EQ(s.pool().unfinished(), 0u) << "purge left pending: " << s.pool().describe_unfinished();
  s.conn().purge();  // idempotent
  expect_posts_refused(s);
  for (int i = 0; i < 100; ++i) s.ep().step();
}

// Floods with mediums until `stop` or an answer other than OK, INPROGRESS and RETRY. Returns the
// last answer.
cwy_status flood(Session& s, double seconds, const std::function<bool(uint64_t sent)>& stop) {
  std::vector<uint8_t> payload(std::min<size_t>(s.ep().attr().am_medium_max, 2000), 7);
  const Deadline deadline("flood", seconds);
  cwy_status status = CWY_OK;
  for (uint64_t sent = 0; !stop(sent) && !deadline.passed();) {
    const int32_t arg = 1;
    Op& op = s.pool().am("am_medium to a dying peer");
    status = op.post([&](cwyc_op* raw) {
      return s.ops().am_medium(s.raw(), sent, &arg, 1, payload.data(), nullptr, payload.size(), 0,
                               raw);
    });
    if (!is_error(status)) ++sent;
    if (status == CWY_RETRY) s.ep().step();
    if (is_error(status) && status != CWY_RETRY) return status;
  }
  return status;
}

// Catches a purge that does nothing: the conduit has had no turn in which to notice the death
// itself.
void death_learnt_elsewhere() {
  Session s;
  s.partner().kill();
  bury(s);
}

// Catches connections that crash after a death which the conduit may have noticed before the core.
void killed_while_idle() {
  Session s;
  s.partner().kill();
  for (int i = 0; i < 100; ++i) s.ep().step();
  bury(s);
}

// Catches posts that block on a queue nobody empties any more, and pending operations without end.
void killed_in_the_middle_of_a_flood() {
  Session s;
  // As many messages first as the slowest network carries in some seconds, then one second more.
  uint64_t killed_at = 0;
  const cwy_status last = flood(s, 20.0, [&](uint64_t sent) {
    if (sent >= 3000 && killed_at == 0) {
      s.partner().kill();
      killed_at = now_ns();
    }
    return sent >= 200'000 || (killed_at != 0 && now_ns() - killed_at > 1'000'000'000);
  });
  EXPECT_NE(killed_at, 0u) << "not 3000 messages in 20 s";
  EXPECT_TRUE(last >= 0 || last == CWY_RETRY || last == CWY_ERR_PEER_FAILED) << status_name(last);
  bury(s);
}

// Catches senders that keep waiting for room in the queue of a process that is gone.
void killed_with_unread_messages() {
  Session s;
  s.partner().hold();
  uint32_t refused = 0;
  flood(s, 3.0, [&](uint64_t sent) { return sent >= 100'000 || ++refused > 110'000; });
  s.partner().kill();
  const cwy_status last = flood(s, 1.0, [](uint64_t sent) { return sent >= 100'000; });
  EXPECT_TRUE(last >= 0 || last == CWY_RETRY || last == CWY_ERR_PEER_FAILED) << status_name(last);
  bury(s);
}

// The partner floods us and dies in the middle of it, at any instruction.
Nothing flood_for_ever(Side& side, const Nothing&) {
  uint8_t payload[1500];
  for (uint32_t n = 0;; ++n) {
    const size_t size = n % sizeof payload;
    fill_pattern(payload, size, n);
    const auto arg = static_cast<int32_t>(n);
    Op& op = side.conn->ops_pool().am("am_medium");
    side.ep->retry(
        [&] {
          return op.post([&](cwyc_op* raw) {
            return side.conn->ops().am_medium(side.conn->get(), n, &arg, 1, payload, nullptr, size,
                                              CWYC_SRC_VOLATILE, raw);
          });
        },
        "am_medium");
  }
}

// Catches half-written messages that are delivered, and readers that wait for their other half.
void killed_while_sending() {
  for (uint32_t round = 0; round < 12; ++round) {
    Session s({.memory = 0});
    uint64_t received = 0, torn = 0, out_of_place = 0;
    s.ep().on_request = [&](const Message& m) {
      const auto n = m.nargs == 1 ? static_cast<uint64_t>(m.args[0]) : ~uint64_t{0};
      ++received;
      if (m.word != n) ++out_of_place;
      if (first_difference(m.payload, m.length, n) != m.length) ++torn;
    };
    s.start(flood_for_ever, Nothing{});
    const uint64_t enough = 500 + s.random.below(3000) + round * 37;
    s.ep().until([&] { return received >= enough; }, "the flood");
    s.partner().kill();
    for (int i = 0; i < 2000; ++i) s.ep().progress();
    EXPECT_EQ(torn, 0u) << "messages delivered in part";
    EXPECT_EQ(out_of_place, 0u);
    s.conn().purge();
    EXPECT_EQ(s.pool().unfinished(), 0u);
    if (has_failure()) return;
  }
}

// Catches purge that forgets operations of some kind: 2000 of every kind are under way.
void purge_completes_everything() {
  Session s;
  s.partner().hold();
  std::vector<uint8_t> buffer(4096);
  const auto post = [&](Op& op, const std::function<cwy_status(cwyc_op*)>& call) {
    for (int i = 0; i < 4; ++i) {
      const cwy_status status = op.post(call);
      if (status != CWY_RETRY) return;
      s.ep().progress();  // without yielding: the partner is held and will not make room
    }
  };
  const cwyc_ops& ops = s.ops();
  for (int i = 0; i < 2000; ++i) {
    const int32_t arg = 1;
    if (ops.am_medium != nullptr) {
      post(s.pool().am("am_medium"), [&](cwyc_op* raw) {
        return ops.am_medium(s.raw(), 1, &arg, 1, buffer.data(), nullptr, 500, 0, raw);
      });
    }
    if (!s.side().remote) continue;
    if (ops.put != nullptr) {
      post(s.pool().put(), [&](cwyc_op* raw) {
        return ops.put(s.raw(), buffer.data(), nullptr, s.remote().base(), s.remote().get(), 4000,
                       0, raw);
      });
    }
    if (ops.get != nullptr) {
      post(s.pool().fetch(), [&](cwyc_op* raw) {
        return ops.get(s.raw(), buffer.data(), nullptr, s.remote().base(), s.remote().get(), 4000,
                       0, raw);
      });
    }
  }
  s.partner().kill();
  bury(s);
}

// Catches PEER_FAILURE that is announced and does not come: through peer_state or a post's answer.
void death_is_reported_unasked() {
  Session s({.memory = 0});
  PluginHost::take_peer_reports();
  s.partner().kill();
  bool reported = false;
  s.ep().until(
      [&] {
        for (const PeerReport& report : PluginHost::take_peer_reports()) {
          reported |= report.state == CWY_PEER_FAILED && report.peer.rank == 1;
          EXPECT_NE(report.why, "") << "peer_state without a reason";
        }
        return reported;
      },
      "peer_state FAILED after the peer was killed", 10.0);
}

// Catches news of a peer that pass by the conduit in front, whose peer_state is set.
void death_is_told_to_the_front() {
  Session s({.memory = 0, .tells = 1});
  PluginHost::take_peer_reports();
  s.partner().kill();
  const auto failed = [](const PeerReport& report) {
    return report.state == CWY_PEER_FAILED && report.peer.rank == 1;
  };
  std::vector<PeerReport> passed_by;
  s.ep().until(
      [&] {
        for (PeerReport& report : PluginHost::take_peer_reports())
          passed_by.push_back(std::move(report));
        return !passed_by.empty() || std::ranges::any_of(s.ep().peer_news, failed);
      },
      "peer_state FAILED of the endpoint's parameters, after the peer was killed", 10.0);
  EXPECT_EQ(passed_by.size(), 0u) << "services->peer_state was called in place of the endpoint's";
}

// ---- after a death --------------------------------------------------------------------------

Card open_here(Side& side, const SideOptions& options) {
  side.open(options);
  side.ep->on_request = [](const Message&) { blackboard().slot[5].fetch_add(1); };
  return side.card;
}

Nothing close_here(Side& side, const Nothing&) {
  side.close();
  return {};
}

struct Introduction {
  Card card;
};
Nothing meet_here(Side& side, const Introduction& whom) {
  side.meet(whom.card, false, true);
  return {};
}

// Drives a partner's call while this side makes progress.
template <typename R, typename A>
R drive(Session& s, Partner& partner, R (*fn)(Side&, const A&), const A& argument) {
  partner.start(fn, argument);
  return partner.finish<R>([&] { s.ep().step(); });
}

// Catches state of the dead process that gets into the way of its replacement: the same rank, a
// larger epoch, on the same endpoint of the survivor.
void replacement_with_a_new_epoch() {
  Session s({.memory = 0});
  s.partner().kill();
  s.conn().purge();
  s.side().conn.reset();
  Partner next(world().next_epoch++);
  const Card card = drive(s, next, open_here, SideOptions{.memory = 0});
  next.start(meet_here, Introduction{s.side().card_for(next.epoch())});
  s.side().conn = std::make_unique<Connection>(s.ep(), card, false);
  next.finish<Nothing>([&] { s.ep().step(); });
  for (uint64_t n = 0; n < 1000; ++n) s.conn().send(n, nullptr, 0);
  s.ep().until([&] { return blackboard().slot[5].load() >= 1000; }, "messages to the replacement");
  EXPECT_EQ(blackboard().slot[5].load(), 1000u);
  s.side().conn.reset();
}

// Catches a purge that does nothing where the conduit has heard of the replacement itself: whoever
// holds the old connection must still be told.
void purge_after_a_newer_epoch() {
  Session s;
  Partner next(world().next_epoch++);
  const Card card = drive(s, next, open_here, SideOptions{.memory = 0});
  next.start(meet_here, Introduction{s.side().card_for(next.epoch())});
  {
    const Connection fresh(s.ep(), card, false);
    next.finish<Nothing>([&] { s.ep().step(); });
    bury(s);
  }
  s.partner().kill();
  s.side().conn.reset();
}

Nothing send_some(Side& side, const uint32_t& n) {
  for (uint32_t i = 0; i < n; ++i) {
    if (side.conn->ops().am_short(side.conn->get(), i, nullptr, 0, 0) < 0) break;
  }
  return {};
}

struct Incarnations {
  uint64_t mixed_up = 0;  // delivered as the other one's
  uint64_t old = 0;       // delivered as the old one's
};

// The survivor connects to the replacement while the old process still lives and sends. Returns
// what was delivered since.
Incarnations hear_both_incarnations() {
  Session s({.memory = 0});
  const uint32_t old_epoch = s.partner().epoch();
  Partner next(world().next_epoch++);
  const uint32_t new_epoch = next.epoch();
  s.side().conn->purge();
  s.side().conn.reset();
  Incarnations heard;
  uint64_t fresh = 0;
  s.ep().on_request = [&](const Message& m) {
    const bool from_new = m.word >= 1000;
    heard.mixed_up += m.from.epoch == (from_new ? old_epoch : new_epoch) ? 1 : 0;
    heard.old += m.from.epoch == old_epoch ? 1 : 0;
    fresh += from_new ? 1 : 0;
  };
  const Card card = drive(s, next, open_here, SideOptions{.memory = 0});
  next.start(meet_here, Introduction{s.side().card_for(next.epoch())});
  s.side().conn = std::make_unique<Connection>(s.ep(), card, false);
  next.finish<Nothing>([&] { s.ep().step(); });
  drive(s, s.partner(), send_some, 20u);  // words below 1000, by the old incarnation
  drive(
      s, next,
      +[](Side& side, const Nothing&) -> Nothing {
        for (uint64_t i = 0; i < 20; ++i) side.conn->send(1000 + i, nullptr, 0);
        return {};
      },
      Nothing{});
  s.ep().until([&] { return fresh >= 20; }, "messages of the replacement");
  s.partner().kill();
  s.side().conn.reset();
  return heard;
}

// Catches messages of the old incarnation that are taken for the new one's.
void stale_epoch_is_not_believed() {
  EXPECT_EQ(hear_both_incarnations().mixed_up, 0u)
      << "messages of one incarnation were delivered as the other's";
}

// Catches messages of the old incarnation that are delivered at all, once the new one is known.
void old_epoch_is_dropped() {
  EXPECT_EQ(hear_both_incarnations().old, 0u)
      << "messages were delivered of an epoch that had been purged and replaced";
}

// Catches what stays of peers that are gone: a rank is replaced again and again, in order and by
// force.
void replaced_many_times() {
  Session s({.memory = 0});
  s.partner().kill();
  s.conn().purge();
  s.side().conn.reset();
  bool by_force = false;
  const auto replace = [&] {
    by_force = !by_force;
    Partner next(world().next_epoch++);
    const Card card = drive(s, next, open_here, SideOptions{.memory = 0});
    next.start(meet_here, Introduction{s.side().card_for(next.epoch())});
    {
      Connection conn(s.ep(), card, false);
      next.finish<Nothing>([&] { s.ep().step(); });
      const uint64_t sent = blackboard().slot[5].load();
      for (uint64_t n = 0; n < 5; ++n) conn.send(n, nullptr, 0);
      s.ep().until([&] { return blackboard().slot[5].load() >= sent + 5; }, "messages");
      if (by_force) next.kill();
      if (by_force) conn.purge();
    }
    if (!by_force) drive(s, next, close_here, Nothing{});
    if (!by_force) next.closed();
    for (int i = 0; i < 20; ++i) s.ep().step();
  };
  replace();
  const uint64_t before = now_ns();
  replace();
  // Some networks take a second to open, so that fewer have to do; their noise weighs more then.
  const size_t times = std::clamp<uint64_t>(4'000'000'000u / (now_ns() - before), 8, 30);
  expect_no_growth("peer that was replaced", replace, times / 4, times, 32 + 1024 / times);
}

// ---- strangers ------------------------------------------------------------------------------

Nothing intrude(Side& side, const Introduction& whom) {
  Domain::use_job_key("key of strangers");
  try {
    side.open({.memory = 0});
    side.meet(whom.card, false, true);
    for (uint64_t i = 0; i < 20; ++i) side.conn->send(1000 + i, nullptr, 0);
  } catch (const std::exception&) {  // a refusal is as good as silence
  }
  blackboard().slot[6].store(1);
  return {};
}

Nothing send_without_loss(Side& side, const uint32_t& n) {
  for (uint32_t i = 0; i < n; ++i) side.conn->send(i, nullptr, 0);
  return {};
}

// Catches messages of a process that has an address of the job's and not its key; also what it
// says of epochs: it claims a newer one of the partner's rank.
void foreign_key_is_not_believed() {
  Session s({.memory = 0});
  uint64_t own = 0, foreign = 0;
  s.ep().on_request = [&](const Message& m) { ++(m.word < 1000 ? own : foreign); };
  Partner stranger(world().next_epoch++);
  stranger.start(intrude, Introduction{s.side().card});
  const Deadline patience("a stranger's messages", 2.0);  // it may wait longer to be let in
  while (blackboard().slot[6].load() == 0 && !patience.passed()) s.ep().step();
  for (int i = 0; i < 200; ++i) s.ep().step();
  EXPECT_EQ(foreign, 0u) << "messages were delivered of a process with another job's key";
  s.start(send_without_loss, 20u);
  s.ep().until([&] { return own >= 20 || has_failure(); },
               "messages of the job's own, behind a stranger's");
  s.finish<Nothing>();
  stranger.kill();
}

// Catches a device whose failure is kept: the core would speak of peers alone.
void failed_device_is_told() {
  Session s({.memory = 0, .failing = 1});
  PluginHost::take_device_reports();
  const Deadline deadline("the failure of a device that fails after 100 packets");
  std::vector<DeviceReport> told;
  cwy_status answer = CWY_OK;
  for (int32_t n = 0; answer == CWY_OK || answer == CWY_RETRY; ++n) {
    answer = s.ops().am_short(s.raw(), 1, &n, 1, 0);
    s.ep().step();
    deadline.check();
  }
  EXPECT_TRUE(answer == CWY_ERR_DEVICE_FAILED || answer == CWY_ERR_PEER_FAILED)
      << "am_short over a device that has failed: " << status_name(answer);
  for (int i = 0; i < 100; ++i) s.ep().step();
  for (const DeviceReport& report : PluginHost::take_device_reports()) {
    EXPECT_EQ(report.state, uint32_t{CWYC_DEVICE_DOWN}) << "of a device that has failed";
    EXPECT_TRUE(!report.device.empty() && !report.why.empty()) << "a report without a text";
    told.push_back(report);
  }
  EXPECT_FALSE(told.empty()) << "nobody was told by device_state";
}

const Cases cases{
    {"Failure", "death_learnt_elsewhere", kShort | kProcess, death_learnt_elsewhere},
    {"Failure", "killed_while_idle", kShort | kProcess, killed_while_idle},
    {"Failure", "killed_in_the_middle_of_a_flood", kShort | kMedium | kProcess,
     killed_in_the_middle_of_a_flood},
    {"Failure", "killed_with_unread_messages", kShort | kMedium | kProcess,
     killed_with_unread_messages},
    {"Failure", "killed_while_sending", kShort | kMedium | kProcess, killed_while_sending},
    {"Failure", "purge_completes_everything", kShort | kProcess, purge_completes_everything},
    {"Failure", "death_is_told_to_the_front", kPeerFailure | kProcess, death_is_told_to_the_front},
    {"Failure", "death_is_reported_unasked", kPeerFailure | kProcess, death_is_reported_unasked},
    {"Failure", "replacement_with_a_new_epoch", kShort | kProcess, replacement_with_a_new_epoch},
    {"Failure", "purge_after_a_newer_epoch", kShort | kProcess, purge_after_a_newer_epoch},
    {"Cycles", "peers", kShort | kProcess, replaced_many_times},
    {"Failure", "stale_epoch_is_not_believed", kShort | kProcess, stale_epoch_is_not_believed},
    {"Failure", "old_epoch_is_dropped", kShort | kProcess, old_epoch_is_dropped},
    {"Failure", "failed_device_is_told", kShort | kFailing, failed_device_is_told},
    {"Failure", "foreign_key_is_not_believed", kShort | kProcess, foreign_key_is_not_believed},
};

}  // namespace
}  // namespace causeway::conformance
