// Waiting: a process that sleeps is woken by what arrives.
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "../harness/cases.h"
#include "../harness/expect.h"
#include "../harness/session.h"
#include "base/error.h"

namespace causeway::conformance {
namespace {

constexpr uint64_t kNapNs = 300'000'000;  // long: a nap of this length was not ended by anything
// The first rounds of each cycle are only polled for, in the first second. A conduit may watch a
// busy link in another way, and has to come back from that before a sleep.
constexpr uint32_t kCycle = 256, kPolledRounds = 100;
constexpr uint64_t kPolledNs = 1'000'000'000;

struct Game {
  uint32_t rounds;
  uint32_t first;  // 1: this side serves
  uint32_t by_fd;  // wait_fd and arm, else nap
};
struct Score {
  uint32_t rounds;     // played
  uint32_t overslept;  // sleeps that lasted to their end though a message was under way
  uint64_t longest_ns;
};

// One sleep by descriptor. Returns false when it lasted to its end.
bool sleep_by_fd(Side& side, int fd) {
  const cwy_status status = side.ep->module().arm(side.ep->get());
  if (status == CWY_RETRY) return true;
  require_ok(status, "arm");
  pollfd p{fd, POLLIN, 0};
  return poll(&p, 1, static_cast<int>(kNapNs / 1'000'000)) != 0;
}

// Both sides sleep for the other's message, `rounds` times. A wake-up lost on either side shows as
// a sleep of the full length: the other one sends at once.
Score play(Side& side, const Game& game) {
  Score score{};
  uint64_t arrived = 0;
  bool last = false;  // the serving side says so in its message, so that both end together
  side.ep->on_request = [&](const Message& m) {
    ++arrived;
    last |= m.nargs == 1 && m.args[0] != 0;
  };
  int fd = -1;
  if (game.by_fd != 0) require_ok(side.ep->module().wait_fd(side.ep->get(), &fd), "wait_fd");
  // The serving side waits until the other one listens: what came before would be nobody's.
  if (game.first == 0) {
    side.conn->send(0, nullptr, 0);
  } else {
    side.ep->until([&] { return arrived == 1; }, "word that the other side listens");
    arrived = 0;
  }
  const uint64_t start = now_ns(), end = start + 8'000'000'000u;
  for (uint32_t round = 1; round <= game.rounds; ++round) {
    if (game.first != 0) {
      last = round == game.rounds || now_ns() > end;
      const int32_t flag = last ? 1 : 0;
      side.conn->send(round, &flag, 1);
    }
    const Deadline deadline("the other side's message of round " + std::to_string(round), 10.0);
    while (arrived < round) {
      if (side.ep->progress() != 0) continue;
      deadline.check();
      if (round % kCycle < kPolledRounds && now_ns() < start + kPolledNs) {
        sched_yield();
        continue;
      }
      const uint64_t before = now_ns();
      bool woken = true;
      if (game.by_fd != 0) {
        woken = sleep_by_fd(side, fd);
      } else {
        side.ep->module().nap(side.ep->get(), kNapNs);
      }
      const uint64_t slept = now_ns() - before;
      score.longest_ns = std::max(score.longest_ns, slept);
      if (!woken || slept >= kNapNs * 95 / 100) ++score.overslept;
    }
    score.rounds = round;
    if (game.first == 0) side.conn->send(round, nullptr, 0);
    if (last) break;
  }
  side.ep->on_request = nullptr;
  return score;
}

void ping_pong(uint32_t rounds, bool by_fd) {
  Session s({.memory = 0});
  s.start(play, Game{rounds, 0, by_fd ? 1u : 0u});
  const Score mine = play(s.side(), Game{rounds, 1, by_fd ? 1u : 0u});
  const auto theirs = s.finish<Score>();
  const uint32_t overslept = mine.overslept + theirs.overslept;
  // Two, not none: on a crowded machine the other process may get no processor that long.
  EXPECT_LE(overslept, 2u) << "sleeps that nothing ended, in " << mine.rounds
                           << " rounds: lost wake-ups (longest "
                           << std::max(mine.longest_ns, theirs.longest_ns) / 1'000'000 << " ms)";
  EXPECT_GE(mine.rounds, std::min(rounds, 500u)) << "rounds within 8 s";
}

// Catches the race between the last look and the sleep.
void naps_are_ended_by_messages() {
  ping_pong(20'000, false);
}
void descriptor_is_readable_after_messages() {
  ping_pong(20'000, true);
}

// Catches naps that do not end by themselves, and busy loops dressed as naps.
void nap_is_bounded() {
  Session s({.memory = 0});
  for (const uint64_t ns : {0ull, 1'000'000ull, 20'000'000ull}) {
    const uint64_t before = now_ns();
    s.ep().module().nap(s.ep().get(), ns);
    EXPECT_LT(now_ns() - before, ns + 2'000'000'000u * kSlowdown)
        << "a nap of at most " << ns << " ns";
  }
}

// Catches an arm that says "sleep" while messages wait: they arrived before it, without progress.
void arm_sees_what_is_pending() {
  uint64_t arrived = 0;
  Session s({.memory = 0});
  s.ep().on_request = [&](const Message&) { ++arrived; };
  int fd = -1;
  ASSERT_EQ(s.ep().module().wait_fd(s.ep().get(), &fd), CWY_OK);
  ASSERT_GE(fd, 0);
  for (uint64_t round = 1; round <= 200; ++round) {
    s.partner().start(
        +[](Side& side, const uint64_t& n) -> Nothing {
          side.conn->send(n, nullptr, 0);
          return {};
        },
        round);
    s.partner().finish<Nothing>(nullptr);  // sent, and no progress here
    const cwy_status status = s.ep().module().arm(s.ep().get());
    if (status == CWY_OK) {
      pollfd p{fd, POLLIN, 0};
      ASSERT_EQ(poll(&p, 1, 5000), 1) << "armed with a message pending, and never readable";
    } else {
      ASSERT_EQ(status, CWY_RETRY) << status_name(status);
    }
    s.ep().until([&] { return arrived >= round; }, "the pending message");
  }
}

// Says that it listens, answers each of so many messages, and sends one more after a while.
Nothing answer_and_pause(Side& side, const uint32_t& count) {
  uint32_t arrived = 0;
  side.ep->on_request = [&](const Message&) { ++arrived; };
  side.conn->send(count, nullptr, 0);
  for (uint32_t answered = 0; answered < count; ++answered) {
    side.ep->until([&] { return arrived > answered; }, "a message to answer");
    side.conn->send(answered, nullptr, 0);
  }
  const uint64_t end = now_ns() + 100'000'000u;
  side.ep->until([&] { return now_ns() > end; }, "the end of a pause");
  side.conn->send(count, nullptr, 0);
  side.ep->on_request = nullptr;
  return {};
}

// Catches a conduit that stops watching a busy link though a thread sleeps: another thread takes
// what arrives, until it has something else to do.
void a_sleeper_is_woken_beside_a_poller() {
  constexpr uint32_t kTrips = 1000;
  Session s({.memory = 0, .multithreaded = 1});
  uint32_t arrived = 0;
  s.ep().on_request = [&](const Message&) { ++arrived; };
  int fd = -1;
  ASSERT_EQ(s.ep().module().wait_fd(s.ep().get(), &fd), CWY_OK);
  std::atomic<bool> armed{false}, polled{false};
  int woken = -1;
  std::jthread sleeper([&] {
    const Deadline deadline("the other thread's part", 20.0);
    while (s.ep().module().arm(s.ep().get()) != CWY_OK && !deadline.passed()) sched_yield();
    armed.store(true);
    while (!polled.load() && !deadline.passed()) usleep(500);
    pollfd p{fd, POLLIN, 0};
    woken = poll(&p, 1, 5000);
  });
  while (!armed.load()) s.ep().step();
  s.start(answer_and_pause, kTrips);
  // A message before that would be nobody's.
  s.ep().until([&] { return arrived == 1; }, "word that the other side listens");
  arrived = 0;
  for (uint32_t trip = 0; trip < kTrips; ++trip) {
    s.conn().send(trip, nullptr, 0);
    s.ep().until([&] { return arrived > trip; }, "an answer");
  }
  const bool early = arrived > kTrips;  // this thread had no processor for the whole pause
  polled.store(true);
  sleeper.join();
  if (early) throw Skip{"a processor for each thread"};
  EXPECT_EQ(woken, 1) << "a message has come, and nothing has ended the sleep of another thread";
  s.ep().until([&] { return arrived > kTrips; }, "the message behind the pause");
  s.finish<Nothing>();
}

// Catches room that wakes nobody: the core sleeps on the descriptor while a post is at RETRY. The
// link has been busy before.
void room_ends_the_sleep() {
  constexpr uint32_t kMost = 300'000;
  Session s({.memory = 0});
  s.start(play, Game{kPolledRounds - 1, 0, 1});
  play(s.side(), Game{kPolledRounds - 1, 1, 1});
  s.finish<Score>();
  int fd = -1;
  ASSERT_EQ(s.ep().module().wait_fd(s.ep().get(), &fd), CWY_OK);
  uint64_t sent = 0;
  const auto post = [&] { return s.ops().am_short(s.raw(), sent, nullptr, 0, 0); };
  for (uint32_t round = 0; round < 3; ++round) {
    s.partner().hold();
    // Full is what stays so for a while: room that clears by progress alone is no case for sleep.
    const uint64_t patience = 50'000'000u * kSlowdown;
    for (uint64_t until = now_ns() + patience; sent < kMost && now_ns() < until;) {
      const cwy_status status = post();
      if (status == CWY_OK) ++sent, until = now_ns() + patience;
      ASSERT_TRUE(status == CWY_OK || status == CWY_RETRY) << status_name(status);
      if (status == CWY_RETRY) s.ep().step();
    }
    // The peer goes on once this side is about to sleep. A conduit may never let it.
    bool armed = false;
    for (int tries = 0; tries < 100 && !armed && sent < kMost; ++tries) {
      if (post() == CWY_OK) {
        ++sent;
        continue;
      }
      if (s.ep().progress() == 0) armed = s.ep().module().arm(s.ep().get()) == CWY_OK;
    }
    s.partner().resume();
    if (sent >= kMost) throw Skip{"a queue that becomes full"};
    const Deadline deadline("room for a message to a peer that goes on", 30.0);
    for (;;) {
      if (armed) {
        pollfd p{fd, POLLIN, 0};
        ASSERT_EQ(poll(&p, 1, 5000), 1) << "a post is at RETRY, the peer goes on, and nothing ends "
                                           "the sleep on the descriptor";
      }
      if (post() == CWY_OK) break;
      armed = s.ep().progress() == 0 && s.ep().module().arm(s.ep().get()) == CWY_OK;
      deadline.check();
    }
    ++sent;
  }
}

// Catches a descriptor that stays readable for ever: a core that sleeps on it would spin.
void idle_descriptor_is_quiet() {
  Session s({.memory = 0});
  int fd = -1;
  ASSERT_EQ(s.ep().module().wait_fd(s.ep().get(), &fd), CWY_OK);
  for (int i = 0; i < 200; ++i) s.ep().step();
  // The last of the connection's own traffic may come late on a crowded machine; it ends.
  const uint64_t end = now_ns() + 8'000'000'000u;
  uint32_t quiet = 0;
  while (quiet < 10 && now_ns() < end) {
    if (s.ep().module().arm(s.ep().get()) == CWY_OK) {
      pollfd p{fd, POLLIN, 0};
      quiet += poll(&p, 1, 20) == 0 ? 1 : 0;
    }
    s.ep().progress();
  }
  EXPECT_GE(quiet, 10u) << "nothing arrives, yet the descriptor keeps waking the sleeper";
}

const Cases cases{
    {"Wait", "naps_are_ended_by_messages", kNap | kShort | kProcess, naps_are_ended_by_messages},
    {"Wait", "nap_is_bounded", kNap, nap_is_bounded},
    {"Wait", "descriptor_is_readable_after_messages", kWaitFd | kShort | kProcess,
     descriptor_is_readable_after_messages},
    {"Wait", "arm_sees_what_is_pending", kWaitFd | kShort | kProcess, arm_sees_what_is_pending},
    {"Wait", "a_sleeper_is_woken_beside_a_poller", kWaitFd | kMulti | kShort | kProcess,
     a_sleeper_is_woken_beside_a_poller},
    {"Wait", "room_ends_the_sleep", kWaitFd | kShort | kProcess, room_ends_the_sleep},
    {"Wait", "idle_descriptor_is_quiet", kWaitFd, idle_descriptor_is_quiet},
};

}  // namespace
}  // namespace causeway::conformance
