// Peer rules: which peers match, and rules that can never be the first to match.
#include <gmock/gmock.h>

#include <algorithm>
#include <ctime>

#include "../slowdown.h"
#include "config_testing.h"

namespace causeway::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

PeerRule rule(std::optional<Locality> locality, std::string host = "", std::string ranks = "") {
  PeerRule out;
  out.locality = locality;
  out.host_glob = std::move(host);
  out.rank_set = std::move(ranks);
  return out;
}

// Localities nest: a condition on nbrhd holds for self, one on host for both.
TEST(ConfigRules, LocalityNests) {
  EXPECT_TRUE(rule(Locality::self).matches(Locality::self, "a", 0));
  EXPECT_FALSE(rule(Locality::self).matches(Locality::nbrhd, "a", 0));
  EXPECT_TRUE(rule(Locality::nbrhd).matches(Locality::self, "a", 0));
  EXPECT_TRUE(rule(Locality::host).matches(Locality::nbrhd, "a", 0));
  EXPECT_FALSE(rule(Locality::nbrhd).matches(Locality::host, "a", 0));
  EXPECT_FALSE(rule(Locality::host).matches(Locality::remote, "a", 0));
  EXPECT_FALSE(rule(Locality::remote).matches(Locality::host, "a", 0));
  EXPECT_TRUE(rule(Locality::remote).matches(Locality::remote, "a", 0));
  EXPECT_TRUE(rule(std::nullopt).matches(Locality::remote, "a", 0));
}

TEST(ConfigRules, HostsAndRanks) {
  const PeerRule both = rule(std::nullopt, "node[0-9]*", "0-3,7,12-");
  EXPECT_TRUE(both.matches(Locality::remote, "node4x", 2));
  EXPECT_FALSE(both.matches(Locality::remote, "login", 2));
  EXPECT_FALSE(both.matches(Locality::remote, "node4x", 4));
  EXPECT_TRUE(both.matches(Locality::remote, "node4x", 7));
  EXPECT_FALSE(both.matches(Locality::remote, "node4x", 11));
  EXPECT_TRUE(both.matches(Locality::remote, "node4x", 4294967295u));
}

TEST(ConfigRules, FieldsOfARule) {
  const Config config = load_text(
      "peers:\n"
      "  - match: {locality: nbrhd, host: 'n*', ranks: '3,1-2'}\n"
      "    use: [shm, self]\n"
      "    require: true\n"
      "    on_fallback: warn\n"
      "    operations: {put: self}\n"
      "  - {name: rest, use: [shm]}\n");
  ASSERT_EQ(config.peers.size(), 2u);
  const PeerRule& first = config.peers[0];
  EXPECT_EQ(first.locality, Locality::nbrhd);
  EXPECT_EQ(first.host_glob, "n*");
  EXPECT_EQ(first.rank_set, "1-3");  // canonical
  EXPECT_THAT(first.use, ElementsAre("shm", "self"));
  EXPECT_TRUE(first.require);
  EXPECT_EQ(first.on_fallback, Fallback::warn);
  EXPECT_EQ(first.operations, (std::map<std::string, std::string>{{"put", "self"}}));
  EXPECT_EQ(first.label, "peers[0]");
  EXPECT_EQ(first.where.line, 2);
  EXPECT_EQ(first.where.column, 5);
  EXPECT_EQ(config.peers[1].label, "rest");
  EXPECT_EQ(config.peers[1].locality, std::nullopt);
  EXPECT_FALSE(config.peers[1].require);
  EXPECT_EQ(config.peers[1].on_fallback, Fallback::silent);
}

TEST(ConfigRules, SizesAndRails) {
  const Config config = load_text(
      "conduits: {a: {plugin: shm}, b: {plugin: shm, open: always}, c: {plugin: shm}}\n"
      "rails: {both: {use: [a, b], policy: bandwidth, stripe_above: 1MiB}, one: {use: [a]}}\n"
      "peers:\n"
      "  - use: [both]\n"
      "    operations: {am: one}\n"
      "    sizes: [{to: 4KiB, use: shm}, {from: 1000, operations: [put], use: one}]\n");
  ASSERT_EQ(config.rails.size(), 2u);
  EXPECT_THAT(config.rails[0].use, ElementsAre("a", "b"));
  EXPECT_TRUE(config.rails[0].by_bandwidth);
  EXPECT_EQ(config.rails[0].stripe_above, 1u << 20);
  EXPECT_FALSE(config.rails[1].by_bandwidth);
  EXPECT_EQ(config.rails[1].stripe_above, 256u << 10);
  const std::vector<SizeRule>& sizes = config.peers.at(0).sizes;
  ASSERT_EQ(sizes.size(), 2u);
  EXPECT_TRUE(sizes[0].covers("am", 0) && sizes[0].covers("get", 4096));
  EXPECT_FALSE(sizes[0].covers("put", 4097));
  EXPECT_TRUE(sizes[1].covers("put", 1000) && sizes[1].covers("put", UINT64_MAX));
  EXPECT_FALSE(sizes[1].covers("get", 1000) || sizes[1].covers("put", 999));
  EXPECT_TRUE(config.uses_conduit("a") && config.uses_conduit("b") && config.uses_conduit("shm"));
  EXPECT_FALSE(config.uses_conduit("c") || config.uses_conduit("self"));
  EXPECT_TRUE(find_conduit(config, "b")->open_always);
  EXPECT_FALSE(find_conduit(config, "a")->open_always);
}

// A rail where only a conduit can stand, a name for both, a range without a size.
TEST(ConfigRules, MistakesWithRails) {
  EXPECT_THAT(
      problems_of("rails: {r: {use: [shm]}}\npeers: [{use: [r], operations: {atomic: r}}]\n"),
      ElementsAre(HasSubstr("unknown conduit 'r' in peers[0].operations.atomic; it is a rail")));
  EXPECT_THAT(problems_of("rails: {shm: {use: [self]}}\n"),
              ElementsAre(HasSubstr("rail 'shm' has the name of a conduit")));
  EXPECT_THAT(problems_of("rails: {pair: {use: [shm]}}\npeers: [{use: [pairs]}]\n"),
              ElementsAre(HasSubstr("did you mean 'pair'?")));
  EXPECT_THAT(problems_of("peers: [{use: [shm], sizes: [{from: 2K, to: 1K, use: self}]}]\n"),
              ElementsAre(HasSubstr("nothing is from 2KiB to 1KiB")));
  EXPECT_THAT(problems_of("collectives: {rules: [{from: 2K, to: 1K, use: ['*']}]}\n"),
              ElementsAre(HasSubstr("nothing is from 2KiB to 1KiB")));
  EXPECT_THAT(problems_of("collectives: {rules: [{ranks_from: 5, ranks_to: 3, use: ['*']}]}\n"),
              ElementsAre(HasSubstr("nothing is ranks_from 5 ranks_to 3")));
  EXPECT_THAT(problems_of("rails: {r: {policy: bandwidth}}\n"),
              ElementsAre(HasSubstr("rails.r needs the key 'use'")));
}

std::vector<std::string> unreachable(const std::string& matches) {
  return problems_of(matches);
}

TEST(ConfigRules, SameLocalityTwice) {
  EXPECT_THAT(unreachable("peers:\n"
                          "  - {match: {locality: nbrhd}, use: [shm]}\n"
                          "  - {match: {locality: nbrhd}, use: [self]}\n"),
              ElementsAre("f:3:5: rule peers[1] can never match: peers[0] (f:2:5) before it takes "
                          "every such peer; move it up or remove it"));
}

TEST(ConfigRules, NarrowerLocalityAfterBroader) {
  EXPECT_THAT(unreachable("peers:\n"
                          "  - {name: near, match: {locality: host}, use: [shm]}\n"
                          "  - {name: me, match: {locality: self}, use: [self]}\n"),
              ElementsAre(HasSubstr("f:3:5: rule me can never match: near (f:2:5) before it")));
  EXPECT_THAT(unreachable("peers:\n"
                          "  - {match: {locality: self}, use: [self]}\n"
                          "  - {match: {locality: nbrhd}, use: [shm]}\n"
                          "  - {match: {locality: host}, use: [shm]}\n"
                          "  - {match: {locality: remote}, use: [shm]}\n"),
              IsEmpty());
}

TEST(ConfigRules, AnythingAfterAnAllMatch) {
  EXPECT_THAT(unreachable("peers:\n"
                          "  - {use: [shm]}\n"
                          "  - {match: {host: 'a*', ranks: '5'}, use: [self]}\n"
                          "  - {match: {locality: remote}, use: [self]}\n"),
              ElementsAre(HasSubstr("f:3:5: rule peers[1] can never"),
                          HasSubstr("f:4:5: rule peers[2] can never")));
}

// Several rules can take every peer only together.
TEST(ConfigRules, ShadowedByAUnion) {
  EXPECT_THAT(unreachable("peers:\n"
                          "  - {match: {locality: host}, use: [shm]}\n"
                          "  - {match: {locality: remote}, use: [shm]}\n"
                          "  - {use: [self]}\n"),
              ElementsAre("f:4:5: rule peers[2] can never match: peers[0] (f:2:5) and peers[1] "
                          "(f:3:5) before it take every such peer; move it up or remove it"));
  EXPECT_THAT(unreachable("peers:\n"
                          "  - {match: {ranks: 0-3}, use: [shm]}\n"
                          "  - {match: {ranks: 4-7}, use: [shm]}\n"
                          "  - {match: {ranks: 2-6}, use: [self]}\n"),
              ElementsAre(HasSubstr("f:4:5: rule peers[2]")));
  EXPECT_THAT(unreachable("peers:\n"
                          "  - {match: {ranks: 0-3}, use: [shm]}\n"
                          "  - {match: {ranks: 5-7}, use: [shm]}\n"
                          "  - {match: {ranks: 2-6}, use: [self]}\n"),
              IsEmpty());
}

TEST(ConfigRules, Hosts) {
  EXPECT_THAT(unreachable("peers:\n"
                          "  - {match: {host: 'node*'}, use: [shm]}\n"
                          "  - {match: {host: node7}, use: [self]}\n"
                          "  - {match: {host: 'login*'}, use: [self]}\n"),
              ElementsAre(HasSubstr("f:3:5: rule peers[1]")));
  EXPECT_THAT(unreachable("peers:\n"
                          "  - {match: {host: node7}, use: [shm]}\n"
                          "  - {match: {host: 'node*'}, use: [self]}\n"),
              IsEmpty());
  EXPECT_THAT(unreachable("peers:\n"
                          "  - {match: {host: '*'}, use: [shm]}\n"
                          "  - {match: {host: 'node*'}, use: [self]}\n"),
              ElementsAre(HasSubstr("f:3:5: rule peers[1]")));
}

// A condition that was refused says nothing; the rule must not be called an all-match.
TEST(ConfigRules, RefusedConditionsCauseNoFollowingErrors) {
  EXPECT_THAT(unreachable("peers:\n"
                          "  - {match: {locality: slef}, use: [self]}\n"
                          "  - {match: {locality: nbrhd}, use: [shm]}\n"),
              ElementsAre(HasSubstr("did you mean 'self'?")));
}

TEST(ConfigRules, TwoRulesOfOneName) {
  EXPECT_THAT(unreachable("peers:\n"
                          "  - {name: a, match: {locality: self}, use: [self]}\n"
                          "  - {name: a, use: [shm]}\n"),
              ElementsAre("f:3:12: two rules are named 'a'; the first is at f:2:12"));
}

// The check must stay quick for as many rules as the schema admits.
TEST(ConfigRules, ManyRulesAreCheckedQuickly) {
  std::string text = "peers:\n";
  for (int i = 0; i < 1000; ++i) {
    text += "  - {match: {ranks: " + std::to_string(2 * i) + "}, use: [shm]}\n";
  }
  // This thread's processor time: others may have the processor meanwhile.
  const std::clock_t start = std::clock();
  EXPECT_THAT(problems_of(text), IsEmpty());
  EXPECT_LT(std::clock() - start, 5 * kSlowdown * CLOCKS_PER_SEC);
  EXPECT_THAT(problems_of(text + "  - {use: [self]}\n"),
              ElementsAre("f:2:3: peers has 1001 entries; at most 1000 are allowed"));
}

}  // namespace
}  // namespace causeway::testing
