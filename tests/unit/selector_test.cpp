// choose(): the file's order is obeyed, every refusal keeps its reason. The conduits are stand-ins
// whose reach() says what the test wants.
#include "connection/selector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>

#include "base/error.h"

namespace causeway {
namespace {

using testing::HasSubstr;

cwy_status open_nothing(const cwy_options*, const cwyc_domain_params*, cwyc_domain** out,
                        cwy_err*) {
  static char nothing;
  *out = reinterpret_cast<cwyc_domain*>(&nothing);
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
  void add(const std::string& name, bool usable, uint32_t lanes = 1) {
    auto plugin = std::make_shared<ConduitPlugin>();
    plugin->module.domain_open = open_nothing;
    plugin->module.domain_close = close_nothing;
    plugin->module.reach = usable ? reaches : reaches_nobody;
    plugin->ops.resize(1);
    if (atomics_)
      plugin->ops[0].atomic = [](cwyc_conn*, const cwyc_atomic*, cwyc_rkey*, uint32_t,
                                 cwyc_op*) -> cwy_status { return CWY_OK; };
    ConduitSpec spec;
    spec.name = spec.plugin = name;
    spec.lanes = lanes;
    set_.open(spec, ConfiguredConduit{plugin, nullptr, {}}, "");
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
  bool atomics_ = true;  // of conduits that are added
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

// Would catch: two sides of a pair that take different lanes; a lane that serves nobody; atomics on
// one rank's memory that come by two ways; a rail whose members have no lanes.
TEST_F(SelectorTest, PairsOfRanksShareALane) {
  add("before", true);
  add("net", true, 4);
  config_.rails.push_back(RailSpec{"both", {"before", "net"}, false, 0, {}});
  rule(std::nullopt, {"net"}).operations = {{"put", "both"}};
  const char* const names[] = {"net", "net.1", "net.2", "net.3"};
  for (uint32_t pair = 0; pair < 9; ++pair) {
    PeerFacts facts = peer(Locality::remote);
    facts.pair = pair;
    const Choice choice = choose(config_, set_, facts);
    EXPECT_EQ(choice.am->name(), names[pair % 4]);
    EXPECT_EQ(choice.get->name(), names[pair % 4]);
    EXPECT_EQ(choice.atomic->name(), "net");
    EXPECT_EQ(choice.summary(), "put both (before+net); get net; atomic net; am net");
    const Carrier& puts = choice.of(OperationKind::put).front().carrier;
    ASSERT_EQ(puts.conduits.size(), 2u);
    EXPECT_EQ(puts.conduits[0]->name(), "before");
    EXPECT_EQ(puts.conduits[1]->name(), names[pair % 4]);
  }
}

// Would catch: a second connection to each rank, for atomics that the core makes of messages.
TEST_F(SelectorTest, AtomicsThatAreMessagesStayInTheLane) {
  atomics_ = false;
  add("plain", true, 2);
  rule(std::nullopt, {"plain"});
  PeerFacts facts = peer(Locality::remote);
  facts.pair = 3;
  const Choice choice = choose(config_, set_, facts);
  EXPECT_EQ(choice.atomic->name(), "plain.1");
  EXPECT_EQ(choice.summary(), "plain");
}

// Would catch: a conduit with fewer lanes than the peers', which then look for this rank elsewhere.
TEST_F(SelectorTest, LanesAreAllThereOrNone) {
  static unsigned opened, closed;
  opened = closed = 0;
  auto plugin = std::make_shared<ConduitPlugin>();
  plugin->module.domain_open = [](const cwy_options*, const cwyc_domain_params*, cwyc_domain** out,
                                  cwy_err*) -> cwy_status {
    if (opened == 2) return CWY_ERR_NOMEM;
    ++opened;
    *out = reinterpret_cast<cwyc_domain*>(&opened);
    return CWY_OK;
  };
  plugin->module.domain_close = [](cwyc_domain*) { ++closed; };
  add("before", true);
  ConduitSpec spec;
  spec.name = spec.plugin = "net";
  spec.lanes = 4;
  EXPECT_THROW(set_.open(spec, ConfiguredConduit{plugin, nullptr, {}}, ""), Error);
  EXPECT_EQ(set_.conduits.size(), 1u);
  EXPECT_EQ(closed, 2u);
  EXPECT_EQ(set_.lane_of("net", 0), nullptr);
}

// Would catch: a plugin's mistake that ends the process later and names nobody.
TEST_F(SelectorTest, DomainThatIsNotThere) {
  auto plugin = std::make_shared<ConduitPlugin>();
  plugin->module.domain_open = [](const cwy_options*, const cwyc_domain_params*, cwyc_domain**,
                                  cwy_err*) -> cwy_status { return CWY_OK; };
  ConduitSpec spec;
  spec.name = spec.plugin = "net";
  try {
    set_.open(spec, ConfiguredConduit{plugin, nullptr, {}}, "");
    ADD_FAILURE() << "a domain that is NULL was taken";
  } catch (const Error& e) {
    EXPECT_THAT(e.text(), HasSubstr("domain_open answered OK but set no object"));
  }
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

// Would catch: a dead end without every reason in it, or with one that is none.
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
  set_.failures.push_back({"four", "no rule names it", true});
  const std::string none = failure(Locality::remote);
  EXPECT_THAT(
      none, HasSubstr("no entry of peers: matches it; add one; not there, which may be why: two"));
  EXPECT_EQ(none.find("four"), none.npos);
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

// Would catch: borders that are off by one, sizes for another operation, an order that is not the
// file's.
TEST_F(SelectorTest, DirectsSizes) {
  add("near", true);
  add("far", true);
  add("special", true);
  PeerRule& r = rule(std::nullopt, {"near"});
  r.operations = {{"get", "special"}};
  r.sizes = {{.from = 100, .to = 199, .operations = {"put", "get"}, .use = "far", .where = {}},
             {.from = 150, .to = UINT64_MAX, .operations = {"put"}, .use = "special", .where = {}}};
  const Choice choice = choose(config_, set_, peer(Locality::remote));
  const auto spans = [&](OperationKind kind) {
    std::string out;
    for (const SizeSpan& span : choice.of(kind)) {
      out += span.carrier.name() + " to " + std::to_string(span.to) + " by " + span.by + "; ";
    }
    return out;
  };
  const std::string end = std::to_string(UINT64_MAX);
  EXPECT_EQ(spans(OperationKind::put),
            "near to 99 by use; far to 199 by sizes[0]; special to " + end + " by sizes[1]; ");
  EXPECT_EQ(spans(OperationKind::get),
            "special to 99 by operations.get; far to 199 by sizes[0]; "
            "special to " +
                end + " by operations.get; ");
  EXPECT_EQ(spans(OperationKind::am), "near to " + end + " by use; ");
  EXPECT_EQ(spans(OperationKind::atomic), "near to " + end + " by use; ");
  EXPECT_EQ(choice.only(OperationKind::am)->name(), "near");
  EXPECT_EQ(choice.only(OperationKind::put), nullptr);
}

// Would catch: a size whose conduit is down that nobody serves, or a reason that is told per span.
TEST_F(SelectorTest, SizesFallBack) {
  add("up", true);
  add("down", false);
  PeerRule& r = rule(std::nullopt, {"up"});
  r.sizes = {{.from = 10, .to = 20, .operations = {}, .use = "down", .where = {}}};
  const Choice choice = choose(config_, set_, peer(Locality::remote));
  EXPECT_EQ(choice.only(OperationKind::put)->name(), "up");
  ASSERT_EQ(choice.refused.size(), 1u);
  EXPECT_EQ(choice.refused[0].conduit, "down for sizes[0]");
  r.on_fallback = Fallback::warn;
  EXPECT_THAT(choose(config_, set_, peer(Locality::remote)).warning,
              HasSubstr("down for sizes[0]"));
  r.on_fallback = Fallback::fail;
  EXPECT_THAT(failure(Locality::remote), HasSubstr("no cable"));
}

// Would catch: a rail that takes members which do not reach, or atomics on two ways.
TEST_F(SelectorTest, RailsTakeWhoeverReaches) {
  add("a", true);
  add("b", true);
  add("down", false);
  RailSpec rail;
  rail.name = "both";
  rail.use = {"a", "down", "b"};
  config_.rails.push_back(rail);
  rule(std::nullopt, {"both"});
  Choice choice = choose(config_, set_, peer(Locality::remote));
  ASSERT_EQ(choice.of(OperationKind::put).size(), 1u);
  EXPECT_EQ(choice.of(OperationKind::put)[0].carrier.name(), "both (a+b)");
  EXPECT_EQ(choice.only(OperationKind::atomic)->name(), "a");
  ASSERT_EQ(choice.refused.size(), 1u);
  EXPECT_EQ(choice.refused[0].conduit, "down of rail both");
  EXPECT_EQ(choice.summary(), "both (a+b)");
  // One that is left alone is no rail.
  config_.rails[0].use = {"down", "b"};
  choice = choose(config_, set_, peer(Locality::remote));
  EXPECT_EQ(choice.only(OperationKind::put)->name(), "b");
  // Nobody left: the next entry of use.
  config_.rails[0].use = {"down"};
  config_.peers[0].use = {"both", "a"};
  EXPECT_EQ(choose(config_, set_, peer(Locality::remote)).general->name(), "a");
}

// Would catch: a conduit that is tried although the peer has not opened it.
TEST_F(SelectorTest, PeersMustHaveIt) {
  add("fast", true);
  add("slow", true);
  rule(std::nullopt, {"fast", "slow"});
  PeerFacts facts = peer(Locality::remote);
  Addresses addresses;
  addresses.add("slow", "x");
  facts.addresses = std::make_shared<const Addresses>(addresses);
  const Choice choice = choose(config_, set_, facts);
  EXPECT_EQ(choice.general->name(), "slow");
  EXPECT_EQ(choice.refused.at(0).reason, "rank 3 has not opened it");
}

// Would catch: messages that are promised but that the conduit of their size does not take.
TEST_F(SelectorTest, LargestMessageFitsEverySpan) {
  add("small", true);
  add("large", true);
  PeerRule& r = rule(std::nullopt, {"small"});
  const auto largest = [&] {
    const Choice choice = choose(config_, set_, peer(Locality::remote));
    return largest_message(choice.of(OperationKind::am), [](const Conduit& conduit) -> uint64_t {
      return conduit.name() == "small" ? 1000 : 5000;
    });
  };
  EXPECT_EQ(largest(), 1000u);
  r.sizes = {{.from = 1001, .to = UINT64_MAX, .operations = {}, .use = "large", .where = {}}};
  EXPECT_EQ(largest(), 5000u);
  r.sizes[0].from = 1002;  // 1001 bytes go to nobody
  EXPECT_EQ(largest(), 1000u);
  r.sizes[0] = {.from = 500, .to = 2000, .operations = {"am"}, .use = "large", .where = {}};
  EXPECT_EQ(largest(), 2000u);
  r.sizes[0].use = "small";
  r.use = {"large"};
  EXPECT_EQ(largest(), 1000u);
  // Of a rail every conduit takes them, whichever is named first.
  r.sizes.clear();
  for (const std::vector<std::string>& use :
       {std::vector<std::string>{"large", "small"}, {"small", "large"}}) {
    RailSpec rail;
    rail.name = "both";
    rail.use = use;
    config_.rails = {rail};
    config_.peers[0].use = {"both"};
    EXPECT_EQ(largest(), 1000u);
  }
}

}  // namespace
}  // namespace causeway
