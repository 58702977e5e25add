// Which process of a rank a network believes (admit_epoch of plugins/conduit/fabric/links.h).
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "../../plugins/conduit/fabric/links.h"

namespace causeway::fabric {
namespace {

struct Ep;
struct Net {
  static void look_at_links(Ep*) {}
};
struct Link {
  using Network = Net;
  cwy_peer peer{};
  Ep* ep = nullptr;
  bool purged = false, on_todo = false;
};
// Counts how often all links are gone through.
struct Links : std::vector<std::unique_ptr<Link>> {
  int walks = 0;
  iterator begin() {
    ++walks;
    return vector::begin();
  }
};
struct Ep {
  std::vector<uint32_t> newest_epoch;
  std::vector<Link*> todo;
  Links links;

  // Does what a connect or a hello does.
  bool meet(uint32_t rank, uint32_t epoch) {
    if (!admit_epoch(this, {rank, epoch})) return false;
    links.push_back(std::make_unique<Link>());
    links.back()->peer = {rank, epoch};
    links.back()->ep = this;
    return true;
  }
};

// Catches: first contacts each of which goes through all links, so that a job's worth of them costs
// the square of its ranks.
TEST(Epochs, FirstContactsDoNotLookAtOtherLinks) {
  Ep ep;
  for (uint32_t rank = 0; rank < 1000; ++rank) ASSERT_TRUE(ep.meet(rank, 1));
  EXPECT_EQ(ep.links.walks, 0);
  ASSERT_TRUE(ep.meet(7, 1));  // a second connection
  EXPECT_EQ(ep.links.walks, 0);
}

// Catches: links to a process that has been replaced which go on, and an earlier process that is
// believed after a later one.
TEST(Epochs, ALaterProcessEndsTheLinksOfAnEarlierOne) {
  Ep ep;
  ASSERT_TRUE(ep.meet(3, 1));
  ASSERT_TRUE(ep.meet(4, 1));
  ASSERT_TRUE(ep.meet(3, 2));
  EXPECT_TRUE(ep.links[0]->purged && ep.links[0]->on_todo);
  EXPECT_FALSE(ep.links[1]->purged);
  EXPECT_FALSE(ep.links[2]->purged);
  EXPECT_FALSE(ep.meet(3, 1));
}

// Catches: a rank beyond all jobs that makes a table of its size.
TEST(Epochs, ARankBeyondAllJobsIsRefused) {
  Ep ep;
  EXPECT_FALSE(ep.meet(UINT32_MAX, 1));
  EXPECT_TRUE(ep.newest_epoch.empty());
}

}  // namespace
}  // namespace causeway::fabric
