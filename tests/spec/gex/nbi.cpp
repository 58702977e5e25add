// Implicit operations: categories and access regions.
#include <cstring>
#include <vector>

#include "../harness.h"

using spec::job;

namespace {
constexpr size_t kBytes = 2000;
std::byte* place(unsigned i = 0) {
  return spec::segment_of(job().peer(),
                          (size_t{1} << 20) + (size_t{job().rank} * 64 + i) * (kBytes + 48));
}
constexpr gex_EC_t kCategories[] = {
    GEX_EC_GET, GEX_EC_PUT, GEX_EC_AM, GEX_EC_LC, GEX_EC_RMW, GEX_EC_ALL, GEX_EC_GET | GEX_EC_PUT};
void start_put(const std::vector<char>& data, unsigned i) {
  gex_RMA_PutNBI(job().tm, job().peer(), place(i), data.data(), data.size(), GEX_EVENT_DEFER, 0);
}
std::vector<char> patterned(uint64_t seed) {
  std::vector<char> data(kBytes);
  spec::fill(data.data(), kBytes, seed);
  return data;
}
void expect_at(unsigned i, const std::vector<char>& data) {
  std::vector<char> got(kBytes);
  gex_RMA_GetBlocking(job().tm, got.data(), job().peer(), place(i), kBytes, 0);
  CHECK(got == data);
}
}  // namespace

SPEC_CASE(nbi, nothing_outstanding) {
  for (gex_EC_t category : kCategories) {
    CHECK_EQ(gex_NBI_Test(category, 0), 0);
    gex_NBI_Wait(category, 0);
  }
}

// Waiting for one category makes that category's results good, whatever else is outstanding.
SPEC_CASE(nbi, categories) {
  const auto old_data = patterned(1), new_data = patterned(2);
  std::vector<char> got(kBytes);
  for (int order = 0; order < 2; ++order) {
    gex_RMA_PutBlocking(job().tm, job().peer(), place(0), old_data.data(), kBytes, 0);
    start_put(new_data, 1);
    gex_RMA_GetNBI(job().tm, got.data(), job().peer(), place(0), kBytes, 0);
    if (order == 0) {
      gex_NBI_Wait(GEX_EC_GET, 0);
      CHECK(got == old_data);
      gex_NBI_Wait(GEX_EC_PUT, 0);
      expect_at(1, new_data);
    } else {
      gex_NBI_Wait(GEX_EC_PUT, 0);
      expect_at(1, new_data);
      gex_NBI_Wait(GEX_EC_GET, 0);
      CHECK(got == old_data);
    }
    std::memset(got.data(), 0, kBytes);
  }
  CHECK_EQ(gex_NBI_Test(GEX_EC_ALL, 0), 0);
  spec::barrier();
}

SPEC_CASE(nbi, by_test) {
  const auto data = patterned(3);
  std::vector<char> got(kBytes);
  for (unsigned i = 0; i < 20; ++i) start_put(data, i);
  while (gex_NBI_Test(GEX_EC_PUT, 0) != 0) gasnet_AMPoll();
  for (unsigned i = 0; i < 20; ++i) {
    gex_RMA_GetNBI(job().tm, got.data(), job().peer(), place(i), kBytes, 0);
    while (gex_NBI_Test(GEX_EC_GET, 0) != 0) gasnet_AMPoll();
    CHECK(got == data);
  }
  spec::barrier();
}

// A value put is a put of that category.
SPEC_CASE(nbi, value_puts) {
  for (unsigned i = 0; i < 50; ++i)
    gex_RMA_PutNBIVal(job().tm, job().peer(), place(i), 1000 + i, 4, 0);
  gex_NBI_Wait(GEX_EC_PUT, 0);
  for (unsigned i = 0; i < 50; ++i)
    CHECK_EQ(gex_RMA_GetBlockingVal(job().tm, job().peer(), place(i), 4, 0), 1000u + i);
  spec::barrier();
}

SPEC_CASE(nbi, empty_region) {
  gex_NBI_BeginAccessRegion(0);
  const gex_Event_t region = gex_NBI_EndAccessRegion(0);
  CHECK(region != GEX_EVENT_NO_OP);
  gex_Event_Wait(region);
}

// Operations of a region belong to its event; those before and after it stay implicit; waiting
// for the implicit ones does not retire the region, and the other way round.
SPEC_CASE(nbi, region_and_outside) {
  const auto before = patterned(10), inside = patterned(11), after = patterned(12);
  std::vector<char> got_inside(kBytes);
  gex_RMA_PutBlocking(job().tm, job().peer(), place(9), before.data(), kBytes, 0);
  for (int order = 0; order < 2; ++order) {
    start_put(before, 0);
    gex_NBI_BeginAccessRegion(0);
    start_put(inside, 1);
    gex_RMA_GetNBI(job().tm, got_inside.data(), job().peer(), place(9), kBytes, 0);
    gex_RMA_PutNBIVal(job().tm, job().peer(), place(3), 77, 1, 0);
    const gex_Event_t region = gex_NBI_EndAccessRegion(0);
    start_put(after, 2);
    if (order == 0) {
      gex_Event_Wait(region);
      expect_at(1, inside);
      CHECK(got_inside == before);
      gex_NBI_Wait(GEX_EC_ALL, 0);
    } else {
      gex_NBI_Wait(GEX_EC_ALL, 0);
      expect_at(0, before);
      expect_at(2, after);
      gex_Event_Wait(region);
      expect_at(1, inside);
      CHECK(got_inside == before);
    }
    expect_at(0, before);
    expect_at(2, after);
    CHECK_EQ(gex_RMA_GetBlockingVal(job().tm, job().peer(), place(3), 1, 0), 77u);
  }
  spec::barrier();
}

// Explicit operations begun inside a region are not part of it and may be waited for inside.
SPEC_CASE(nbi, explicit_inside_region) {
  const auto implicit_data = patterned(13), explicit_data = patterned(14);
  gex_NBI_BeginAccessRegion(0);
  start_put(implicit_data, 0);
  const gex_Event_t mine = gex_RMA_PutNB(job().tm, job().peer(), place(1), explicit_data.data(),
                                         kBytes, GEX_EVENT_DEFER, 0);
  gex_Event_Wait(mine);
  expect_at(1, explicit_data);
  start_put(explicit_data, 2);
  const gex_Event_t region = gex_NBI_EndAccessRegion(0);
  while (gex_Event_Test(region) != 0) gasnet_AMPoll();
  expect_at(0, implicit_data);
  expect_at(2, explicit_data);
  spec::barrier();
}

// Several regions outstanding together, waited for in reverse.
SPEC_CASE(nbi, several_regions) {
  constexpr unsigned kRegions = 20;
  std::vector<std::vector<char>> sources;
  std::vector<gex_Event_t> regions;
  for (unsigned i = 0; i < kRegions; ++i) {
    sources.push_back(patterned(100 + i));
    gex_NBI_BeginAccessRegion(0);
    start_put(sources.back(), 2 * i);
    start_put(sources.back(), 2 * i + 1);
    regions.push_back(gex_NBI_EndAccessRegion(0));
  }
  for (unsigned i = kRegions; i-- > 0;) {
    gex_Event_Wait(regions[i]);
    expect_at(2 * i, sources[i]);
    expect_at(2 * i + 1, sources[i]);
  }
  spec::barrier();
}
