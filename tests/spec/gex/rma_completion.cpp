// Local completion of puts: NOW, DEFER, an event variable (NB) and GROUP (NBI).
#include <cstring>
#include <vector>

#include "../harness.h"

using spec::job;

namespace {

constexpr unsigned kCount = 32;
constexpr size_t kBytes = 20000;
std::byte* place(unsigned i) {
  const size_t share = (spec::segment_bytes() - (size_t{1} << 20)) / job().size;
  return spec::segment_of(job().peer(),
                          (size_t{1} << 20) + job().rank * share + i * (share / kCount));
}
size_t bytes_each() {
  return std::min(kBytes, (spec::segment_bytes() - (size_t{1} << 20)) / job().size / kCount);
}

void check_arrived(uint64_t seed) {
  std::vector<char> got(bytes_each());
  for (unsigned i = 0; i < kCount; ++i) {
    gex_RMA_GetBlocking(job().tm, got.data(), job().peer(), place(i), got.size(), 0);
    CHECK_PATTERN(got.data(), got.size(), seed + i);
  }
  spec::barrier();
}

}  // namespace

// The source may be overwritten as soon as the call returns.
SPEC_CASE(rma_completion, nb_now) {
  std::vector<char> source(bytes_each());
  std::vector<gex_Event_t> events(kCount);
  for (unsigned i = 0; i < kCount; ++i) {
    spec::fill(source.data(), source.size(), 10 + i);
    events[i] = gex_RMA_PutNB(job().tm, job().peer(), place(i), source.data(), source.size(),
                              GEX_EVENT_NOW, 0);
  }
  std::memset(source.data(), 0xEE, source.size());
  gex_Event_WaitAll(events.data(), kCount, 0);
  check_arrived(10);
}

SPEC_CASE(rma_completion, nbi_now) {
  std::vector<char> source(bytes_each());
  for (unsigned i = 0; i < kCount; ++i) {
    spec::fill(source.data(), source.size(), 20 + i);
    CHECK_EQ(gex_RMA_PutNBI(job().tm, job().peer(), place(i), source.data(), source.size(),
                            GEX_EVENT_NOW, 0),
             0);
  }
  std::memset(source.data(), 0xEE, source.size());
  gex_NBI_Wait(GEX_EC_PUT, 0);
  check_arrived(20);
}

// After the leaf the source is free, after the root the data is there; also leaf by test.
SPEC_CASE(rma_completion, nb_event) {
  std::vector<std::vector<char>> sources(kCount, std::vector<char>(bytes_each()));
  std::vector<gex_Event_t> roots(kCount), leaves(kCount, GEX_EVENT_NO_OP);
  for (unsigned i = 0; i < kCount; ++i) {
    spec::fill(sources[i].data(), bytes_each(), 30 + i);
    roots[i] = gex_RMA_PutNB(job().tm, job().peer(), place(i), sources[i].data(), bytes_each(),
                             &leaves[i], 0);
    CHECK(roots[i] != GEX_EVENT_NO_OP);
    CHECK(leaves[i] != GEX_EVENT_NO_OP);
  }
  for (unsigned i = 0; i < kCount; ++i) {
    if (i % 2 == 0)
      gex_Event_Wait(leaves[i]);
    else
      while (gex_Event_Test(leaves[i]) != 0) gasnet_AMPoll();
    std::memset(sources[i].data(), 0xEE, bytes_each());
  }
  for (unsigned i = kCount; i-- > 0;) gex_Event_Wait(roots[i]);
  check_arrived(30);
}

// Leaves may be left alone: the root retires them.
SPEC_CASE(rma_completion, nb_event_only_root) {
  std::vector<char> source(bytes_each());
  for (unsigned round = 0; round < 2000; ++round) {
    gex_Event_t leaf;
    if (round % 100 == 0) spec::fill(source.data(), source.size(), 40 + round);
    gex_Event_Wait(gex_RMA_PutNB(job().tm, job().peer(), place(0), source.data(),
                                 std::min(source.size(), size_t{512}), &leaf, 0));
  }
  spec::barrier();
}

SPEC_CASE(rma_completion, nb_defer) {
  std::vector<std::vector<char>> sources(kCount, std::vector<char>(bytes_each()));
  std::vector<gex_Event_t> roots(kCount);
  for (unsigned i = 0; i < kCount; ++i) {
    spec::fill(sources[i].data(), bytes_each(), 50 + i);
    roots[i] = gex_RMA_PutNB(job().tm, job().peer(), place(i), sources[i].data(), bytes_each(),
                             GEX_EVENT_DEFER, 0);
  }
  for (unsigned i = 0; i < kCount; ++i) {
    gex_Event_Wait(roots[i]);
    std::memset(sources[i].data(), 0xEE, bytes_each());
  }
  check_arrived(50);
}

// GROUP: the LC category frees the sources while the PUT category is still to be waited for.
SPEC_CASE(rma_completion, nbi_group) {
  for (bool by_test : {false, true}) {
    std::vector<std::vector<char>> sources(kCount, std::vector<char>(bytes_each()));
    for (unsigned i = 0; i < kCount; ++i) {
      spec::fill(sources[i].data(), bytes_each(), 60 + by_test + i);
      CHECK_EQ(gex_RMA_PutNBI(job().tm, job().peer(), place(i), sources[i].data(), bytes_each(),
                              GEX_EVENT_GROUP, 0),
               0);
    }
    if (by_test)
      while (gex_NBI_Test(GEX_EC_LC, 0) != 0) gasnet_AMPoll();
    else
      gex_NBI_Wait(GEX_EC_LC, 0);
    for (auto& source : sources) std::memset(source.data(), 0xEE, source.size());
    gex_NBI_Wait(GEX_EC_PUT, 0);
    check_arrived(60 + by_test);
  }
}

// A region's event covers local completion too; its LC leaf can be waited for before it.
SPEC_CASE(rma_completion, group_in_region) {
  std::vector<std::vector<char>> sources(kCount, std::vector<char>(bytes_each()));
  gex_NBI_BeginAccessRegion(0);
  for (unsigned i = 0; i < kCount; ++i) {
    spec::fill(sources[i].data(), bytes_each(), 70 + i);
    CHECK_EQ(gex_RMA_PutNBI(job().tm, job().peer(), place(i), sources[i].data(), bytes_each(),
                            GEX_EVENT_GROUP, 0),
             0);
  }
  const gex_Event_t region = gex_NBI_EndAccessRegion(0);
  const gex_Event_t leaf = gex_Event_QueryLeaf(region, GEX_EC_LC);
  gex_Event_Wait(leaf);
  for (auto& source : sources) std::memset(source.data(), 0xEE, source.size());
  gex_Event_Wait(region);
  check_arrived(70);
}
