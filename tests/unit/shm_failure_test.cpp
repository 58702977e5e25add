// The shm conduit when peers die, babble, come back, or crowd; and what it leaves behind.
#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>

#include <thread>

#include "shm_harness.h"

namespace {

using harness::Board;
using harness::core;
using harness::Endpoint;
using harness::Message;
using harness::shm_defaults;

size_t count_entries(const char* directory, const char* part) {
  size_t n = 0;
  DIR* d = opendir(directory);
  while (const dirent* entry = readdir(d)) n += std::strstr(entry->d_name, part) != nullptr;
  closedir(d);
  return n;
}

// A child that runs body and then sleeps until killed.
pid_t start_victim(const std::function<void()>& body) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  alarm(60);
  body();
  while (true) pause();
}

class Failure : public ::testing::Test {
 protected:
  void SetUp() override { core().peer_events.clear(); }

  // A victim of rank 1 and `epoch`, connected to our endpoint, which runs `after` and is parked.
  pid_t victim(Endpoint& ep, uint32_t epoch, const harness::OptionMap& options,
               const std::function<void(Endpoint&, cwyc_conn*)>& after) {
    board->post(0, ep.address());
    board->words[1] = 0;
    const pid_t pid = start_victim([&] {
      const cwyc_module* module = harness::load_conduit("shm", 1, 2, epoch);
      static Endpoint* theirs;  // outlives this function: the process never leaves
      theirs = new Endpoint(module, options);
      board->post(1, theirs->address());
      cwyc_conn* conn = theirs->connect(board->read(0), {0, 1});
      if (conn != nullptr) after(*theirs, conn);
      board->words[1] = 1;
    });
    while (board->words[1] == 0) usleep(100);
    return pid;
  }
  static void kill_and_reap(pid_t pid) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }

  Board* board = Board::make();
};

// Catches: a killed peer that is never noticed by a napping or by a blocked sender, is reported
// twice, or whose last messages are thrown away; objects left behind (memfd).
TEST_F(Failure, KilledPeerIsReportedOnceAndLeavesNothing) {
  const size_t objects = count_entries("/dev/shm", ".cwy.");
  const cwyc_module* module = harness::load_conduit("shm", 0, 2);
  {
    Endpoint ep(module, shm_defaults({{"memory", "memfd"}}));
    const pid_t pid =
        victim(ep, 1, shm_defaults({{"memory", "memfd"}}), [](Endpoint&, cwyc_conn* conn) {
          for (int i = 0; i < 100; ++i) conn->ops->am_short(conn, 1, nullptr, 0, 0);
        });
    cwyc_conn* conn = ep.connect(board->read(1), {1, 1});
    ASSERT_NE(conn, nullptr) << ep.last_error();
    kill_and_reap(pid);
    int got = 0;
    ep.handler = [&](Endpoint&, const Message&) { ++got; };
    EXPECT_TRUE(ep.wait([&] { return !core().peer_events.empty(); }));
    EXPECT_EQ(got, 100);
    for (int i = 0; i < 300; ++i) module->nap(ep.ep(), 1'000'000);
    ASSERT_EQ(core().peer_events.size(), 1u);
    EXPECT_EQ(core().peer_events[0].peer.rank, 1u);
    EXPECT_EQ(core().peer_events[0].state, CWY_PEER_FAILED);
    EXPECT_EQ(core().peer_events[0].why, "process " + std::to_string(pid) + " is gone");
    EXPECT_EQ(conn->ops->am_short(conn, 1, nullptr, 0, 0), CWY_ERR_PEER_FAILED);
    module->purge(conn);
    module->purge(conn);
  }
  EXPECT_EQ(count_entries("/dev/shm", ".cwy."), objects);
}

// Catches: a peer that counts as alive because it had been reaped before it was connected to, as an
// object with a name allows.
TEST_F(Failure, PeerReapedBeforeTheConnectionIsReported) {
  const cwyc_module* module = harness::load_conduit("shm", 0, 2);
  const auto options = shm_defaults({{"memory", "posix"}});
  Endpoint ep(module, options);
  kill_and_reap(victim(ep, 1, options, [](Endpoint&, cwyc_conn*) {}));
  ASSERT_NE(ep.connect(board->read(1), {1, 1}), nullptr) << ep.last_error();
  EXPECT_TRUE(ep.wait([&] { return !core().peer_events.empty(); }));
}

// Catches: a sender that retries for ever because the receiver of its full ring is dead.
TEST_F(Failure, BlockedSenderLearnsOfTheDeath) {
  const cwyc_module* module = harness::load_conduit("shm", 0, 2);
  Endpoint ep(module, shm_defaults({{"ring_bytes", "4096"}}));
  const pid_t pid =
      victim(ep, 1, shm_defaults({{"ring_bytes", "4096"}}), [](Endpoint&, cwyc_conn*) {});
  cwyc_conn* conn = ep.connect(board->read(1), {1, 1});
  ASSERT_NE(conn, nullptr) << ep.last_error();
  while (conn->ops->am_short(conn, 1, nullptr, 0, 0) == CWY_OK) {
  }
  kill_and_reap(pid);
  cwy_status status = CWY_RETRY;
  for (int i = 0; i < 1'000'000 && status == CWY_RETRY; ++i)
    status = conn->ops->am_short(conn, 1, nullptr, 0, 0);  // without any progress call
  EXPECT_EQ(status, CWY_ERR_PEER_FAILED);
  EXPECT_EQ(core().peer_events.size(), 1u);
}

// Catches: a replaced rank whose messages are not delivered, or an old incarnation's messages that
// still are; slots of the dead that are never used again, or with a half-written record of theirs.
TEST_F(Failure, NewEpochIsHeardAndOldOneDropped) {
  const cwyc_module* module = harness::load_conduit("shm", 0, 2);
  const auto options = shm_defaults({{"connections", "2"}});
  Endpoint ep(module, options);
  std::vector<uint32_t> epochs;
  ep.handler = [&](Endpoint&, const Message& m) {
    if (m.word == 0) epochs.push_back(m.from.epoch);
  };
  // As many messages as its epoch, so that the receiver's next look is at the first line that the
  // epoch before left half-written.
  uint64_t count = 0;
  const auto send_some = [&](Endpoint&, cwyc_conn* conn) {
    for (uint64_t left = count; left-- > 0;) conn->ops->am_short(conn, left, nullptr, 0, 0);
    cwyc_am_slot slot{};
    slot.head = CWY_HEAD(cwyc_am_slot);
    ASSERT_EQ(conn->ops->am_prepare(conn, 1000, 1000, 0, 0, &slot), CWY_OK);
    std::memset(slot.buffer, 0xff, slot.length);
  };
  for (uint32_t epoch = 1; epoch <= 6; ++epoch) {
    count = epoch;
    const pid_t pid = victim(ep, epoch, options, send_some);
    cwyc_conn* conn = ep.connect(board->read(1), {1, epoch});
    ASSERT_NE(conn, nullptr) << ep.last_error();
    EXPECT_TRUE(ep.wait([&] { return epochs.size() == epoch; }));
    for (int i = 0; i < 50; ++i) ep.progress();  // looks behind the message
    kill_and_reap(pid);
    module->purge(conn);
    ep.progress();
    ep.drop(conn);
  }
  EXPECT_EQ(epochs, (std::vector<uint32_t>{1, 2, 3, 4, 5, 6}));
  for (const auto& event : core().peer_events)
    EXPECT_EQ(event.why.find("it wrote a record"), std::string::npos) << event.why;
  const pid_t stale = victim(ep, 3, options, send_some);
  for (int i = 0; i < 50; ++i) ep.progress();
  EXPECT_EQ(epochs.size(), 6u);
  kill_and_reap(stale);
}

// A receiver clears read lines some at a time. Would catch a slot that its next sender gets with
// some of them left: that sender's ring shows messages of the one before.
TEST_F(Failure, LinesNotYetClearedAreClearForTheNextSender) {
  const cwyc_module* module = harness::load_conduit("shm", 0, 2);
  const auto options = shm_defaults({{"connections", "2"}, {"ring_bytes", "16384"}});
  Endpoint ep(module, options);
  constexpr uint64_t kTurn = 64;  // lines of a quarter, which are cleared in any case
  uint64_t heard = 0;
  ep.handler = [&](Endpoint&, const Message&) { ++heard; };
  for (uint32_t epoch = 1; epoch <= 6; ++epoch) {
    // The first sender of a pair ends behind the quarter, the second right before what is left.
    const uint64_t count = epoch % 2 != 0 ? kTurn + 5 : kTurn;
    const pid_t pid = victim(ep, epoch, options, [&](Endpoint& theirs, cwyc_conn* conn) {
      for (uint64_t i = 0; i < count; ++i) conn->ops->am_short(conn, i, nullptr, 0, 0);
      theirs.drop(conn);
    });
    EXPECT_TRUE(ep.wait([&] { return heard >= count; }));
    for (int i = 0; i < 50; ++i) ep.progress();
    EXPECT_EQ(heard, count) << "sender " << epoch;
    heard = 0;
    kill_and_reap(pid);
  }
}

// Attempts until one is not refused. Threads that meet get another way within some tens of them.
template <class Attempt>
cwy_status try_often(Attempt attempt) {
  cwy_status status = CWY_RETRY;
  for (int i = 0; i < 200 && status == CWY_RETRY; ++i) status = attempt();
  return status;
}

// Sends one message and begins another, so that the way it went stays taken.
cwy_status send_and_hold(cwyc_conn* conn, cwyc_am_slot& slot) {
  const cwy_status status = try_often([&] { return conn->ops->am_short(conn, 0, nullptr, 0, 0); });
  if (status != CWY_OK) return status;
  return try_often([&] { return conn->ops->am_prepare(conn, 1000, 1000, 0, 0, &slot); });
}

// Catches: slots that threads of the dead had taken beside the connection's own, and that are never
// used again, or with their half-written records.
TEST_F(Failure, SideWaysOfTheDeadAreUsedAgain) {
  constexpr unsigned threads = 4;
  const cwyc_module* module = harness::load_conduit("shm", 0, 2);
  const auto options = shm_defaults({{"ring_bytes", "8192"}});
  Endpoint ep(module, options);
  unsigned heard = 0;
  ep.handler = [&](Endpoint&, const Message& m) { heard += m.word == 0; };
  for (uint32_t epoch = 1; epoch <= 6; ++epoch) {
    board->words[2] = 0;
    heard = 0;
    const pid_t pid = victim(ep, epoch, options, [&](Endpoint& theirs, cwyc_conn* conn) {
      theirs.module()->ep_threads(theirs.ep(), 1);
      for (unsigned t = 0; t < threads; ++t)
        std::thread([&] {
          cwyc_am_slot slot{};
          slot.head = CWY_HEAD(cwyc_am_slot);
          if (send_and_hold(conn, slot) != CWY_OK) return;
          std::memset(slot.buffer, 0xff, slot.length);
          board->words[2] = board->words[2] + 1;
        }).join();
    });
    cwyc_conn* conn = ep.connect(board->read(1), {1, epoch});
    ASSERT_NE(conn, nullptr) << ep.last_error();
    EXPECT_EQ(board->words[2], threads) << "in epoch " << epoch;
    EXPECT_TRUE(ep.wait([&] { return heard == threads; })) << heard << " in epoch " << epoch;
    kill_and_reap(pid);
    module->purge(conn);
    for (int i = 0; i < 50; ++i) ep.progress();
    ep.drop(conn);
    EXPECT_EQ(heard, threads);
  }
  for (const auto& event : core().peer_events)
    EXPECT_EQ(event.why.find("it wrote a record"), std::string::npos) << event.why;
}

// Finds the ring that a connection writes: the test plays a sender gone mad. The address of the
// record is where a short message's word appears in the victim's own mappings.
void babble(cwyc_conn* conn, uint64_t header) {
  constexpr uint64_t mark = 0x6d61726b6d61726bull;
  conn->ops->am_short(conn, mark, nullptr, 0, 0);
  FILE* maps = std::fopen("/proc/self/maps", "r");
  char line[512];
  while (std::fgets(line, sizeof line, maps) != nullptr) {
    unsigned long from = 0, to = 0;
    if (std::strstr(line, "memfd:causeway") == nullptr || std::strstr(line, "rw-s") == nullptr ||
        std::sscanf(line, "%lx-%lx", &from, &to) != 2)
      continue;
    for (unsigned long at = from + 4096; at + 16 < to; at += 16) {
      auto* words = reinterpret_cast<volatile uint64_t*>(at);
      if (words[1] == mark) words[0] = header;
    }
  }
  std::fclose(maps);
}

// Catches: any malformed record crashing, looping or being delivered; a babbler reported twice.
TEST_F(Failure, GarbageInTheRingIsARefusedPeer) {
  const uint64_t check = 0xc5a3ull << 16;
  const uint64_t headers[] = {~0ull,
                              1,                                // no check pattern
                              check | 1 | 17u << 8,             // too many arguments
                              check | 2 | 0xffffffffull << 32,  // too long for a medium
                              check | 2 | 4000ull << 32,        // too long for the ring
                              check | 9,                        // no such kind
                              check | 4 | 1u << 8};             // a skip that is none
  for (const uint64_t header : headers) {
    core().peer_events.clear();
    const cwyc_module* module = harness::load_conduit("shm", 0, 2);
    const auto options = shm_defaults({{"ring_bytes", "4096"}, {"memory", "memfd"}});
    Endpoint ep(module, options);
    int got = 0;
    ep.handler = [&](Endpoint&, const Message&) { ++got; };
    const pid_t pid = victim(ep, 1, options, [&](Endpoint&, cwyc_conn* conn) {
      babble(conn, header);
      for (int i = 0; i < 10; ++i) conn->ops->am_short(conn, 1, nullptr, 0, CWYC_LANE_REPLY);
    });
    for (int i = 0; i < 1000; ++i) ep.progress();
    EXPECT_LE(got, 10);
    ASSERT_EQ(core().peer_events.size(), 1u) << std::hex << header;
    EXPECT_NE(core().peer_events[0].why.find("it wrote a record"), std::string::npos);
    kill_and_reap(pid);
  }
}

// Catches: addresses of processes that are gone, or of others that took their pid, being mapped.
TEST_F(Failure, AddressesOfTheDeadAndForgedOnes) {
  const cwyc_module* module = harness::load_conduit("shm", 0, 2);
  Endpoint ep(module, shm_defaults());
  const pid_t pid = victim(ep, 1, shm_defaults(), [](Endpoint&, cwyc_conn*) {});
  const std::string address = board->read(1);
  for (size_t cut : {size_t(0), address.size() - 1}) {
    EXPECT_EQ(ep.connect(address.substr(0, cut), {1, 1}), nullptr);
  }
  for (size_t i = 0; i < address.size(); ++i) {  // every corrupted byte: an answer, never a crash
    std::string forged = address;
    forged[i] = static_cast<char>(forged[i] ^ 0x55);
    ep.connect(forged, {1, 1});
  }
  kill_and_reap(pid);
  EXPECT_EQ(ep.connect(address, {1, 1}), nullptr);
  EXPECT_EQ(ep.last_status(), CWY_ERR_PEER_FAILED);
  EXPECT_NE(ep.last_error().find("is gone"), std::string::npos) << ep.last_error();
}

// Catches: a process without descriptors that blames its peer, or the way there.
TEST_F(Failure, OwnShortageOfDescriptors) {
  const cwyc_module* module = harness::load_conduit("shm", 0, 2);
  Endpoint ep(module, shm_defaults());
  const pid_t pid = victim(ep, 1, shm_defaults(), [](Endpoint&, cwyc_conn*) {});
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit none{0, limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const cwyc_conn* const conn = ep.connect(board->read(1), {1, 1});
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(conn, nullptr);
  EXPECT_EQ(ep.last_status(), CWY_ERR_NOMEM) << ep.last_error();
  EXPECT_NE(ep.last_error().find("Too many open files"), std::string::npos) << ep.last_error();
  kill_and_reap(pid);
}

// Catches: POSIX objects of a killed job that stay for ever, and a sweep that takes living ones.
TEST_F(Failure, StalePosixObjectsAreSwept) {
  const auto posix = shm_defaults({{"memory", "posix"}});
  const cwyc_module* module = harness::load_conduit("shm", 0, 2);
  const size_t before = count_entries("/dev/shm", ".cwy.");
  {
    Endpoint ep(module, posix);
    const pid_t pid = victim(ep, 1, posix, [](Endpoint&, cwyc_conn*) {});
    EXPECT_EQ(count_entries("/dev/shm", ".cwy."), before + 2);
    kill_and_reap(pid);
    EXPECT_EQ(count_entries("/dev/shm", ".cwy."), before + 2);
    Endpoint next(module, posix);
    // Ours and next's; the victim's went.
    EXPECT_EQ(count_entries("/dev/shm", ".cwy."), before + 2);
    // A peer that notices a death tidies up too, also before the dead is reaped.
    const pid_t second = victim(ep, 2, posix, [](Endpoint&, cwyc_conn*) {});
    ASSERT_NE(ep.connect(board->read(1), {1, 2}), nullptr) << ep.last_error();
    EXPECT_EQ(count_entries("/dev/shm", ".cwy."), before + 3);
    kill(second, SIGKILL);
    EXPECT_TRUE(ep.wait([&] { return !core().peer_events.empty(); }));
    EXPECT_EQ(count_entries("/dev/shm", ".cwy."), before + 2);
    waitpid(second, nullptr, 0);
  }
  EXPECT_EQ(count_entries("/dev/shm", ".cwy."), before);
}

// Catches: descriptors or mappings that survive an endpoint.
TEST_F(Failure, EndpointsLeaveNoDescriptors) {
  const cwyc_module* module = harness::load_conduit("shm", 0, 1);
  const size_t descriptors = count_entries("/proc/self/fd", "");
  for (int i = 0; i < 20; ++i) {
    Endpoint ep(module, shm_defaults());
    ASSERT_NE(ep.connect(ep.address(), {0, 1}, true), nullptr) << ep.last_error();
  }
  EXPECT_EQ(count_entries("/proc/self/fd", ""), descriptors);
}

// Catches: races between threads that send on one connection and threads that poll one endpoint;
// messages lost, doubled, or requests delivered inside of a request's handler. Under tsan above
// all.
TEST_F(Failure, ManyThreadsOnOneEndpoint) {
  const cwyc_module* module = harness::load_conduit("shm", 0, 1);
  Endpoint a(module, shm_defaults({{"ring_bytes", "8192"}}), true);
  Endpoint b(module, shm_defaults({{"ring_bytes", "8192"}}), true);
  cwyc_conn* to_b = a.connect(b.address(), {0, 1}, true);
  cwyc_conn* to_a = b.connect(a.address(), {0, 1}, true);
  constexpr int threads = 3, each = 5000;
  std::atomic<int> requests{0}, replies{0};
  std::atomic<uint64_t> sum{0};
  b.handler = [&](Endpoint&, const Message& m) {
    thread_local bool inside = false;
    EXPECT_FALSE(inside);
    inside = true;
    sum += m.word;
    while (to_a->ops->am_short(to_a, m.word, nullptr, 0, CWYC_LANE_REPLY) == CWY_RETRY)
      b.progress(CWYC_PROGRESS_REPLIES);
    inside = false;
    ++requests;
  };
  a.handler = [&](Endpoint&, const Message&) { ++replies; };
  std::vector<std::thread> workers;
  workers.reserve(threads);
  for (int t = 0; t < threads; ++t)
    workers.emplace_back([&, t] {
      char payload[100] = {};
      for (int i = 0; i < each; ++i) {
        const uint64_t word = static_cast<uint64_t>(t) * each + static_cast<uint64_t>(i);
        while (to_b->ops->am_medium(to_b, word, nullptr, 0, payload, nullptr, 100, 0, nullptr) ==
               CWY_RETRY)
          a.progress();
      }
    });
  for (int t = 0; t < 2; ++t)
    workers.emplace_back([&] {
      while (requests < threads * each || replies < threads * each) {
        b.progress();
        if (a.progress() == 0) module->nap(a.ep(), 100'000);
      }
    });
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(requests, threads * each);
  EXPECT_EQ(replies, threads * each);
  const uint64_t n = uint64_t{threads} * each;
  EXPECT_EQ(sum, n * (n - 1) / 2);
}

// Catches: threads that wait for the one that fills a negotiated payload, although there are
// further ways; more ways than there are, or one twice; ways that a connection leaves taken when it
// ends.
TEST_F(Failure, ThreadsGoAroundALaneThatIsHeld) {
  constexpr unsigned ways = 4;
  const cwyc_module* module = harness::load_conduit("shm", 0, 1);
  Endpoint a(module, shm_defaults({{"ring_bytes", "8192"}}), true);
  Endpoint b(module, shm_defaults({{"ring_bytes", "8192"}}), true);
  uint64_t words = 0;
  unsigned heard = 0;
  b.handler = [&](Endpoint&, const Message& m) { words += m.word, ++heard; };
  for (int round = 0; round < 5; ++round) {
    cwyc_conn* conn = a.connect(b.address(), {0, 1}, true);
    ASSERT_NE(conn, nullptr) << a.last_error();
    words = heard = 0;
    cwyc_am_slot slots[ways]{};
    for (cwyc_am_slot& slot : slots) slot.head = CWY_HEAD(cwyc_am_slot);
    for (cwyc_am_slot& slot : slots)
      std::thread([&] { EXPECT_EQ(send_and_hold(conn, slot), CWY_OK); }).join();
    for (unsigned i = 0; i < ways; ++i)
      for (unsigned k = 0; k < i; ++k) EXPECT_NE(slots[i].buffer, slots[k].buffer);
    // All are held: back-pressure, as it is with one.
    EXPECT_EQ(conn->ops->am_short(conn, 0, nullptr, 0, 0), CWY_RETRY);
    EXPECT_EQ(conn->ops->am_short(conn, 0, nullptr, 0, CWYC_LANE_REPLY), CWY_OK);
    for (unsigned i = 0; i < ways; ++i) {
      std::memset(slots[i].buffer, 'x', 1000);
      conn->ops->am_commit(conn, &slots[i], 1 + i, nullptr, 0, 1000);
    }
    EXPECT_EQ(try_often([&] { return conn->ops->am_short(conn, 0, nullptr, 0, 0); }), CWY_OK);
    EXPECT_TRUE(b.wait([&] { return heard == 2 * ways + 2; })) << heard;
    EXPECT_EQ(words, ways * (ways + 1) / 2);
    EXPECT_EQ(a.stats()["request_short_sent"], (ways + 1) * (static_cast<unsigned>(round) + 1));
    a.drop(conn);
    b.progress();
  }
}

// Catches: memory per rank that grows with rings nobody uses; senders beyond the first sixteen
// starving. Forty ranks, each sending to every other.
TEST_F(Failure, ManyRanksAllHeard) {
  constexpr uint32_t ranks = 40;
  harness::run_ranks(ranks, board, [&](uint32_t rank) {
    const cwyc_module* module = harness::load_conduit("shm", rank, ranks);
    Endpoint ep(module, shm_defaults());
    board->post(rank, ep.address());
    board->barrier(ranks);
    uint64_t heard = 0;
    ep.handler = [&](Endpoint&, const Message& m) { heard |= 1ull << m.from.rank; };
    for (uint32_t peer = 0; peer < ranks; ++peer) {
      cwyc_conn* conn = ep.connect(board->read(peer), {peer, 1}, peer == rank);
      ASSERT_NE(conn, nullptr) << ep.last_error();
      ASSERT_EQ(conn->ops->am_short(conn, 1, nullptr, 0, 0), CWY_OK);
    }
    EXPECT_TRUE(ep.wait([&] { return heard == (1ull << ranks) - 1; }));
    board->barrier(ranks);
  });
}

}  // namespace
