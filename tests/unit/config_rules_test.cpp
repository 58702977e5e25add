// Peer rules: which peers match, and rules that can never be the first to match.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>

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
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(problems_of(text), IsEmpty());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  EXPECT_THAT(problems_of(text + "  - {use: [self]}\n"),
              ElementsAre("f:2:3: peers has 1001 entries; at most 1000 are allowed"));
}

}  // namespace
}  // namespace causeway::testing
