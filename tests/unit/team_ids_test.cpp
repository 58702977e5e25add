// Numbers of teams: no number names two teams of one process, members of one team share it,
// proposals rise above everything that was in use, and mailboxes last as long as their number is in
// use.
#define GASNET_PAR 1
#include "object/team_ids.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "collective/mailbox.h"

namespace {

using namespace causeway;

Team* fake(uintptr_t n) {
  return reinterpret_cast<Team*>(n * 64);
}

TEST(TeamIds, OneCreationPerNumber) {
  const uint32_t id = team_ids::next();
  EXPECT_TRUE(team_ids::claim(id, 1));
  EXPECT_TRUE(team_ids::claim(id, 1));  // a second member of the same team here
  EXPECT_FALSE(team_ids::claim(id, 2));
  team_ids::release(id);
  EXPECT_FALSE(team_ids::claim(id, 2));  // one member is left
  team_ids::release(id);
  EXPECT_GT(team_ids::next(), id);
}

TEST(TeamIds, ProposalsRise) {
  const uint32_t id = team_ids::next() + 10;
  EXPECT_TRUE(team_ids::claim(id, 7));
  EXPECT_GT(team_ids::next(), id);
  team_ids::raise(id + 100);
  EXPECT_EQ(team_ids::next(), id + 100);
  team_ids::raise(id);
  EXPECT_EQ(team_ids::next(), id + 100);
  team_ids::release(id);
}

// Two numbers of one creation, claimed in the wrong order by two members of the parent.
TEST(TeamIds, GroupsMayClaimInAnyOrder) {
  const uint32_t base = team_ids::next();
  EXPECT_TRUE(team_ids::claim(base + 1, 3));
  team_ids::raise(base + 2);
  EXPECT_TRUE(team_ids::claim(base, 3));
  team_ids::release(base);
  team_ids::release(base + 1);
}

// Each caller reads once, also after the builder destroyed the team. Would catch a slow caller that
// waits for ever, and one that is given another team.
TEST(TeamIds, DepositsWaitForEveryReader) {
  const auto handle = [](uintptr_t n) { return reinterpret_cast<gex_TM_t>(n * 64); };
  const uint32_t id = team_ids::next();
  ASSERT_TRUE(team_ids::claim(id, 4));
  EXPECT_TRUE(team_ids::take(id, 4).empty());
  team_ids::deposit(id, 4, {handle(1), handle(2)}, 3);
  EXPECT_EQ(team_ids::take(id, 4).size(), 2u);
  team_ids::release(id);
  team_ids::deposit(id, 5, {handle(3)}, 1);
  EXPECT_EQ(team_ids::take(id, 4).size(), 2u);
  EXPECT_EQ(team_ids::take(id, 5).front(), handle(3));
  EXPECT_EQ(team_ids::take(id, 4).front(), handle(1));
  EXPECT_TRUE(team_ids::take(id, 4).empty());
  EXPECT_TRUE(team_ids::take(id, 5).empty());
}

// Two creations propose one number; one team is made and ended before the other creation claims.
// Would catch a number that serves twice, whose second team gets messages for the first.
TEST(TeamIds, NumbersServeOnce) {
  const uint32_t id = team_ids::next();
  ASSERT_TRUE(team_ids::claim(id, 8));
  ASSERT_TRUE(team_ids::claim(id + 1, 9));
  EXPECT_TRUE(team_ids::in_use(id));
  team_ids::release(id);
  EXPECT_FALSE(team_ids::in_use(id));
  EXPECT_FALSE(team_ids::claim(id, 10));
  EXPECT_TRUE(team_ids::claim(id + 1, 9));  // a second member of what is in use
  team_ids::release(id + 1);
  team_ids::release(id + 1);
  EXPECT_FALSE(team_ids::claim(id + 1, 9));
  EXPECT_TRUE(team_ids::claim(team_ids::next(), 11));  // the creation's next try
}

// Would catch a message that comes after its team's end and leaves a mailbox for good, which a
// later team would take for its own, and an early message that is dropped.
TEST(TeamIds, LateMessagesFindNoMailbox) {
  EXPECT_NE(mailbox(team_ids::kFirst, 3), nullptr);
  const uint32_t id = team_ids::next();
  EXPECT_EQ(mailbox(id, 0), nullptr);
  ASSERT_TRUE(team_ids::claim(id, 12));
  ASSERT_TRUE(team_ids::claim(id, 12));  // two local members
  const std::shared_ptr<Mailbox> early = mailbox(id, 0);
  ASSERT_NE(early, nullptr);
  EXPECT_EQ(mailbox(id, 0), early);
  EXPECT_EQ(known_mailbox(id, 1), nullptr);
  team_ids::release(id);
  sweep_mailboxes(id);
  EXPECT_EQ(mailbox(id, 0), early);  // the other member is there still
  EXPECT_NE(mailbox(id, 1), nullptr);
  team_ids::release(id);
  sweep_mailboxes(id);
  for (const uint32_t rank : {0u, 1u}) {
    EXPECT_EQ(known_mailbox(id, rank), nullptr);
    EXPECT_EQ(mailbox(id, rank), nullptr);
  }
}

TEST(TeamIds, TheLastLocalMemberEndsAll) {
  const uint32_t id = team_ids::next();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(team_ids::claim(id, 5));
  EXPECT_TRUE(team_ids::collect(id, fake(1), 3).empty());
  EXPECT_TRUE(team_ids::collect(id, fake(2), 3).empty());
  EXPECT_EQ(team_ids::collect(id, fake(3), 3).size(), 3u);
  for (int i = 0; i < 3; ++i) team_ids::release(id);
}

// One winner per number, whoever is faster.
TEST(TeamIds, ThreadsRace) {
  constexpr int kThreads = 4, kRounds = 2000;
  const uint32_t base = team_ids::next();
  std::atomic<int> won{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kRounds; ++i)
        won += team_ids::claim(base + static_cast<uint32_t>(i), 100 + static_cast<uint64_t>(t));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(won.load(), kRounds);
}

}  // namespace
