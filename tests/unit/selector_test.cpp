// choose(): the file's order is obeyed, every refusal keeps its reason. The conduits are stand-ins
// whose reach() says what the test wants.
#include "select/selector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>

#include "diag/error.h"

namespace causeway {
namespace {

using testing::HasSubstr;

cwy_status open_nothing(const cwy_options*, const char*, cwyc_domain** out, cwy_err*) {
  *out = nullptr;
  return CWY_OK;
}
void close_nothing(cwyc_domain*) {}
cwy_status reaches(cwyc_domain*, const cwyc_peer_desc*, cwy_err*) {
  return CWY_OK;
}
cwy_status reaches_nobody(cwyc_domain*, const cwyc_peer_desc* peer, cwy_err* err) {
  std::snprintf(err->text, sizeof err->text, "no cable to rank %u", peer->peer.rank);
  return CWY_ERR_UNREACHABLE;
}

class SelectorTest : public testing::Test {
 protected:
  void add(const std::string& name, bool usable) {
    auto plugin = std::make_shared<ConduitPlugin>();
    plugin->module.domain_open = open_nothing;
    plugin->module.domain_close = close_nothing;
    plugin->module.reach = usable ? reaches : reaches_nobody;
    ConduitSpec spec;
    spec.name = spec.plugin = name;
    set_.conduits.push_back(std::make_unique<Conduit>(
        static_cast<uint32_t>(set_.conduits.size()), spec, ConfiguredConduit{plugin, nullptr, {}}));
  }
  PeerRule& rule(std::optional<Locality> locality, std::vector<std::string> use) {
    PeerRule r;
    r.locality = locality;
    r.use = std::move(use);
    r.label = "peers[" + std::to_string(config_.peers.size()) + "]";
    config_.peers.push_back(r);
    return config_.peers.back();
  }
  PeerFacts peer(Locality locality) {
    PeerFacts facts;
    facts.locality = locality;
    facts.host = "node7";
    facts.desc.peer = {3, 1};
    return facts;
  }
  std::string failure(Locality locality) {
    try {
      choose(config_, set_, peer(locality));
    } catch (const Error& e) {
      EXPECT_EQ(e.status(), CWY_ERR_UNREACHABLE);
      return e.text();
    }
    return "chose something";
  }

  Config config_;
  ConduitSet set_;
};

// Would catch: an order of preference that is not the file's.
TEST_F(SelectorTest, TakesTheFirstThatReaches) {
  add("slow", true);
  add("fast", true);
  rule(Locality::nbrhd, {"fast", "slow"});
  EXPECT_EQ(choose(config_, set_, peer(Locality::nbrhd)).general->name(), "fast");
}

// Would catch: a later rule that wins over an earlier one that matches.
TEST_F(SelectorTest, FirstMatchingRuleHolds) {
  add("a", true);
  add("b", true);
  rule(Locality::remote, {"a"});
  rule(std::nullopt, {"b"});
  EXPECT_EQ(choose(config_, set_, peer(Locality::nbrhd)).general->name(), "b");
  EXPECT_EQ(choose(config_, set_, peer(Locality::remote)).general->name(), "a");
}

// Would catch: a fallback whose reason is lost.
TEST_F(SelectorTest, FallsBackAndRemembersWhy) {
  add("down", false);
  add("up", true);
  rule(std::nullopt, {"down", "up"});
  const Choice choice = choose(config_, set_, peer(Locality::remote));
  EXPECT_EQ(choice.general->name(), "up");
  ASSERT_EQ(choice.refused.size(), 1u);
  EXPECT_EQ(choice.refused[0].reason, "no cable to rank 3");
}

// Would catch: require or on_fallback that does not stop a fallback.
TEST_F(SelectorTest, RefusesAForbiddenFallback) {
  add("down", false);
  add("up", true);
  rule(std::nullopt, {"down", "up"}).require = true;
  EXPECT_THAT(failure(Locality::remote), HasSubstr("no cable to rank 3"));
  config_.peers[0].require = false;
  config_.peers[0].on_fallback = Fallback::fail;
  EXPECT_THAT(failure(Locality::remote), HasSubstr("down was refused"));
}

// Would catch: a dead end without every reason in it.
TEST_F(SelectorTest, DeadEndNamesEveryReason) {
  add("one", false);
  set_.failures.push_back({"two", "its plugin is not installed"});
  rule(std::nullopt, {"one", "two", "three"});
  const std::string text = failure(Locality::remote);
  EXPECT_THAT(text, HasSubstr("rank 3 on host node7"));
  EXPECT_THAT(text, HasSubstr("one: no cable to rank 3"));
  EXPECT_THAT(text, HasSubstr("two: its plugin is not installed"));
  EXPECT_THAT(text, HasSubstr("three: not defined under conduits:"));
  config_.peers.clear();
  EXPECT_THAT(failure(Locality::remote), HasSubstr("no entry of peers: matches"));
}

// Would catch: per-operation directions that are ignored, or that fail instead of falling back.
TEST_F(SelectorTest, DirectsSingleOperations) {
  add("general", true);
  add("special", true);
  add("down", false);
  PeerRule& r = rule(std::nullopt, {"general"});
  r.operations = {{"put", "special"}, {"atomic", "down"}};
  const Choice choice = choose(config_, set_, peer(Locality::remote));
  EXPECT_EQ(choice.put->name(), "special");
  EXPECT_EQ(choice.get->name(), "general");
  EXPECT_EQ(choice.atomic->name(), "general");
  ASSERT_EQ(choice.refused.size(), 1u);
  EXPECT_EQ(choice.refused[0].conduit, "down for atomic");
}

}  // namespace
}  // namespace causeway
