// Mapping of memory, and how ranks are divided by it. The conduits are stand-ins that say what
// the test wants.
#include "connection/mapping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <utility>

namespace causeway {
namespace {

using testing::ElementsAre;

constexpr uint64_t kAlloc = CWYC_CAP_MEM_ALLOC, kMaps = CWYC_CAP_MEM_ALLOC | CWYC_CAP_DIRECT;

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
cwy_status reaches_itself(cwyc_domain*, const cwyc_peer_desc* peer, cwy_err*) {
  return peer->same_process != 0 ? CWY_OK : CWY_ERR_UNREACHABLE;
}
cwy_status open_ep(cwyc_domain*, const cwyc_ep_params*, cwyc_ep** out, cwy_err*) {
  static char nothing;
  *out = reinterpret_cast<cwyc_ep*>(&nothing);
  return CWY_OK;
}
void close_ep(cwyc_ep*) {}
cwy_status query_mapping_ep(cwyc_ep*, cwyc_ep_attr* attr) {
  attr->caps = kMaps;
  attr->am_medium_max = 512;
  attr->ops_tables = 1;
  return CWY_OK;
}

class MappingTest : public testing::Test {
 protected:
  Conduit& add_conduit(const std::string& name, bool outward, bool lacks_direct) {
    auto plugin = std::make_shared<ConduitPlugin>();
    plugin->module.domain_open = open_nothing;
    plugin->module.domain_close = close_nothing;
    plugin->module.reach = outward ? reaches : reaches_itself;
    plugin->module.ep_open = open_ep;
    plugin->module.ep_close = close_ep;
    plugin->module.ep_query = query_mapping_ep;
    plugin->lacks_direct = lacks_direct;
    plugin->ops.emplace_back();
    ConduitSpec spec;
    spec.name = spec.plugin = name;
    set_.conduits.push_back(std::make_unique<Conduit>(
        static_cast<uint32_t>(set_.conduits.size()), spec, ConfiguredConduit{plugin, nullptr, {}}));
    PeerRule rule;
    rule.use = {name};
    config_.peers.push_back(rule);
    return *set_.conduits.back();
  }
  // `native`: whether the configuration lets it map.
  void add(const std::string& name, uint64_t caps, bool outward, bool native = true) {
    auto cep = std::make_unique<ConduitEp>();
    cep->conduit = &add_conduit(name, outward, false);
    cep->attr.caps = caps;
    cep->caps = native ? caps : caps & ~uint64_t{CWYC_CAP_DIRECT};
    eps_.push_back(std::move(cep));
  }
  std::string words() {
    find_mapping_conduits(eps_);
    return mapping_words(config_, eps_);
  }
  std::string allocator() {
    find_mapping_conduits(eps_);
    const Conduit* const conduit = segment_allocator(config_, eps_);
    return conduit != nullptr ? conduit->name() : "none";
  }
  // Does a rank that says `own` and is served by `use` map one that says `theirs`?
  bool maps(const std::string& use, const std::string& own, const std::string& theirs) {
    PeerRule rule;
    rule.use = {use};
    config_.peers.insert(config_.peers.begin(), rule);
    PeerFacts peer;
    peer.desc.peer = {1, 1};
    const bool out = maps_segments(config_, set_, peer, own, theirs);
    config_.peers.erase(config_.peers.begin());
    return out;
  }

  Config config_;
  ConduitSet set_;
  ConduitEps eps_;
};

// Would catch: segments that come from a conduit which may not map them, although another may.
TEST_F(MappingTest, SegmentsComeFromWhatMapsThem) {
  EXPECT_EQ(allocator(), "none");
  add("self", kMaps, false);
  EXPECT_EQ(allocator(), "self");
  add("network", kAlloc, true);
  EXPECT_EQ(allocator(), "network");
  add("forbidden", kMaps, true, false);
  EXPECT_EQ(allocator(), "forbidden");
  EXPECT_EQ(words(), "");
  add("shm", kMaps, true);
  EXPECT_EQ(allocator(), "shm");
  add("other", kMaps, true);
  add("late", CWYC_CAP_DIRECT, true);
  EXPECT_EQ(words(), "shm other late");
}

// Would catch: a conduit that says it maps, and has no way to tell where.
TEST_F(MappingTest, NothingIsMappedWithoutRkeyDirect) {
  for (const bool lacks : {false, true}) {
    Conduit& conduit = add_conduit(lacks ? "lacks" : "has", true, lacks);
    const auto cep = open_conduit_ep(conduit, nullptr, 0, false, 2, nullptr);
    EXPECT_EQ((cep->caps & CWYC_CAP_DIRECT) != 0, !lacks);
    EXPECT_EQ((cep->attr.caps & CWYC_CAP_DIRECT) != 0, !lacks);
  }
}

// Would catch: memory that is taken for mapped because something serves the peer that maps other
// memory, or because somebody else is served by what would map it.
TEST_F(MappingTest, OnlyWhatServesThePeerAndMadeTheMemory) {
  add("shm", kMaps, true);
  add("other", kMaps, true);
  add("network", kAlloc, true);
  EXPECT_TRUE(maps("shm", "shm other", "shm other"));
  EXPECT_FALSE(maps("other", "shm other", "shm other"));
  EXPECT_FALSE(maps("network", "shm other", "shm other"));
  EXPECT_TRUE(maps("other", "shm other", "other"));
  EXPECT_FALSE(maps("shm", "other", "shm"));
  EXPECT_FALSE(maps("shm", "", "shm"));
  EXPECT_FALSE(maps("shm", "shm", ""));
  EXPECT_FALSE(maps("nothere", "shm", "shm"));
}

// Would catch: neighborhoods with two ranks that do not map each other, of two groups, or that a
// rank is left out of without need.
TEST(Divide, ByMutualMapping) {
  const auto always = [](uint32_t, uint32_t) { return true; };
  EXPECT_THAT(divide_by_mapping({7, 8, 7, 8, 9}, always), ElementsAre(0, 1, 0, 1, 4));
  EXPECT_THAT(divide_by_mapping({7, 7}, [](uint32_t a, uint32_t) { return a == 0; }),
              ElementsAre(0, 1));
  // A chain: 1 maps all and is mapped by all, the others map nobody else but 3 and 4 each other.
  const std::set<std::pair<uint32_t, uint32_t>> pairs{{0, 1}, {1, 2}, {1, 3}, {1, 4}, {3, 4}};
  const auto chain = [&](uint32_t a, uint32_t b) {
    return a == b || pairs.contains({a, b}) || pairs.contains({b, a});
  };
  EXPECT_THAT(divide_by_mapping({1, 1, 1, 1, 1}, chain), ElementsAre(0, 0, 2, 3, 3));
  EXPECT_TRUE(divide_by_mapping({}, always).empty());
}

}  // namespace
}  // namespace causeway
