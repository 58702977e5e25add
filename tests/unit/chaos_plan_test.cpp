// What the conduit chaos draws from its seed.
#include <gtest/gtest.h>
#include <plugins/conduit/chaos/plan.h>

#include <set>
#include <vector>

namespace causeway::chaos {
namespace {

constexpr Rates kRates{100, 200, 300, 400, 8};

// Everything a plan says of a stretch of operations.
std::vector<uint32_t> script(const Plan& plan, uint32_t peer, uint64_t count) {
  std::vector<uint32_t> out;
  for (uint64_t n = 0; n < count; ++n) {
    out.insert(out.end(), {plan.refusals(peer, n), plan.delay(peer, n), plan.reorder(peer, n),
                           static_cast<uint32_t>(plan.poll(n))});
  }
  return out;
}

// Would catch: state in a plan, so that what happens depends on how often or when it is asked.
TEST(ChaosPlan, SameSeedSameMisfortunes) {
  const Plan a(7, 0, kRates), b(7, 0, kRates);
  const auto once = script(a, 1, 5000);
  script(b, 2, 77);
  EXPECT_EQ(once, script(b, 1, 5000));
  EXPECT_EQ(once, script(a, 1, 5000));
}

// Would catch: a seed, a rank or a peer that is not mixed in.
TEST(ChaosPlan, SeedRankAndPeerMatter) {
  std::set<std::vector<uint32_t>> all;
  for (const uint64_t seed : {0, 1, 2, 1000}) {
    for (const uint32_t rank : {0, 1, 2}) {
      for (const uint32_t peer : {0, 1, 2}) all.insert(script(Plan(seed, rank, kRates), peer, 300));
    }
  }
  EXPECT_EQ(all.size(), 36u);
}

// Would catch: rates that are not those asked for, and operations that share their dice.
TEST(ChaosPlan, RatesAreAboutThoseAskedFor) {
  const Plan plan(42, 3, kRates);
  constexpr uint64_t kCount = 200'000;
  uint64_t refused = 0, delayed = 0, reordered = 0, shortened = 0, both = 0;
  for (uint64_t n = 0; n < kCount; ++n) {
    refused += plan.refusals(1, n) != 0 ? 1 : 0;
    delayed += plan.delay(1, n) != 0 ? 1 : 0;
    reordered += plan.reorder(1, n) != 0 ? 1 : 0;
    both += plan.delay(1, n) != 0 && plan.reorder(1, n) != 0 ? 1 : 0;
    shortened += plan.poll(n) != Poll::whole ? 1 : 0;
    EXPECT_LE(plan.delay(1, n), kRates.hold);
  }
  const auto share = [](uint64_t n) { return static_cast<double>(n) / kCount; };
  EXPECT_NEAR(share(refused), 0.1, 0.005);
  EXPECT_NEAR(share(delayed), 0.2, 0.005);
  EXPECT_NEAR(share(reordered), 0.3, 0.005);
  EXPECT_NEAR(share(both), 0.06, 0.005);
  EXPECT_NEAR(share(shortened), 0.4, 0.005);
}

// Would catch: an operation that is refused for ever, and misfortune at rate 0.
TEST(ChaosPlan, ExtremesEnd) {
  const Plan never(5, 0, Rates{0, 0, 0, 0, 8}), always(5, 0, Rates{1000, 1000, 1000, 1000, 1});
  for (uint64_t n = 0; n < 1000; ++n) {
    EXPECT_EQ(never.refusals(1, n) + never.delay(1, n) + never.reorder(1, n), 0u);
    EXPECT_EQ(never.poll(n), Poll::whole);
    EXPECT_EQ(always.refusals(1, n), Plan::most_refusals);
    EXPECT_EQ(always.delay(1, n), 1u);
    EXPECT_NE(always.poll(n), Poll::whole);
  }
}

}  // namespace
}  // namespace causeway::chaos
