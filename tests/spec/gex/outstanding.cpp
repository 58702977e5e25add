// 2^16 - 1 operations outstanding at once, synchronised in odd orders.
#include <numeric>
#include <vector>

#include "../harness.h"

using spec::job;

namespace {

constexpr unsigned kMany = (1u << 16) - 1 + 7;
// The slot of operation i of this rank in the segment of `rank`.
unsigned count() {
  return job().size <= 8 ? kMany : kMany / 16;
}
std::byte* slot(gex_Rank_t rank, unsigned i) {
  return spec::segment_of(
      rank, (size_t{1} << 20) + (size_t{job().rank} * count() + i) * sizeof(uint32_t));
}
uint32_t value(unsigned i) {
  return i * 2654435761u + job().rank;
}

void check_all(gex_Rank_t rank) {
  std::vector<uint32_t> got(count());
  gex_RMA_GetBlocking(job().tm, got.data(), rank, slot(rank, 0), got.size() * sizeof got[0], 0);
  for (unsigned i = 0; i < count(); ++i)
    if (!CHECK_EQ(got[i], value(i))) return;
}

std::vector<uint32_t> values() {
  std::vector<uint32_t> all(count());
  for (unsigned i = 0; i < count(); ++i) all[i] = value(i);
  return all;
}

void clear(gex_Rank_t rank) {
  const std::vector<uint32_t> zeros(count());
  gex_RMA_PutBlocking(job().tm, rank, slot(rank, 0), zeros.data(), zeros.size() * sizeof zeros[0],
                      0);
}

}  // namespace

// Would catch an event pool that ends before the promised number, or that waits for itself.
SPEC_CASE(outstanding, nb_puts_backwards) {
  const gex_Rank_t rank = job().peer();
  clear(rank);
  const auto source = values();
  std::vector<gex_Event_t> events(count());
  for (unsigned i = 0; i < count(); ++i)
    events[i] = gex_RMA_PutNB(job().tm, rank, slot(rank, i), &source[i], sizeof source[i],
                              GEX_EVENT_DEFER, 0);
  for (unsigned i = count(); i-- > 0;) gex_Event_Wait(events[i]);
  check_all(rank);
  spec::barrier();
}

SPEC_CASE(outstanding, nb_puts_with_leaves_interleaved) {
  const gex_Rank_t rank = job().peer();
  clear(rank);
  const auto source = values();
  std::vector<gex_Event_t> roots(count()), leaves(count());
  for (unsigned i = 0; i < count(); ++i)
    roots[i] =
        gex_RMA_PutNB(job().tm, rank, slot(rank, i), &source[i], sizeof source[i], &leaves[i], 0);
  // Even leaves first, then roots in strides.
  for (unsigned i = 0; i < count(); i += 2) gex_Event_Wait(leaves[i]);
  for (unsigned start = 0; start < 7; ++start)
    for (unsigned i = start; i < count(); i += 7) gex_Event_Wait(roots[i]);
  check_all(rank);
  spec::barrier();
}

SPEC_CASE(outstanding, nb_gets_by_some) {
  const gex_Rank_t rank = job().peer();
  const auto source = values();
  gex_RMA_PutBlocking(job().tm, rank, slot(rank, 0), source.data(),
                      source.size() * sizeof source[0], 0);
  std::vector<uint32_t> got(count());
  std::vector<gex_Event_t> events(count());
  for (unsigned i = 0; i < count(); ++i)
    events[i] = gex_RMA_GetNB(job().tm, &got[i], rank, slot(rank, i), sizeof got[i], 0);
  // Blocks from the end: each until nothing in it is left.
  constexpr unsigned kBlock = 1000;
  for (unsigned end = count(); end > 0;) {
    const unsigned begin = end > kBlock ? end - kBlock : 0;
    for (unsigned left = 1; left > 0;) {
      gex_Event_WaitSome(&events[begin], end - begin, 0);
      left = 0;
      for (unsigned i = begin; i < end; ++i) left += events[i] != GEX_EVENT_INVALID;
    }
    end = begin;
  }
  CHECK(got == source);
  spec::barrier();
}

SPEC_CASE(outstanding, nb_gets_by_all) {
  const gex_Rank_t rank = job().peer();
  const auto source = values();
  gex_RMA_PutBlocking(job().tm, rank, slot(rank, 0), source.data(),
                      source.size() * sizeof source[0], 0);
  std::vector<uint32_t> got(count());
  std::vector<gex_Event_t> events(count());
  for (unsigned i = 0; i < count(); ++i)
    events[i] = gex_RMA_GetNB(job().tm, &got[i], rank, slot(rank, i), sizeof got[i], 0);
  while (gex_Event_TestAll(events.data(), events.size(), 0) != 0) gasnet_AMPoll();
  for (const gex_Event_t event : events)
    if (!CHECK(event == GEX_EVENT_INVALID)) break;
  CHECK(got == source);
  spec::barrier();
}

SPEC_CASE(outstanding, nbi) {
  const gex_Rank_t rank = job().peer();
  clear(rank);
  const auto source = values();
  for (unsigned i = 0; i < count(); ++i)
    gex_RMA_PutNBI(job().tm, rank, slot(rank, i), &source[i], sizeof source[i],
                   i % 2 ? GEX_EVENT_DEFER : GEX_EVENT_GROUP, 0);
  gex_NBI_Wait(GEX_EC_PUT | GEX_EC_LC, 0);
  std::vector<uint32_t> got(count());
  for (unsigned i = 0; i < count(); ++i)
    gex_RMA_GetNBI(job().tm, &got[i], rank, slot(rank, i), sizeof got[i], 0);
  gex_NBI_Wait(GEX_EC_ALL, 0);
  CHECK(got == source);
  spec::barrier();
}

// A region may hold as many, while explicit operations are outstanding beside it.
SPEC_CASE(outstanding, region) {
  const gex_Rank_t rank = job().peer();
  clear(rank);
  const auto source = values();
  std::vector<gex_Event_t> events;
  gex_NBI_BeginAccessRegion(0);
  for (unsigned i = 0; i < count(); ++i)
    if (i % 4 == 3)
      events.push_back(gex_RMA_PutNB(job().tm, rank, slot(rank, i), &source[i], sizeof source[i],
                                     GEX_EVENT_DEFER, 0));
    else
      gex_RMA_PutNBI(job().tm, rank, slot(rank, i), &source[i], sizeof source[i], GEX_EVENT_DEFER,
                     0);
  const gex_Event_t region = gex_NBI_EndAccessRegion(0);
  gex_Event_WaitAll(events.data(), events.size(), 0);
  gex_Event_Wait(region);
  check_all(rank);
  spec::barrier();
}

// Local completion of many messages may be left for later as well.
SPEC_CASE(outstanding, many_rounds_reuse) {
  // Would catch events that are not recycled: memory use would grow with every round.
  const gex_Rank_t rank = job().peer();
  const auto source = values();
  std::vector<gex_Event_t> events(512);
  for (unsigned round = 0; round < spec::scaled(400, 10); ++round) {
    for (unsigned i = 0; i < events.size(); ++i)
      events[i] = gex_RMA_PutNB(job().tm, rank, slot(rank, i), &source[i], sizeof source[i],
                                GEX_EVENT_DEFER, 0);
    if (round % 2)
      gex_Event_WaitAll(events.data(), events.size(), 0);
    else
      for (unsigned i = 0; i < events.size(); ++i) gex_Event_Wait(events[(i * 37) % events.size()]);
  }
  spec::barrier();
}
