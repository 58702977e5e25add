// Test and wait on single events and arrays, and leaves.
#include <cstring>
#include <vector>

#include "../harness.h"

using spec::job;

namespace {
constexpr size_t kBytes = 3000;
std::byte* place(unsigned i = 0) {
  return spec::segment_of(job().peer(),
                          (size_t{1} << 20) + (size_t{job().rank} * 64 + i) * (kBytes + 72));
}
std::vector<char> patterned(uint64_t seed) {
  std::vector<char> data(kBytes);
  spec::fill(data.data(), kBytes, seed);
  return data;
}
gex_Event_t start_put(const std::vector<char>& data, unsigned i, gex_Event_t* leaf) {
  return gex_RMA_PutNB(job().tm, job().peer(), place(i), data.data(), data.size(), leaf, 0);
}
}  // namespace

// The invalid event is a finished one everywhere.
SPEC_CASE(events, invalid) {
  CHECK_EQ(gex_Event_Test(GEX_EVENT_INVALID), 0);
  gex_Event_Wait(GEX_EVENT_INVALID);
  gex_Event_t none[3] = {GEX_EVENT_INVALID, GEX_EVENT_INVALID, GEX_EVENT_INVALID};
  CHECK_EQ(gex_Event_TestSome(none, 3, 0), 0);
  CHECK_EQ(gex_Event_TestAll(none, 3, 0), 0);
  gex_Event_WaitSome(none, 3, 0);
  gex_Event_WaitAll(none, 3, 0);
  for (const gex_Event_t event : none) CHECK(event == GEX_EVENT_INVALID);
}

SPEC_CASE(events, empty_arrays) {
  CHECK_EQ(gex_Event_TestSome(nullptr, 0, 0), 0);
  CHECK_EQ(gex_Event_TestAll(nullptr, 0, 0), 0);
  gex_Event_WaitSome(nullptr, 0, 0);
  gex_Event_WaitAll(nullptr, 0, 0);
}

// Test makes no progress of its own, but with polling it gets there.
SPEC_CASE(events, single_test) {
  const auto data = patterned(1);
  std::vector<char> got(kBytes);
  gex_Event_t event = start_put(data, 0, GEX_EVENT_DEFER);
  while (gex_Event_Test(event) != 0) gasnet_AMPoll();
  event = gex_RMA_GetNB(job().tm, got.data(), job().peer(), place(), kBytes, 0);
  while (gex_Event_Test(event) != 0) gasnet_AMPoll();
  CHECK(got == data);
  spec::barrier();
}

// "Some" overwrites what is done and leaves the rest; invalid entries do not count as progress.
SPEC_CASE(events, some) {
  constexpr unsigned kCount = 40;
  std::vector<std::vector<char>> sources;
  std::vector<gex_Event_t> events;
  for (unsigned i = 0; i < kCount; ++i) {
    sources.push_back(patterned(i));
    events.push_back(start_put(sources.back(), i, GEX_EVENT_DEFER));
    events.push_back(GEX_EVENT_INVALID);
  }
  const auto pending = [&] {
    unsigned n = 0;
    for (const gex_Event_t event : events) n += event != GEX_EVENT_INVALID;
    return n;
  };
  for (unsigned before = pending(); before > 0; before = pending()) {
    gex_Event_WaitSome(events.data(), events.size(), 0);
    if (!CHECK(pending() < before)) break;
  }
  CHECK_EQ(gex_Event_TestSome(events.data(), events.size(), 0), 0);
  events.clear();
  std::vector<std::vector<char>> got(kCount, std::vector<char>(kBytes));
  for (unsigned i = 0; i < kCount; ++i)
    events.push_back(gex_RMA_GetNB(job().tm, got[i].data(), job().peer(), place(i), kBytes, 0));
  while (pending() > 0) {
    const unsigned before = pending();
    const bool success = gex_Event_TestSome(events.data(), events.size(), 0) == 0;
    // Success and something having been completed are the same thing.
    if (!CHECK_EQ(success, pending() < before)) break;
    if (!success) gasnet_AMPoll();
  }
  CHECK(got == sources);
  spec::barrier();
}

SPEC_CASE(events, all_by_test) {
  constexpr unsigned kCount = 40;
  const auto data = patterned(5);
  std::vector<gex_Event_t> events;
  for (unsigned i = 0; i < kCount; ++i) {
    events.push_back(i % 3 ? start_put(data, i, GEX_EVENT_DEFER) : GEX_EVENT_INVALID);
  }
  while (gex_Event_TestAll(events.data(), events.size(), 0) != 0) {
    bool any = false;
    for (const gex_Event_t event : events) any = any || event != GEX_EVENT_INVALID;
    if (!CHECK(any)) break;  // "not done" with nothing left would be a hang for a waiter
    gasnet_AMPoll();
  }
  for (const gex_Event_t event : events) CHECK(event == GEX_EVENT_INVALID);
  std::vector<char> got(kBytes);
  for (unsigned i = 1; i < kCount; i += i % 3 ? 1 : 2) {
    if (i % 3 == 0) continue;
    gex_RMA_GetBlocking(job().tm, got.data(), job().peer(), place(i), kBytes, 0);
    CHECK(got == data);
  }
  spec::barrier();
}

// Roots and their leaves may stand in one array in any order, for each array call.
SPEC_CASE(events, roots_and_leaves_mixed) {
  const auto data = patterned(6);
  for (int order = 0; order < 4; ++order)
    for (int call = 0; call < 4; ++call) {
      std::vector<gex_Event_t> events;
      for (unsigned i = 0; i < 16; ++i) {
        gex_Event_t leaf;
        const gex_Event_t root = start_put(data, i, &leaf);
        const bool leaf_first = order == 0 || (order == 2 && i % 2 == 0);
        if (order == 3) {
          events.insert(events.begin(), root);
          events.push_back(leaf);
        } else {
          events.push_back(leaf_first ? leaf : root);
          events.push_back(leaf_first ? root : leaf);
        }
      }
      const auto left = [&] {
        unsigned n = 0;
        for (const gex_Event_t event : events) n += event != GEX_EVENT_INVALID;
        return n;
      };
      switch (call) {
        case 0:
          gex_Event_WaitAll(events.data(), events.size(), 0);
          break;
        case 1:
          while (gex_Event_TestAll(events.data(), events.size(), 0) != 0) gasnet_AMPoll();
          break;
        case 2:
          while (left() > 0) gex_Event_WaitSome(events.data(), events.size(), 0);
          break;
        case 3:
          while (left() > 0)
            if (gex_Event_TestSome(events.data(), events.size(), 0) != 0) gasnet_AMPoll();
          break;
      }
      CHECK_EQ(left(), 0u);
    }
  spec::barrier();
}

// A query, not a new object: the same event each time, the one the put itself gave out.
SPEC_CASE(events, query_leaf) {
  const auto data = patterned(7);
  for (unsigned i = 0; i < 200; ++i) {
    gex_Event_t leaf = GEX_EVENT_NO_OP;
    const gex_Event_t root = start_put(data, i % 64, &leaf);
    const gex_Event_t asked = gex_Event_QueryLeaf(root, GEX_EC_LC);
    const gex_Event_t again = gex_Event_QueryLeaf(root, GEX_EC_LC);
    CHECK(asked != GEX_EVENT_NO_OP);
    if (asked != GEX_EVENT_INVALID && again != GEX_EVENT_INVALID) CHECK(asked == again);
    if (asked != GEX_EVENT_INVALID && leaf != GEX_EVENT_INVALID) CHECK(asked == leaf);
    gex_Event_Wait(i % 2 ? asked : leaf);
    gex_Event_Wait(root);
  }
  spec::barrier();
}

SPEC_CASE(events, query_leaf_of_nothing) {
  for (gex_EC_t category : {GEX_EC_LC, GEX_EC_GET, GEX_EC_PUT, GEX_EC_AM}) {
    const gex_Event_t leaf = gex_Event_QueryLeaf(GEX_EVENT_INVALID, category);
    CHECK_EQ(gex_Event_Test(leaf), 0);
  }
}

// A leaf waited for early does not end the root.
SPEC_CASE(events, leaf_then_root) {
  auto data = patterned(8);
  const auto expected = data;
  gex_Event_t leaf;
  const gex_Event_t root = start_put(data, 0, &leaf);
  gex_Event_Wait(leaf);
  std::memset(data.data(), 0, kBytes);
  gex_Event_Wait(root);
  std::vector<char> got(kBytes);
  gex_RMA_GetBlocking(job().tm, got.data(), job().peer(), place(), kBytes, 0);
  CHECK(got == expected);
  spec::barrier();
}

// Each category of an access region's leaves, in every order; the root ends them all.
SPEC_CASE(events, region_leaves) {
  const auto data = patterned(9);
  std::vector<char> got(kBytes);
  constexpr gex_EC_t kAll[] = {GEX_EC_GET, GEX_EC_PUT, GEX_EC_AM, GEX_EC_LC, GEX_EC_RMW};
  for (unsigned round = 0; round < 10; ++round) {
    gex_RMA_PutBlocking(job().tm, job().peer(), place(40), data.data(), kBytes, 0);
    gex_NBI_BeginAccessRegion(0);
    gex_RMA_PutNBI(job().tm, job().peer(), place(41), data.data(), kBytes, GEX_EVENT_GROUP, 0);
    gex_RMA_GetNBI(job().tm, got.data(), job().peer(), place(40), kBytes, 0);
    const gex_Event_t root = gex_NBI_EndAccessRegion(0);
    std::vector<gex_Event_t> events;
    for (unsigned i = 0; i < 5; ++i)
      events.push_back(gex_Event_QueryLeaf(root, kAll[(i + round) % 5]));
    if (round % 2) {
      for (const gex_Event_t leaf : events) gex_Event_Wait(leaf);
      gex_Event_Wait(root);
    } else {
      events.insert(events.begin() + round % 5, root);
      gex_Event_WaitAll(events.data(), events.size(), 0);
    }
    CHECK(got == data);
    std::fill(got.begin(), got.end(), 0);
  }
  spec::barrier();
}

// The leaf of an operation's own category is the operation.
SPEC_CASE(events, leaf_of_its_own_category) {
  const auto data = patterned(10);
  std::vector<char> got(kBytes);
  gex_Event_t root = start_put(data, 0, GEX_EVENT_DEFER);
  gex_Event_Wait(gex_Event_QueryLeaf(root, GEX_EC_PUT));
  CHECK_EQ(gex_Event_Test(root), 0);
  root = gex_RMA_GetNB(job().tm, got.data(), job().peer(), place(), kBytes, 0);
  gex_Event_Wait(gex_Event_QueryLeaf(root, GEX_EC_GET));
  CHECK(got == data);
  CHECK_EQ(gex_Event_Test(root), 0);
  spec::barrier();
}
