// Events: what the synchronisation calls do with roots, leaves and regions. Operations are
// completed by hand, as a conduit would, so that every order can be tried.
#define GASNET_PAR 1
#include <fmt/format.h>
#include <gasnetex.h>
#include <gtest/gtest.h>

#include <vector>

#include "process/runtime.h"
#include "thread/event.h"
#include "thread/thread_state.h"

namespace causeway {
namespace {

// There is no job here, and none is missed.
[[maybe_unused]] const bool g_unchecked = (g_checks = false, true);

Op* pending_put() {
  Op* op = thread_state().ops.take();
  op->arm_explicit(CWYC_DONE_LOCAL | CWYC_DONE_REMOTE);
  return op;
}
gex_Event_t root_of(Op* op) {
  return reinterpret_cast<gex_Event_t>(op);
}
void report(Op* op, uint32_t bits) {
  op->conduit.fn(&op->conduit, bits, CWY_OK, nullptr);
}

// Would catch: a root that is done before both of its bits are, in either order.
TEST(Event, RootNeedsEveryBit) {
  for (const uint32_t first : {CWYC_DONE_LOCAL, CWYC_DONE_REMOTE}) {
    Op* op = pending_put();
    EXPECT_NE(gex_Event_Test(root_of(op)), GASNET_OK);
    report(op, first);
    EXPECT_NE(gex_Event_Test(root_of(op)), GASNET_OK);
    report(op, (CWYC_DONE_LOCAL | CWYC_DONE_REMOTE) & ~first);
    EXPECT_EQ(gex_Event_Test(root_of(op)), GASNET_OK);
  }
}

// Would catch: a leaf that consumes its root, or two queries that give two leaves.
TEST(Event, LeafIsAQuery) {
  Op* op = pending_put();
  const gex_Event_t leaf = gex_Event_QueryLeaf(root_of(op), GEX_EC_LC);
  EXPECT_EQ(leaf, gex_Event_QueryLeaf(root_of(op), GEX_EC_LC));
  EXPECT_NE(gex_Event_Test(leaf), GASNET_OK);
  report(op, CWYC_DONE_LOCAL);
  EXPECT_EQ(gex_Event_Test(leaf), GASNET_OK);
  EXPECT_NE(gex_Event_Test(root_of(op)), GASNET_OK);
  report(op, CWYC_DONE_REMOTE);
  EXPECT_EQ(gex_Event_Test(root_of(op)), GASNET_OK);
}

// Would catch: a leaf left dangling when its root is synchronised by the same call, wherever the
// two stand in the array (the specification allows any order).
TEST(Event, RootTakesItsLeavesAlong) {
  for (const bool leaf_first : {true, false}) {
    Op* op = pending_put();
    const gex_Event_t leaf = gex_Event_QueryLeaf(root_of(op), GEX_EC_LC);
    Op* other = pending_put();
    gex_Event_t events[] = {leaf_first ? leaf : root_of(op), root_of(other),
                            leaf_first ? root_of(op) : leaf, GEX_EVENT_INVALID};
    EXPECT_NE(gex_Event_TestAll(events, 4, 0), GASNET_OK);
    report(op, CWYC_DONE_LOCAL | CWYC_DONE_REMOTE);
    EXPECT_NE(gex_Event_TestAll(events, 4, 0), GASNET_OK);
    EXPECT_EQ(events[0], GEX_EVENT_INVALID);
    EXPECT_EQ(events[2], GEX_EVENT_INVALID);
    EXPECT_EQ(events[1], root_of(other));
    report(other, CWYC_DONE_LOCAL | CWYC_DONE_REMOTE);
    EXPECT_EQ(gex_Event_TestAll(events, 4, 0), GASNET_OK);
  }
}

// Would catch: "some" that is not true for empty arrays, or that stays false after a success.
TEST(Event, SomeOfNothingIsTrue) {
  EXPECT_EQ(gex_Event_TestSome(nullptr, 0, 0), GASNET_OK);
  gex_Event_t none[] = {GEX_EVENT_INVALID, GEX_EVENT_INVALID};
  EXPECT_EQ(gex_Event_TestSome(none, 2, 0), GASNET_OK);
  Op* a = pending_put();
  Op* b = pending_put();
  gex_Event_t two[] = {root_of(a), root_of(b)};
  EXPECT_NE(gex_Event_TestSome(two, 2, 0), GASNET_OK);
  report(b, CWYC_DONE_LOCAL | CWYC_DONE_REMOTE);
  EXPECT_EQ(gex_Event_TestSome(two, 2, 0), GASNET_OK);
  EXPECT_EQ(two[1], GEX_EVENT_INVALID);
  report(a, CWYC_DONE_LOCAL | CWYC_DONE_REMOTE);
  EXPECT_EQ(gex_Event_TestSome(two, 2, 0), GASNET_OK);
}

// Would catch: a region whose event is done early, or whose categories are mixed up.
TEST(Event, RegionCountsByCategory) {
  ThreadState& thread = thread_state();
  gex_NBI_BeginAccessRegion(0);
  Op* put = thread.ops.take();
  put->arm_implicit(thread.nbi, kCategoryPut, true, kCategoryLc,
                    CWYC_DONE_LOCAL | CWYC_DONE_REMOTE);
  ++thread.nbi->initiated[kCategoryPut];
  ++thread.nbi->initiated[kCategoryLc];
  Op* get = thread.ops.take();
  get->arm_implicit(thread.nbi, kCategoryGet, false, 0, CWYC_DONE_REMOTE);
  ++thread.nbi->initiated[kCategoryGet];
  const gex_Event_t region = gex_NBI_EndAccessRegion(0);
  ASSERT_NE(region, GEX_EVENT_INVALID);
  EXPECT_EQ(gex_NBI_Test(GEX_EC_ALL, 0), GASNET_OK) << "operations in a region leaked out of it";
  const gex_Event_t lc = gex_Event_QueryLeaf(region, GEX_EC_LC);
  EXPECT_NE(gex_Event_Test(lc), GASNET_OK);
  put->conduit.fn(&put->conduit, CWYC_DONE_LOCAL, CWY_OK, nullptr);
  EXPECT_EQ(gex_Event_Test(lc), GASNET_OK);
  EXPECT_NE(gex_Event_Test(gex_Event_QueryLeaf(region, GEX_EC_PUT)), GASNET_OK);
  put->conduit.fn(&put->conduit, CWYC_DONE_REMOTE, CWY_OK, nullptr);
  EXPECT_EQ(gex_Event_Test(gex_Event_QueryLeaf(region, GEX_EC_PUT)), GASNET_OK);
  EXPECT_NE(gex_Event_Test(region), GASNET_OK);
  get->conduit.fn(&get->conduit, CWYC_DONE_LOCAL | CWYC_DONE_REMOTE, CWY_OK, nullptr);
  EXPECT_EQ(gex_Event_Test(region), GASNET_OK);
}

// Would catch: a limit on outstanding operations, or Ops that are handed out twice.
TEST(Event, ManyOutstanding) {
  constexpr size_t kMany = 100000;
  std::vector<gex_Event_t> events;
  for (size_t i = 0; i < kMany; ++i) events.push_back(root_of(pending_put()));
  for (size_t i = 0; i < kMany; i += 2) {
    report(reinterpret_cast<Op*>(events[i]), CWYC_DONE_LOCAL | CWYC_DONE_REMOTE);
  }
  EXPECT_EQ(gex_Event_TestSome(events.data(), kMany, 0), GASNET_OK);
  for (size_t i = 0; i < kMany; ++i) {
    ASSERT_EQ(events[i] == GEX_EVENT_INVALID, i % 2 == 0) << i;
    if (i % 2 == 1) {
      report(reinterpret_cast<Op*>(events[i]), CWYC_DONE_LOCAL | CWYC_DONE_REMOTE);
    }
  }
  EXPECT_EQ(gex_Event_TestAll(events.data(), kMany, 0), GASNET_OK);
}

// Would catch: what a network says of a failed operation that is lost on the way to the message,
// for an event's operation and for one of a region.
TEST(EventDeathTest, AFailureSaysWhatTheNetworkSaid) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const cwy_detail detail{CWY_HEAD(cwy_detail), 12, 0, "transport retry counter exceeded"};
  constexpr const char* kLine =
      "operation failed with .*: transport retry counter exceeded \\(code 12 of the network\\)";
  const auto fail = [&](Op* op) {
    op->conduit.fn(&op->conduit, CWYC_DONE_LOCAL | CWYC_DONE_REMOTE, CWY_ERR_DEVICE_FAILED,
                   &detail);
  };
  EXPECT_EXIT(fail(pending_put()), testing::ExitedWithCode(1), kLine);
  EXPECT_EXIT(
      {
        gex_NBI_BeginAccessRegion(0);
        Op* op = thread_state().ops.take();
        op->arm_implicit(thread_state().nbi, kCategoryGet, false, 0, CWYC_DONE_REMOTE);
        fail(op);
      },
      testing::ExitedWithCode(1), kLine);
}

// Would catch: a status that has no name, of which the line does not tell the number.
TEST(EventDeathTest, AnUnknownStatusIsAnErrorWithItsNumber) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  for (const cwy_status status : {7, -20}) {
    Op* const op = pending_put();
    EXPECT_EXIT(op->conduit.fn(&op->conduit, CWYC_DONE_REMOTE, status, nullptr),
                testing::ExitedWithCode(1),
                fmt::format("failed with the unknown status {}", status));
  }
}

}  // namespace
}  // namespace causeway
